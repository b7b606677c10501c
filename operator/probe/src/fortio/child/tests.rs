//! Children that behave and children that do not; small system programs stand in for fortio.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

fn shell(script: &str, limit: Duration) -> (Result<Vec<u8>, Error>, Vec<Edge>) {
    let edges = Mutex::new(Vec::new());
    let arguments = ["-c".to_owned(), script.to_owned()];
    let result = run(Path::new("/bin/sh"), &arguments, limit, |edge, _| {
        edges.lock().unwrap().push(edge);
    });
    (result, edges.into_inner().unwrap())
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn output_and_both_edges_are_seen() {
    let script = "echo Fortio >&2; printf 'Starting at max qps ' >&2; echo for 1s >&2; \
                  echo '{}'; echo 'Ended after 1s' >&2";
    let (result, edges) = shell(script, LONG);
    assert_eq!(result.unwrap(), b"{}\n");
    assert_eq!(edges, [Edge::Start, Edge::End]);
}

#[test]
fn the_start_is_seen_before_its_line_is_complete() {
    let mut edges = Edges::default();
    let mut seen = Vec::new();
    edges.feed(b"Starting at max qps with 1 thread(s)", |edge| {
        seen.push(edge);
    });
    assert_eq!(seen, [Edge::Start]);
}

#[test]
fn the_end_of_an_earlier_line_is_not_taken_for_a_beginning() {
    let mut edges = Edges::default();
    let mut seen = Vec::new();
    edges.feed(b"x Starting at \nEnded after \nStarting", |edge| {
        seen.push(edge);
    });
    edges.feed(b" at x\n", |edge| seen.push(edge));
    assert_eq!(seen, [Edge::Start]);
}

#[test]
fn a_child_that_does_not_end_is_stopped_and_reaped() {
    let began = Instant::now();
    // Enough time for the first output on any machine.
    let limit = Duration::from_secs(2);
    let (result, _) = shell("echo waiting >&2; exec sleep 60", limit);
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("did not end within 2 s") && message.ends_with("waiting"),
        "{message}"
    );
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_child_that_closes_its_pipes_and_stays_is_stopped_too() {
    let script = "exec 1>&- 2>&-; exec sleep 60";
    assert!(matches!(
        shell(script, Duration::from_millis(300)).0,
        Err(Error::Late { .. })
    ));
}

#[test]
fn a_crash_is_told_with_the_last_words() {
    let message = shell("echo one >&2; echo two >&2; exit 3", LONG)
        .0
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "fortio ended with exit status: 3; it last said: one | two"
    );
    let message = shell("kill -9 $$", LONG).0.unwrap_err().to_string();
    assert!(message.contains("signal: 9"), "{message}");
}

#[test]
fn a_missing_program_is_told() {
    let result = run(Path::new("/nowhere/fortio"), &[], LONG, |_, _| {});
    assert!(matches!(result, Err(Error::Start(_))));
}

#[test]
fn endless_talk_does_not_fill_the_memory() {
    let (result, _) = shell(
        "yes 'an error happened' | head -c 20000000 >&2; exit 1",
        LONG,
    );
    assert!(result.unwrap_err().to_string().len() < 500);
}

proptest! {
    #[test]
    fn edges_are_found_however_the_stream_is_cut(
        noise in "[a-z \n]{0,40}", middle in "[a-z \n]{0,40}", piece in 1usize..30,
    ) {
        let text = format!("{noise}\nStarting at max\n{middle}\nEnded after 1s\n");
        let mut edges = Edges::default();
        let mut seen = Vec::new();
        for part in text.as_bytes().chunks(piece) {
            edges.feed(part, |edge| seen.push(edge));
        }
        prop_assert_eq!(seen, [Edge::Start, Edge::End]);
    }
}
