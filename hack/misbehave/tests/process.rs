//! The server as a client sees it, byte by byte.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const HELLO: &str = "HTTP/1.1 200 As requested\r\nContent-Length: 5\r\n\r\nhello";
/// User-Agents of a load and of a probe that judges answers.
const LOAD: &str = "fortio.org/fortio-1";
const PROBE: &str = "wasmbench-probe/1";

struct Server {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_misbehave"))
            .arg("--listen=127.0.0.1:0")
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line
            .trim_end()
            .strip_prefix("wasmbench: misbehave listening on ")
            .unwrap();
        Self {
            child,
            address: address.to_owned(),
            output,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        let limit = Some(Duration::from_mins(1));
        stream.set_read_timeout(limit).unwrap();
        stream
    }

    /// Everything that comes in answer to one request, and how it ends.
    fn all(&self, target: &str, agent: &str) -> (String, Option<ErrorKind>) {
        let mut stream = self.connect();
        send(&mut stream, target, agent, "Connection: close\r\n");
        let mut bytes = vec![];
        let end = stream.read_to_end(&mut bytes).err();
        let text = String::from_utf8(bytes).unwrap();
        (text, end.map(|error| error.kind()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(stream: &mut TcpStream, target: &str, agent: &str, more: &str) {
    let head = format!("GET {target} HTTP/1.1\r\nHost: x\r\nUser-Agent: {agent}\r\n{more}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
}

/// Sends a request over a kept connection and reads as many bytes.
fn read(stream: &mut TcpStream, target: &str, bytes: usize) -> String {
    send(stream, target, LOAD, "");
    let mut answer = vec![0; bytes];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

fn is_at_end(stream: &mut TcpStream) -> bool {
    stream.read(&mut [0]).unwrap() == 0
}

#[test]
fn a_signal_ends_it_with_code_zero() {
    let mut server = Server::start(&[]);
    let id = server.child.id().to_string();
    let sent = Command::new("kill").args(["-s", "TERM", &id]).status();
    assert!(sent.unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_typo_in_a_path_is_an_error_and_no_good_answer() {
    let (answer, _) = Server::start(&[]).all("/silnet?percent=10", LOAD);
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.ends_with("there is no path /silnet"), "{answer}");
}

#[test]
fn a_connection_is_kept_whatever_the_status() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    for (status, rest) in [
        (204, "\r\n"),
        (304, "\r\n"),
        (302, "Content-Length: 5\r\nLocation: /\r\n\r\nhello"),
        (404, "Content-Length: 5\r\n\r\nhello"),
        (418, "Content-Length: 5\r\n\r\nhello"),
        (200, "Content-Length: 5\r\n\r\nhello"),
    ] {
        let expected = format!("HTTP/1.1 {status} As requested\r\n{rest}");
        let answer = read(&mut stream, &format!("/?status={status}"), expected.len());
        assert_eq!(answer, expected);
    }
}

#[test]
fn one_answer_in_five_of_a_load_is_truncated_and_none_of_a_probe() {
    let server = Server::start(&[]);
    let cut = |agent: &str| {
        let answers = (0..50).map(|_| server.all("/cut?percent=20", agent).0);
        answers
            .filter(|answer| answer.ends_with("\r\n\r\nhe"))
            .count()
    };
    assert_eq!(cut(PROBE), 0);
    assert_eq!(cut(LOAD), 10);
}

#[test]
fn a_kept_connection_ends_without_a_byte_of_answer() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    for _ in 0..9 {
        assert_eq!(read(&mut stream, "/silent?percent=10", HELLO.len()), HELLO);
    }
    send(&mut stream, "/silent?percent=10", LOAD, "");
    assert!(is_at_end(&mut stream));
}

#[test]
fn a_reset_comes_in_the_middle_of_the_body() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    let half = HELLO.len() - 3;
    assert_eq!(read(&mut stream, "/reset", half), HELLO[..half]);
    let end = stream.read(&mut [0]).unwrap_err();
    assert_eq!(end.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_body_without_a_length_ends_with_its_connection() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    let head = "HTTP/1.0 200 As requested\r\n\r\n";
    assert_eq!(read(&mut stream, "/http10", head.len()), head);
    let begin = Instant::now();
    let mut body = String::new();
    stream.read_to_string(&mut body).unwrap();
    assert_eq!(body, "hello");
    // The reader may have been late for the head.
    assert!(begin.elapsed() > Duration::from_millis(100));
}

#[test]
fn a_connection_serves_the_requested_number_and_may_announce_its_end() {
    let server = Server::start(&[]);
    let announced = HELLO.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    for (is_announced, last) in [(true, &*announced), (false, HELLO)] {
        let mut stream = server.connect();
        let target = format!("/limit?requests=3&said={is_announced}");
        for expected in [HELLO, HELLO, last] {
            assert_eq!(read(&mut stream, &target, expected.len()), expected);
        }
        assert!(is_at_end(&mut stream));
    }
}

#[test]
fn only_a_loads_answers_grow() {
    let server = Server::start(&[]);
    let lengths =
        |agent| [(); 4].map(|()| server.all("/grow?to=300000&after=2", agent).0.len() / 1000);
    assert_eq!(lengths(PROBE), [0, 0, 0, 0]);
    assert_eq!(lengths(LOAD), [0, 0, 300, 300]);
}

#[test]
fn chunks_are_as_small_as_requested() {
    let (answer, _) = Server::start(&[]).all("/chunks?bytes=5&each=2", LOAD);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.ends_with("Transfer-Encoding: chunked"), "{head}");
    assert_eq!(body, "2\r\nxx\r\n2\r\nxx\r\n1\r\nx\r\n0\r\n\r\n");
}

#[test]
fn a_share_of_a_load_is_shed() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    let shed = "HTTP/1.1 503 As requested\r\nContent-Length: 0\r\n\r\n";
    let mut found = String::new();
    for _ in 0..10 {
        send(&mut stream, "/shed?percent=30", LOAD, "");
    }
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stream.read_to_string(&mut found).unwrap();
    assert_eq!(found.matches(shed).count(), 3);
    assert_eq!(found.matches(HELLO).count(), 7);
}

#[test]
fn an_announced_length_may_never_be_reached_while_the_connection_stays() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    let half = HELLO.len() - 3;
    assert_eq!(read(&mut stream, "/long", half), HELLO[..half]);
    stream
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let nothing = stream.read(&mut [0]).unwrap_err().kind();
    assert_eq!(nothing, ErrorKind::WouldBlock);
}

#[test]
fn two_answers_may_come_for_one_request_and_an_interim_one_before_it() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    let twice = HELLO.repeat(2);
    for target in ["/twice", "/twice?gap_microseconds=200"] {
        assert_eq!(read(&mut stream, target, twice.len()), twice);
    }
    let interim = format!("HTTP/1.1 100 Continue\r\n\r\n{HELLO}");
    assert_eq!(read(&mut stream, "/continue", interim.len()), interim);
}

#[test]
fn an_early_answer_does_not_wait_for_the_body() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    for target in ["/early", "/early"] {
        send(&mut stream, target, LOAD, "Content-Length: 100000\r\n");
        let mut answer = vec![0; HELLO.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, HELLO.as_bytes());
        stream.write_all(&vec![b'x'; 100_000]).unwrap();
    }
}

