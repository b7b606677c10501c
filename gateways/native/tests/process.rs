//! The process as a container runtime sees it: one line, signals, exit codes, descriptors.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_gateway-native");

struct Gateway {
    child: Child,
    line: String,
}

impl Gateway {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self { child, line }
    }

    fn listening() -> Self {
        Self::start(Command::new(BINARY).args(["--listen", "127.0.0.1:0"]))
    }

    fn address(&self) -> &str {
        self.line.trim_end().rsplit(' ').next().unwrap()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        stream
    }

    fn get(&self, target: &str) -> String {
        let mut stream = self.connect();
        let head = format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", name, &id])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Returns the exit code, and how long the process continued to run.
    fn end(&mut self) -> (Option<i32>, Duration) {
        let begin = Instant::now();
        (self.child.wait().unwrap().code(), begin.elapsed())
    }

    /// CPU time used so far, in clock ticks.
    fn processor_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn output(arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).output().unwrap()
}

#[test]
fn exactly_one_line_reports_where_it_listens() {
    let mut gateway = Gateway::listening();
    assert!(
        gateway
            .line
            .starts_with("wasmbench: native listening on 127.0.0.1:")
    );
    assert!(gateway.get("/").ends_with("\r\n\r\nhello"));
    gateway.signal("TERM");
    let mut rest = String::new();
    gateway
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut rest)
        .unwrap();
    assert_eq!(rest, "");
}

/// Gives gateways this work and ends each with a signal, until one has ended at once. A stall of
/// the machine delays one of the ends, or a few; what the gateway does before it ends delays each.
fn ends_at_once<T>(signal: &str, work: impl Fn(&Gateway) -> T) {
    let end = |_| {
        let mut gateway = Gateway::listening();
        let _kept = work(&gateway);
        gateway.signal(signal);
        let (code, time) = gateway.end();
        assert_eq!(code, Some(0));
        time
    };
    let is_short = |time: Duration| time < Duration::from_millis(500);
    assert!((0..10).map(end).any(is_short), "ten ends took longer");
}

#[test]
fn a_signal_ends_it_at_once_with_code_zero() {
    for signal in ["TERM", "INT"] {
        ends_at_once(signal, |_| ());
    }
}

#[test]
fn even_a_long_computation_does_not_delay_the_end() {
    ends_at_once("TERM", |gateway| {
        let mut stream = gateway.connect();
        for _ in 0..20 {
            stream
                .write_all(b"GET /compute?iters=5000000 HTTP/1.1\r\nHost: x\r\n\r\n")
                .unwrap();
        }
        std::thread::sleep(Duration::from_millis(100));
        stream
    });
}

#[test]
fn a_wrong_option_is_reported_in_one_sentence_with_code_two() {
    for (arguments, message) in [
        (
            ["--listen", "8080"],
            "--listen '8080' is not an address and a port, like 0.0.0.0:8080",
        ),
        (
            ["--colour", "red"],
            "there is no option --colour; see --help",
        ),
    ] {
        let output = output(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("wasmbench: native: {message}\n");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
        assert_eq!(output.stdout, b"");
    }
}

#[test]
fn an_address_in_use_is_reported_with_code_one() {
    let gateway = Gateway::listening();
    let output = output(&["--listen", gateway.address()]);
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.starts_with("wasmbench: native: could not listen at 127.0.0.1:"),
        "{message}"
    );
}

#[test]
fn the_environment_configures_it_as_well() {
    let gateway = Gateway::start(
        Command::new(BINARY)
            .env("WASMBENCH_LISTEN", "127.0.0.1:0")
            .env("WASMBENCH_CONNECTION", "close"),
    );
    let mut stream = gateway.connect();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
}

#[test]
fn help_names_every_option() {
    let help = String::from_utf8(output(&["--help"]).stdout).unwrap();
    for option in [
        "--listen",
        "--upstream",
        "--connection",
        "--max-connections",
    ] {
        assert!(help.contains(option), "{help}");
    }
}

#[test]
fn without_descriptors_it_waits_quietly_and_then_goes_on() {
    let limited = format!("ulimit -n 24; exec {BINARY} --listen 127.0.0.1:0");
    let gateway = Gateway::start(Command::new("sh").args(["-c", &limited]));
    let mut clients: Vec<TcpStream> = (0..60).map(|_| gateway.connect()).collect();
    std::thread::sleep(Duration::from_millis(200));
    let before = gateway.processor_ticks();
    std::thread::sleep(Duration::from_millis(500));
    // A loop that never rests would use 50 ticks.
    let used = gateway.processor_ticks() - before;
    assert!(used <= 5, "{used} ticks in half a second");
    clients.truncate(2);
    assert!(gateway.get("/").ends_with("\r\n\r\nhello"));
}

#[test]
fn it_uses_no_processor_time_while_idle() {
    let gateway = Gateway::listening();
    let _kept: Vec<TcpStream> = (0..100).map(|_| gateway.connect()).collect();
    std::thread::sleep(Duration::from_millis(200));
    let before = gateway.processor_ticks();
    std::thread::sleep(Duration::from_millis(500));
    assert!(gateway.processor_ticks() - before <= 1);
}

#[test]
fn the_account_includes_the_cpu_time_of_a_child_per_answer() {
    let options = ["--child-iterations=20000", "--account=yes"];
    let mut command = Command::new(BINARY);
    let mut gateway = Gateway::start(command.args(["--listen", "127.0.0.1:0"]).args(options));
    for _ in 0..5 {
        assert!(gateway.get("/").ends_with("hello"));
        // A line is printed only for a request at least 10 ms after the last line.
        std::thread::sleep(Duration::from_millis(12));
    }
    gateway.signal("TERM");
    gateway.end();
    let mut text = String::new();
    let output = gateway.child.stdout.as_mut().unwrap();
    output.read_to_string(&mut text).unwrap();
    let children: Vec<u64> = text
        .lines()
        .filter_map(|line| {
            line.strip_prefix("account ")?
                .rsplit(' ')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(children.len(), 5, "{text}");
    // 20,000 SHA-256 take a millisecond and more.
    assert!(
        children.windows(2).all(|two| two[0] + 500_000 < two[1]),
        "{text}"
    );
}
