//! Responses that a child process makes: what the child does well, and what it does badly.

#![cfg(target_os = "linux")]

use crate::common::{Client, start_with};
use gateway_http::{ChildCommand, Config, Failed, Transform, Workloads};
use std::net::SocketAddr;
use std::path::PathBuf;
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

/// Longer than anything here takes on a busy machine.
const SECONDS: Duration = Duration::from_mins(1);

fn gateway(script: &str, at_once: usize, timeout: Duration) -> SocketAddr {
    let child = ChildCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        at_once,
        timeout,
    };
    start_with(Config::default(), Workloads::new(InChild(child)))
}

fn answer_to(script: &str, target: &str) -> (u16, String) {
    let answer = Client::connect(gateway(script, 2, SECONDS)).get(target);
    (answer.status, answer.body)
}

/// Counts living children of this process with this word in their command line: those of another
/// run of the same test do not count.
fn children_with(word: &str) -> usize {
    let id = std::process::id().to_string();
    let is_meant = |entry: std::io::Result<std::fs::DirEntry>| {
        let process = entry.unwrap().path();
        let stat = std::fs::read_to_string(process.join("stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
        let line = std::fs::read(process.join("cmdline")).ok()?;
        let has_word = String::from_utf8_lossy(&line).contains(word);
        (parent == id && has_word).then_some(())
    };
    let all = std::fs::read_dir("/proc").unwrap();
    all.filter_map(is_meant).count()
}

/// Waits for something to happen, but not forever.
fn wait_until(expected: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < SECONDS, "not {expected}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A folder for files through which a test and its children wait for each other.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("wasmbench-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    /// Returns a script for a child that creates the file `mark`, and echoes its input once
    /// `condition` holds in this folder. It does not outlive a failed test.
    fn script(&self, mark: &str, condition: &str) -> String {
        format!(
            "cd '{}' && : > {mark}; i=0; until {condition}; do \
             i=$((i+1)); [ $i -lt 3000 ] || exit 1; sleep 0.02; done; exec cat",
            self.0.display()
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_body_goes_in_and_the_answer_comes_out() {
    let script = "printf wasm:; exec cat";
    assert_eq!(answer_to(script, "/"), (200, "wasm:hello".to_owned()));
    assert_eq!(
        answer_to(script, "/heavy?n=10"),
        (200, "wasm:55".to_owned())
    );
    assert_eq!(answer_to(script, "/health"), (200, "ok".to_owned()));
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
    assert_eq!(answer_to("printf quick", "/"), (200, "quick".to_owned()));
}

#[test]
fn the_failure_of_a_child_is_reported() {
    for (script, cause) in [
        (
            "echo ' no  module' >&2; exit 3",
            "exit status: 3; its message: no module",
        ),
        ("kill -9 $$", "signal: 9 (SIGKILL)"),
        ("exit 1", "exit status: 1"),
    ] {
        let (status, body) = answer_to(script, "/");
        assert_eq!(
            (status, body),
            (500, format!("the child process failed: {cause}"))
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
fn long_standard_error_of_a_child_is_read_to_its_end() {
    let script = "head -c 300000 /dev/zero | tr '\\0' e >&2; exec cat";
    assert_eq!(answer_to(script, "/"), (200, "hello".to_owned()));
}

#[test]
fn a_child_that_hangs_is_killed_and_answered_504() {
    let address = gateway("exec sleep 1234.5", 1, Duration::from_millis(300));
    let began = Instant::now();
    let mut waiting = Client::connect(address);
    waiting.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    // The second request waits for the place of the first, but no longer than its own timeout.
    let answer = Client::connect(address).get("/");
    assert_eq!((answer.status, waiting.answer().status), (504, 504));
    assert!(began.elapsed() < SECONDS);
    assert_eq!(Client::connect(address).get("/health").status, 200);
    wait_until("killed", || children_with("1234.5") == 0);
}

#[test]
fn the_child_of_a_client_that_resets_its_connection_is_killed() {
    // The child's timeout is longer than the test waits for its end.
    let address = gateway("exec sleep 2345.6", 4, 3 * SECONDS);
    let mut client = Client::connect(address);
    // An unread response makes the kernel reset the connection when it is closed. A client that
    // only stops sending may still read, and keeps its child.
    client.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_until("one child", || children_with("2345.6") == 1);
    drop(client);
    wait_until("killed", || children_with("2345.6") == 0);
}

/// Sends four requests at once.
fn ask_four_times(script: &str, at_once: usize) {
    let address = gateway(script, at_once, SECONDS);
    let mut clients: Vec<Client> = (0..4).map(|_| Client::connect(address)).collect();
    for client in &mut clients {
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for client in &mut clients {
        assert_eq!(client.answer().body, "hello");
    }
}

#[test]
fn no_more_children_run_at_once_than_allowed() {
    // Each child ends only after all four have begun: `$$` is its process id.
    let folder = Folder::new("at-once");
    ask_four_times(&folder.script("$$", "set -- *; [ $# -ge 4 ]"), 4);

    let began = Instant::now();
    ask_four_times("sleep 0.2; exec cat", 1);
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(800), "{took:?}");
}

#[test]
fn others_are_answered_while_a_child_works() {
    let folder = Folder::new("others");
    let (begun, go) = (folder.0.join("begun"), folder.0.join("go"));
    let address = gateway(&folder.script("begun", "[ -e go ]"), 1, SECONDS);
    let mut slow = Client::connect(address);
    slow.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_until("begun", || begun.exists());
    assert_eq!(Client::connect(address).get("/health").body, "ok");
    // Only now may it end.
    std::fs::write(go, "").unwrap();
    assert_eq!(slow.answer().body, "hello");
}

#[test]
fn an_answer_that_waits_goes_through_a_child_and_still_waits() {
    let mut client = Client::connect(gateway("exec cat", 2, SECONDS));
    let began = Instant::now();
    assert_eq!(client.get("/sleep?ms=300").body, "slept");
    assert!(began.elapsed() >= Duration::from_millis(300));
}
