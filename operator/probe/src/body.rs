//! The body of a request: where it comes from in, its bytes out, once per trial.

use std::path::Path;
use std::sync::Arc;

use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::sent::{Sent, SentBody};

/// What a generated body is made of: no service takes offence at it, and it hardly compresses.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The body of a request, which may be a file of this folder; `None` if it has none.
pub fn bytes(sent: &Sent, folder: &Path) -> Result<Option<Arc<[u8]>>, Failure> {
    let Some(body) = &sent.body else {
        return Ok(None);
    };
    Ok(Some(match body {
        SentBody::Text(text) => text.as_bytes().into(),
        SentBody::Generated { bytes, seed } => generated(*bytes, *seed).into(),
        SentBody::File(name) => read(&folder.join(name))?.into(),
    }))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let message = format!("the probe has no body {}: {error}", file.display());
        Failure::new(FailureReason::BadRequest, message)
    })
}

/// As many letters, digits, dashes and underscores, which follow from the seed alone.
fn generated(bytes: u32, seed: i64) -> Vec<u8> {
    let mut state = seed.cast_unsigned();
    let letters = (0..bytes).map(|_| {
        let [first, ..] = next(&mut state).to_le_bytes();
        LETTERS[usize::from(first % 64)]
    });
    letters.collect()
}

/// The next number of SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_body_follows_from_the_seed_and_is_printable() {
        let one = generated(4096, 7);
        assert_eq!((one.len(), &one), (4096, &generated(4096, 7)));
        assert_ne!(one, generated(4096, 8));
        assert_eq!(one[..100], generated(100, 7), "a longer one begins alike");
        assert!(one.iter().all(u8::is_ascii_graphic));
        assert!(LETTERS.iter().all(|letter| one.contains(letter)));
    }

    #[test]
    fn a_text_is_sent_as_it_stands_and_a_file_byte_by_byte() {
        let folder = tempfile::tempdir().unwrap();
        let content = [0, 255, b'\n'];
        std::fs::write(folder.path().join("order"), content).unwrap();
        let body = |body| {
            let sent = Sent {
                body,
                ..Sent::get("/")
            };
            bytes(&sent, folder.path())
        };
        assert_eq!(body(None), Ok(None));
        let text = body(Some(SentBody::Text("{\u{e9}}".into()))).unwrap();
        assert_eq!(text.as_deref(), Some("{\u{e9}}".as_bytes()));
        let file = body(Some(SentBody::File("order".into()))).unwrap();
        assert_eq!(file.as_deref(), Some(&content[..]));
        let none = body(Some(SentBody::File("other".into()))).unwrap_err();
        assert!(none.message.contains("other"), "{none:?}");
    }
}
