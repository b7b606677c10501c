//! A function that is a program of this machine.

#![expect(clippy::unwrap_used, reason = "a test")]

use action_suite::Process;

const PROGRAM: &str = env!("CARGO_BIN_EXE_action-native");

/// A program that every machine has: it prints what it reads, which is the object of parameters.
fn cat() -> Vec<u8> {
    std::fs::read("/bin/cat").unwrap()
}

#[test]
fn a_program_is_started_for_each_call_and_kept_once() {
    let process = Process::start(PROGRAM, &[]);
    assert_eq!(process.run("").0, 404);
    assert_eq!(process.init("", &cat()).0, 200);
    assert_eq!(process.init("", &cat()).0, 403);
    let parameters = br#"{"value": {"work": "hash"}}"#;
    for _ in 0..3 {
        let answer = process.post("/run", parameters);
        assert_eq!(answer, (200, r#"{"work":"hash"}"#.to_owned()));
    }
    // A container has only one function.
    assert_eq!(process.init("/other", &cat()).0, 404);
    assert_eq!(process.end(), 3);
}

#[test]
fn code_that_is_not_a_program_is_refused() {
    let process = Process::start(PROGRAM, &[]);
    let (status, body) = process.init("", b"\0asm\x01\0\0\0");
    assert_eq!((status, body.contains("ELF")), (400, true), "{body}");
}

#[test]
fn a_program_that_never_ends_is_stopped() {
    let process = Process::start(PROGRAM, &[("WASMBENCH_ACTION_TIMEOUT_SECONDS", "1")]);
    // Without arguments, it prints its one word forever.
    let yes = std::fs::read("/usr/bin/yes").unwrap();
    assert_eq!(process.init("", &yes).0, 200);
    // The second parameters are longer than a pipe holds, and the program reads nothing.
    let much = format!(r#"{{"value":{{"a":"{}"}}}}"#, "x".repeat(300_000));
    for parameters in [r#"{"value":{}}"#, &much] {
        let (status, body) = process.post("/run", parameters.as_bytes());
        assert_eq!(
            (status, body.contains("4 MiB") || body.contains("stopped")),
            (502, true),
            "{body}"
        );
    }
}
