//! The upstream responds with the same for every path.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn every_path_is_answered_with_upstream() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gateway-upstream"))
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(
        line.starts_with("wasmbench: upstream listening on 127.0.0.1:"),
        "{line}"
    );
    for path in ["/", "/health", "/any/path?query"] {
        let mut stream = TcpStream::connect(line.trim_end().rsplit(' ').next().unwrap()).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("\r\n\r\nupstream"), "{path}: {answer}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