#[test]
fn each_byte_of_a_trickle_takes_its_pause() {
    let server = Server::start(&[]);
    let begin = Instant::now();
    let (answer, _) = server.all("/trickle?pause_milliseconds=20", LOAD);
    assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
    assert!(begin.elapsed() >= Duration::from_millis(100));
}

#[test]
fn each_request_may_be_logged() {
    let mut server = Server::start(&[]);
    server.all("/log", LOAD);
    server.all("/log?status=404", PROBE);
    for expected in ["GET /log\n", "GET /log?status=404\n"] {
        let mut line = String::new();
        server.output.read_line(&mut line).unwrap();
        assert_eq!(line, expected);
    }
}

#[test]
fn a_path_may_stand_for_another_target() {
    let server = Server::start(&["--at=/sizes=/?bytes=7"]);
    let (answer, _) = server.all("/sizes", PROBE);
    assert!(answer.ends_with("\r\n\r\nxxxxxxx"), "{answer}");
}

#[test]
fn a_wrong_option_is_reported_in_one_sentence_with_code_two() {
    let output = Command::new(env!("CARGO_BIN_EXE_misbehave"))
        .arg("--colour=red")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "wasmbench: misbehave: there is no option --colour=red; see --help\n"
    );
}

#[test]
fn only_one_request_is_right_and_its_answer_is_json_in_two_orders() {
    let server = Server::start(&[]);
    let body = r#"{"items": [1, 2, 3], "name": "pen"}"#;
    let head = |host: &str| {
        format!(
            "POST /strict HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: let me in\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let mut stream = server.connect();
    for order in ["{\"total\":42,", "{\"currency\":\"EUR\","] {
        stream
            .write_all(head("shop.example.com").as_bytes())
            .unwrap();
        let mut answer = vec![0; 200];
        let read = stream.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]);
        assert!(
            answer.contains("\r\nContent-Type: application/json\r\n"),
            "{answer}"
        );
        assert!(answer.contains(order), "{answer}");
    }
    stream.write_all(head("10.0.0.1").as_bytes()).unwrap();
    let mut answer = vec![0; 200];
    let read = stream.read(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]);
    assert!(
        answer.starts_with("HTTP/1.1 422 ") && answer.ends_with("host"),
        "{answer}"
    );
}
