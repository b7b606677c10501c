//! Children that behave and children that do not; small system programs stand in for the generator.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

fn shell(script: &str, limit: Duration) -> (Result<Vec<u8>, Error>, Vec<Edge>) {
    let edges = Mutex::new(Vec::new());
    let mut shell = Command::new("/bin/sh");
    let result = run(shell.args(["-c", script]), "task", limit, |edge, _| {
        edges.lock().unwrap().push(edge);
    });
    (result, edges.into_inner().unwrap())
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn output_and_both_edges_are_seen() {
    let script = "read task; echo ready >&2; read start; echo \"$task\"; echo done >&2";
    let (result, edges) = shell(script, LONG);
    assert_eq!(result.unwrap(), b"task\n");
    assert_eq!(edges, [Edge::Start, Edge::End]);
}

#[test]
fn the_start_is_given_after_the_counters_are_read() {
    let read = std::sync::atomic::AtomicBool::new(false);
    let file = tempfile::NamedTempFile::new().unwrap();
    let script = "read task; echo ready >&2; read start; cat \"$1\"";
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "sh"]).arg(file.path());
    let result = run(&mut shell, "task", LONG, |_, _| {
        std::thread::sleep(Duration::from_millis(50));
        std::fs::write(file.path(), "read").unwrap();
        read.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(result.unwrap(), b"read");
    assert!(read.into_inner());
}

#[test]
fn only_whole_lines_are_edges_and_only_in_their_order() {
    let mut edges = Edges::default();
    let mut seen = Vec::new();
    edges.feed(b"x ready\ndone\nready or not\nread", |edge| {
        seen.push(edge);
    });
    assert_eq!(seen, []);
    edges.feed(b"y\n", |edge| seen.push(edge));
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
fn a_crash_is_reported_with_the_last_output() {
    let message = shell("echo one >&2; echo two >&2; exit 3", LONG)
        .0
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "the load generator ended with exit status: 3; its last output: one | two"
    );
    let message = shell("kill -9 $$", LONG).0.unwrap_err().to_string();
    assert!(message.contains("signal: 9"), "{message}");
}

#[test]
fn a_missing_program_is_reported() {
    let result = run(
        &mut Command::new("/nowhere/generator"),
        "task",
        LONG,
        |_, _| {},
    );
    assert!(matches!(result, Err(Error::Start(_))));
}

#[test]
fn endless_output_does_not_fill_the_memory() {
    let (result, _) = shell(
        "yes 'an error happened' | head -c 20000000 >&2; exit 1",
        LONG,
    );
    assert!(result.unwrap_err().to_string().len() < 500);
}

proptest! {
    #[test]
    fn edges_are_found_however_the_stream_is_split(
        noise in "[a-c \n]{0,40}", middle in "[a-c \n]{0,40}", piece in 1usize..30,
    ) {
        // The noise holds neither word.
        let text = format!("{noise}\nready\n{middle}\ndone\n");
        let mut edges = Edges::default();
        let mut seen = Vec::new();
        for part in text.as_bytes().chunks(piece) {
            edges.feed(part, |edge| seen.push(edge));
        }
        prop_assert_eq!(seen, [Edge::Start, Edge::End]);
    }
}
