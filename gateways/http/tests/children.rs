//! Answers that a child process makes: what the child does well, and what it does badly.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod common;

use common::{Client, start_with};
use gateway_http::{ChildCommand, Config, Failed, Transform, Workloads};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Leaves the work to a shell command.
struct InChild(ChildCommand);

impl Transform for InChild {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Err(Failed("this is a child's work".to_owned()))
    }

    fn child(&self) -> Option<ChildCommand> {
        Some(self.0.clone())
    }

    fn describe(&self) -> String {
        "{}".to_owned()
    }
}

const SECONDS: Duration = Duration::from_secs(20);

fn gateway(script: &str, at_once: usize, timeout: Duration) -> SocketAddr {
    let child = ChildCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        at_once,
        timeout,
    };
    start_with(Config::default(), Workloads::new(InChild(child)))
}

fn asked(script: &str, target: &str) -> (u16, String) {
    let answer = Client::connect(gateway(script, 2, SECONDS)).get(target);
    (answer.status, answer.body)
}

/// Living processes with this word in their command line.
fn children_with(word: &str) -> usize {
    let has_word = |entry: std::io::Result<std::fs::DirEntry>| {
        let line = std::fs::read(entry.unwrap().path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&line).contains(word).then_some(())
    };
    let all = std::fs::read_dir("/proc").unwrap();
    all.filter_map(has_word).count()
}

#[test]
fn the_body_goes_in_and_the_answer_comes_out() {
    let script = "printf wasm:; exec cat";
    assert_eq!(asked(script, "/"), (200, "wasm:hello".to_owned()));
    assert_eq!(asked(script, "/heavy?n=10"), (200, "wasm:55".to_owned()));
    assert_eq!(asked(script, "/health"), (200, "ok".to_owned()));
    let json = Client::connect(gateway("exec cat", 2, SECONDS)).get("/json?orders=3");
    assert!(json.head.contains("application/json"), "{}", json.head);
}

#[test]
fn bodies_longer_than_a_pipe_go_through_in_both_directions() {
    let mut client = Client::connect(gateway("exec cat", 2, SECONDS));
    let body = "x".repeat(1_000_000);
    let head = format!(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let answer = client.send(head).send(&body).answer();
    assert_eq!((answer.status, answer.body.len()), (200, body.len()));
}

#[test]
fn a_child_that_reads_nothing_may_answer() {
    assert_eq!(asked("printf quick", "/"), (200, "quick".to_owned()));
}

#[test]
fn what_a_child_does_wrong_is_told() {
    for (script, told) in [
        (
            "echo ' no  module' >&2; exit 3",
            "exit status: 3; it said: no module",
        ),
        ("kill -9 $$", "signal: 9 (SIGKILL)"),
        ("exit 1", "exit status: 1"),
    ] {
        let (status, body) = asked(script, "/");
        assert_eq!(
            (status, body),
            (500, format!("the child process failed: {told}"))
        );
    }
    let child = ChildCommand {
        program: "/nowhere".into(),
        arguments: vec![],
        at_once: 1,
        timeout: SECONDS,
    };
    let address = start_with(Config::default(), Workloads::new(InChild(child)));
    let answer = Client::connect(address).get("/");
    assert_eq!(answer.status, 500);
    assert!(
        answer.body.contains("could not be started"),
        "{}",
        answer.body
    );
}

#[test]
fn a_child_that_talks_without_end_on_standard_error_is_heard_to_its_end() {
    let script = "head -c 300000 /dev/zero | tr '\\0' e >&2; exec cat";
    assert_eq!(asked(script, "/"), (200, "hello".to_owned()));
}

#[test]
fn a_child_that_hangs_is_killed_and_answered_504() {
    let address = gateway("exec sleep 1234.5", 1, Duration::from_millis(300));
    let began = Instant::now();
    let mut waiting = Client::connect(address);
    waiting.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    // The second waits for the place of the first, and no longer than its own time.
    let answer = Client::connect(address).get("/");
    assert_eq!((answer.status, waiting.answer().status), (504, 504));
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(Client::connect(address).get("/health").status, 200);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(children_with("1234.5"), 0);
}

#[test]
fn the_child_of_a_client_that_resets_its_connection_is_killed() {
    let address = gateway("exec sleep 2345.6", 4, SECONDS);
    let mut client = Client::connect(address);
    // An answer that nobody has read makes the kernel reset the connection when it is closed. A client that
    // only ends its sending may still read, and keeps its child.
    client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let until = |count| {
        let began = Instant::now();
        while children_with("2345.6") != count {
            assert!(began.elapsed() < SECONDS, "not {count} children");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until(1);
    drop(client);
    until(0);
}

#[test]
fn so_many_run_at_once_and_no_more() {
    for (at_once, least, most) in [(4, 0.2, 0.75), (1, 0.8, 10.0)] {
        let address = gateway("sleep 0.2; exec cat", at_once, SECONDS);
        let began = Instant::now();
        let mut clients: Vec<Client> = (0..4).map(|_| Client::connect(address)).collect();
        for client in &mut clients {
            client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        for client in &mut clients {
            assert_eq!(client.answer().body, "hello");
        }
        let took = began.elapsed().as_secs_f64();
        assert!((least..most).contains(&took), "{at_once} at once: {took} s");
    }
}

#[test]
fn others_are_answered_while_a_child_works() {
    let address = gateway("sleep 1; exec cat", 1, SECONDS);
    let mut slow = Client::connect(address);
    slow.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let began = Instant::now();
    assert_eq!(Client::connect(address).get("/health").body, "ok");
    assert!(began.elapsed() < Duration::from_millis(700));
    assert_eq!(slow.answer().body, "hello");
}

#[test]
fn an_answer_that_waits_goes_through_a_child_and_still_waits() {
    let mut client = Client::connect(gateway("exec cat", 2, SECONDS));
    let began = Instant::now();
    assert_eq!(client.get("/sleep?ms=300").body, "slept");
    assert!(began.elapsed() >= Duration::from_millis(300));
}
