//! Bodies of several sizes with the real generator, against servers that send them back, or do not.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use serde_json::json;
use wasmbench_model::wire::failure::FailureReason;

use crate::support::node::Proc;
use crate::support::request;

/// The largest body that is sent, in bytes.
const LARGEST: usize = 200_000;

/// Serves at a free port until the tests end: what `answer` makes of each body.
fn serve(answer: fn(Vec<u8>) -> Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || converse(stream, answer));
        }
    });
    address
}

/// Answers the requests of one connection.
fn converse(mut stream: TcpStream, answer: fn(Vec<u8>) -> Vec<u8>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut length = 0;
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(bytes) = line.strip_prefix("Content-Length: ") {
                length = bytes.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = answer(body);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&body).ok()?;
    }
}

/// A request of two sizes at this address. Its workload takes any answer.
fn bodies(address: SocketAddr) -> serde_json::Value {
    let mut request = request(address.port());
    request["expect"] = json!({});
    request["connections"] = json!(2);
    request["load"] = json!({"kind": "duration", "seconds": 2, "warmupSeconds": 0});
    request["payload"] = json!({
        "path": "/echo", "bytes": [0, LARGEST], "seed": 7, "seconds": 1, "warmupSeconds": 0,
    });
    request
}

#[test]
fn every_size_has_a_window_of_its_own_without_the_generators_output() {
    let run = Proc::quiet().probe(&bodies(serve(|body| body)));
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let sizes = &run.document.sizes;
    let bytes: Vec<(u32, u64)> = sizes
        .iter()
        .map(|one| (one.bytes, one.answer_bytes))
        .collect();
    assert_eq!(bytes, [(0, 0), (200_000, LARGEST as u64)]);
    for size in sizes {
        assert!(size.requests > 0 && size.failed == 0, "{size:?}");
        assert!(size.window.duration_nanoseconds > 900_000_000, "{size:?}");
        assert!(size.window.fortio.is_null() && size.window.further.is_empty());
    }
    assert_eq!(run.document.timed, None);
}

#[test]
fn a_variants_prefix_comes_back_before_the_body() {
    let mut request = bodies(serve(|body| [b"wasm:".as_slice(), &body].concat()));
    request["bodyPrefix"] = json!("wasm:");
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let answers: Vec<u64> = run
        .document
        .sizes
        .iter()
        .map(|one| one.answer_bytes)
        .collect();
    assert_eq!(answers, [5, LARGEST as u64 + 5]);
}

#[test]
fn a_service_that_sends_another_body_of_the_same_size_is_refused_by_its_first_answer() {
    let reversed = |body: Vec<u8>| body.into_iter().rev().collect();
    let run = Proc::quiet().probe(&bodies(serve(reversed)));
    assert_eq!(run.failed(), FailureReason::WrongAnswer);
    let message = run.message();
    assert!(
        message.contains("POST /echo with a body of 200000 bytes"),
        "{message}"
    );
    assert!(message.contains("sweeps.payload.path"), "{message}");
}
