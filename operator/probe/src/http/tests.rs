//! What becomes of a connection that was to be kept.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use wasmbench_api::run::Method;

use super::*;

/// Answers one connection with these pieces, one per request, and then ends or keeps it.
fn serve(answers: Vec<&'static str>, ends: bool) -> (Target, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = listener.local_addr().unwrap();
    let served = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut requests = vec![];
        for answer in answers {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).unwrap();
            requests.push(String::from_utf8_lossy(&buffer[..read]).into_owned());
            stream.write_all(answer.as_bytes()).unwrap();
        }
        if !ends {
            // Until the other end goes.
            let _ = stream.read(&mut [0; 16]);
        }
        requests
    });
    (Target::new(address, "/x").unwrap(), served)
}

/// How the only answer of such a server arrives.
fn observed(answer: &'static str, ends: bool) -> (BodyFraming, AfterAnswer) {
    let (target, served) = serve(vec![answer], ends);
    let mut connection = KeptConnection::open(&target).unwrap();
    let answered = connection.ask().unwrap().unwrap();
    drop(connection);
    served.join().unwrap();
    (answered.framing, answered.connection)
}

#[test]
fn a_kept_connection_carries_a_second_request_that_names_the_probe_and_asks_for_no_close() {
    let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let (target, served) = serve(vec![hello, hello], false);
    let mut connection = KeptConnection::open(&target).unwrap();
    for _ in 0..2 {
        let answered = connection.ask().unwrap().unwrap();
        assert_eq!(answered.response.body, b"hello");
        assert_eq!(answered.connection, AfterAnswer::Kept);
    }
    drop(connection);
    let agent = format!("User-Agent: wasmbench-probe/{}", env!("CARGO_PKG_VERSION"));
    for request in served.join().unwrap() {
        assert!(request.contains(&agent), "{request}");
        assert!(!request.contains("Connection"), "{request}");
    }
}

#[test]
fn a_close_is_announced_or_silent() {
    let close = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: Close\r\n\r\nhi";
    let (length, announced) = (BodyFraming::Length, AfterAnswer::CloseAnnounced);
    assert_eq!(observed(close, true), (length, announced));
    assert_eq!(observed(close, false), (length, announced), "not yet ended");
    let old = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(observed(old, true), (length, announced));
    let silent = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(observed(silent, true), (length, AfterAnswer::Closed));
    let old_kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(observed(old_kept, false), (length, AfterAnswer::Kept));
}

#[test]
fn the_framing_of_an_answer_is_reported() {
    let until_close = "HTTP/1.1 200 OK\r\n\r\nhi";
    let expected = (BodyFraming::UntilClose, AfterAnswer::Closed);
    assert_eq!(observed(until_close, true), expected);
    let empty = "HTTP/1.1 204 No Content\r\n\r\n";
    let expected = (BodyFraming::NoBody, AfterAnswer::Kept);
    assert_eq!(observed(empty, false), expected);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let expected = (BodyFraming::Chunked, AfterAnswer::Kept);
    assert_eq!(observed(chunked, false), expected);
    let trailers =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\n\r\n";
    assert_eq!(observed(trailers, false), expected);
}

#[test]
fn two_answers_to_one_request_are_seen() {
    for twice in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nhi",
        "HTTP/1.1 204 No Content\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\nHTTP/1.1 200",
    ] {
        assert_eq!(observed(twice, false).1, AfterAnswer::MoreBytes, "{twice}");
    }
}

#[test]
fn a_connection_that_ends_between_two_requests_is_no_failed_answer() {
    let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let (target, served) = serve(vec![hello], true);
    let mut connection = KeptConnection::open(&target).unwrap();
    assert!(connection.ask().unwrap().is_some());
    served.join().unwrap();
    assert!(connection.ask().unwrap().is_none());
    // Without an answer before it, the cause is unknown.
    let (target, served) = serve(vec![""], true);
    let mut connection = KeptConnection::open(&target).unwrap();
    assert!(connection.ask().is_err());
    served.join().unwrap();
}

#[test]
fn an_answer_to_head_ends_with_its_head_whatever_length_it_names() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    let (target, served) = serve(vec![answer, answer], false);
    let target = Target {
        method: Method::Head,
        ..target
    };
    let mut connection = KeptConnection::open(&target).unwrap();
    for _ in 0..2 {
        let answered = connection.ask().unwrap().unwrap();
        assert_eq!(answered.framing, BodyFraming::NoBody);
        assert_eq!(answered.connection, AfterAnswer::Kept);
    }
    drop(connection);
    served.join().unwrap();
}

/// It sends back what it reads as it reads it, so that both directions fill up.
#[test]
fn a_large_body_is_sent_to_a_service_that_answers_while_it_reads() {
    const BYTES: usize = 8 * 1024 * 1024;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let service = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut buffer = vec![0; 16 * 1024];
        let mut head = Vec::new();
        while !head.windows(4).any(|four| four == b"\r\n\r\n") {
            let read = stream.read(&mut buffer[..1]).unwrap();
            head.extend_from_slice(&buffer[..read]);
        }
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
        stream.write_all(answer.as_bytes()).unwrap();
        let mut left = BYTES;
        while left > 0 {
            let read = stream.read(&mut buffer).unwrap();
            stream.write_all(&buffer[..read]).unwrap();
            left -= read;
        }
    });
    let target = Target::new(address, "/").unwrap();
    let target = target.posting(vec![b'x'; BYTES].into());
    let response = ask(&target).unwrap();
    assert_eq!(response.body.len(), BYTES);
    service.join().unwrap();
}
