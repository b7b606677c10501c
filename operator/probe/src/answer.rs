//! Is it the right answer? A response and an expectation in, a judgement out. Pure.

use wasmbench_api::run::Expectation;
use wasmbench_model::digest::sha256;
use wasmbench_model::wire::document::Answer;

use crate::http::Response;

/// Length of an excerpt, in characters.
const EXCERPT: usize = 64;

/// An answer and what is wrong with it, if anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The answer as received.
    pub answer: Answer,
    /// A message on what was expected and what came instead.
    pub wrong: Option<String>,
}

/// Compares an answer with what is expected of it.
pub fn judge(response: &Response, expect: &Expectation, variant_prefix: &str) -> Judged {
    let stripped = response.body.strip_prefix(variant_prefix.as_bytes());
    let body = stripped.unwrap_or(&response.body);
    let answer = Answer {
        status: response.status,
        body_bytes: response.body.len() as u64,
        body_sha256: sha256(body),
        excerpt: excerpt(body),
    };
    let expected = if response.status != expect.status {
        Some(format!("status {}", expect.status))
    } else if stripped.is_none() {
        Some(format!(
            "a body that begins with the variant's prefix {}",
            quoted(variant_prefix)
        ))
    } else {
        wrong_body(body, expect)
    };
    let wrong = expected.map(|expected| {
        format!(
            "expected {expected}, but the answer was status {} with a body of {} bytes: {}",
            answer.status,
            answer.body_bytes,
            quoted(&answer.excerpt),
        )
    });
    Judged { answer, wrong }
}

/// What is expected of the body; `None` if the body meets it.
fn wrong_body(body: &[u8], expect: &Expectation) -> Option<String> {
    let Expectation {
        body: whole,
        body_prefix,
        body_suffix,
        ..
    } = expect;
    if let Some(whole) = whole.as_deref().filter(|whole| body != whole.as_bytes()) {
        return Some(format!("the body {}", quoted(whole)));
    }
    if let Some(prefix) = body_prefix
        .as_deref()
        .filter(|p| !body.starts_with(p.as_bytes()))
    {
        return Some(format!("a body that begins with {}", quoted(prefix)));
    }
    if let Some(suffix) = body_suffix
        .as_deref()
        .filter(|s| !body.ends_with(s.as_bytes()))
    {
        return Some(format!("a body that ends with {}", quoted(suffix)));
    }
    None
}

/// The beginning of a text in quotes, with control characters replaced.
fn quoted(text: &str) -> String {
    let truncated = excerpt(text.as_bytes());
    let more = if text.chars().count() > EXCERPT {
        "..."
    } else {
        ""
    };
    format!("'{truncated}'{more}")
}

fn excerpt(body: &[u8]) -> String {
    // A character has at most four bytes; the rest need not be looked at.
    let head = &body[..body.len().min(4 * EXCERPT)];
    let visible = |c: char| {
        if c.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    String::from_utf8_lossy(head)
        .chars()
        .take(EXCERPT)
        .map(visible)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn response(status: u16, body: &[u8]) -> Response {
        Response {
            status,
            body: body.to_vec(),
        }
    }

    fn wrong(body: &str, expect: &Expectation, prefix: &str) -> String {
        judge(&response(200, body.as_bytes()), expect, prefix)
            .wrong
            .unwrap_or_default()
    }

    fn body(text: &str) -> Expectation {
        Expectation {
            body: Some(text.to_owned()),
            ..Expectation::default()
        }
    }

    #[test]
    fn the_whole_body_is_compared() {
        assert_eq!(wrong("hello", &body("hello"), ""), "");
        let message = wrong("hellooo", &body("hello"), "");
        assert_eq!(
            message,
            "expected the body 'hello', but the answer was status 200 with a body of 7 bytes: 'hellooo'"
        );
    }

    #[test]
    fn prefix_and_suffix_are_both_needed() {
        let expect = Expectation {
            body_prefix: Some("a".into()),
            body_suffix: Some("z".into()),
            ..Expectation::default()
        };
        assert_eq!(wrong("a-z", &expect, ""), "");
        assert!(wrong("b-z", &expect, "").contains("begins with 'a'"));
        assert!(wrong("a-y", &expect, "").contains("ends with 'z'"));
    }

    #[test]
    fn the_variants_prefix_is_taken_off_and_must_be_there() {
        assert_eq!(wrong("wasm:hello", &body("hello"), "wasm:"), "");
        assert!(wrong("hello", &body("hello"), "wasm:").contains("the variant's prefix 'wasm:'"));
        let with = judge(&response(200, b"wasm:hello"), &body("hello"), "wasm:").answer;
        let without = judge(&response(200, b"hello"), &body("hello"), "").answer;
        assert_eq!(with.body_sha256, without.body_sha256);
        assert_eq!((with.body_bytes, with.excerpt.as_str()), (10, "hello"));
    }

    #[test]
    fn another_status_is_wrong_whatever_the_body() {
        let judged = judge(&response(503, b"hello"), &body("hello"), "");
        assert!(
            judged
                .wrong
                .unwrap()
                .starts_with("expected status 200, but the answer was status 503")
        );
        let expect = Expectation {
            status: 404,
            ..Expectation::default()
        };
        assert_eq!(judge(&response(404, b"?"), &expect, "").wrong, None);
    }

    #[test]
    fn the_digest_is_sha256_in_hex() {
        let answer = judge(&response(200, b"abc"), &Expectation::default(), "").answer;
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(answer.body_sha256, expected);
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short_and_printable(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            let text = excerpt(&bytes);
            prop_assert!(text.chars().count() <= EXCERPT);
            prop_assert!(!text.chars().any(char::is_control));
        }
    }
}
