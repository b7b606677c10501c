//! Forwarding to an upstream that is well, slow, strange or missing.

use crate::common::{Client, PATIENCE, assert_others_are_answered, field, start};
use gateway_http::Config;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// An upstream that handles each connection in a thread.
fn upstream(handle: impl Fn(TcpStream) + Send + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let handle = handle.clone();
            std::thread::spawn(move || handle(stream.unwrap()));
        }
    });
    address
}

/// Reads a head and its declared body.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        (stream.read(&mut byte).ok()? == 1).then_some(())?;
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = field(&head, "content-length").map_or(0, |value| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).unwrap())
}

/// An upstream that returns `answer` for each request and reports the requests.
fn answering(answer: &'static str) -> (SocketAddr, Receiver<String>) {
    let (sender, receiver) = channel();
    let address = upstream(move |mut stream| {
        while let Some(request) = read_request(&mut stream) {
            let _ = sender.send(request);
            if stream.write_all(answer.as_bytes()).is_err() || answer.contains("close") {
                break;
            }
        }
    });
    (address, receiver)
}

fn gateway(upstream: impl std::fmt::Display) -> Client {
    gateway_that_waits(upstream, PATIENCE)
}

/// The same, with another timeout for the upstream.
fn gateway_that_waits(upstream: impl std::fmt::Display, time: Duration) -> Client {
    Client::connect(start(Config {
        upstream: Some(format!("{upstream}")),
        upstream_timeout: time,
        ..Config::default()
    }))
}

#[test]
fn another_path_is_answered_by_the_upstream() {
    let (address, _) =
        answering("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nX-From: up\r\n\r\nupstream");
    let mut client = gateway(address);
    for _ in 0..20 {
        let answer = client.get("/any");
        assert_eq!((answer.status, answer.body.as_str()), (200, "upstream"));
        assert_eq!(field(&answer.head, "x-from").as_deref(), Some("up"));
    }
}

#[test]
fn method_target_fields_and_body_arrive_and_hop_by_hop_fields_do_not() {
    let (address, requests) = answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let mut client = gateway(address);
    client.send(
        "POST /p/q?r=s HTTP/1.1\r\nHost: x\r\nAccept: a\r\nConnection: keep-alive, X-Hop\r\n\
         X-Hop: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n\r\n\
         2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
    );
    assert_eq!(client.answer().status, 200);
    let request = requests.recv().unwrap();
    assert!(
        request.starts_with("POST /p/q?r=s HTTP/1.1\r\n"),
        "{request}"
    );
    assert_eq!(field(&request, "host"), Some(address.to_string()));
    assert_eq!(field(&request, "accept").as_deref(), Some("a"));
    assert_eq!(field(&request, "content-length").as_deref(), Some("3"));
    assert!(request.ends_with("\r\n\r\nabc"), "{request}");
    for name in ["connection", "x-hop", "te", "upgrade", "transfer-encoding"] {
        assert_eq!(field(&request, name), None, "{name}");
    }
}

#[test]
fn every_framing_of_the_upstream_is_understood() {
    for answer in [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody",
        "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
    ] {
        let mut client = gateway(answering(answer).0);
        for _ in 0..2 {
            let answer = client.get("/any");
            assert_eq!((answer.status, answer.body.as_str()), (200, "body"));
            assert_eq!(field(&answer.head, "transfer-encoding"), None);
            assert_eq!(field(&answer.head, "connection"), None);
        }
    }
}

#[test]
fn a_status_without_body_is_passed_on_without_body() {
    let mut client = gateway(answering("HTTP/1.1 204 No Content\r\n\r\n").0);
    let head = client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").head();
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    assert_eq!(field(&head, "content-length"), None);
    assert_eq!(client.get("/").body, "hello");
}

#[test]
fn head_is_forwarded_and_has_no_body() {
    let (address, requests) = answering("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n");
    let mut client = gateway(address);
    let head = client.send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n").head();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(requests.recv().unwrap().starts_with("HEAD /a "));
    assert_eq!(client.get("/").body, "hello");
}

#[test]
fn the_answer_without_an_upstream_names_what_is_missing() {
    let mut client = Client::connect(start(Config::default()));
    let answer = client.get("/any");
    assert_eq!(answer.status, 502);
    assert_eq!(
        answer.body,
        "no upstream is configured: give --upstream HOST:PORT"
    );
    assert_eq!(client.get("/").body, "hello");
}

#[test]
fn an_upstream_that_cannot_be_reached_is_a_bad_gateway() {
    for (upstream, message) in [
        // A system port that nothing uses; another test could take a free one.
        ("127.0.0.1:1".to_owned(), "the upstream cannot be reached"),
        (
            "no-such-name.invalid:80".to_owned(),
            "the upstream's name has no address",
        ),
    ] {
        let answer = gateway(upstream).get("/any");
        assert_eq!((answer.status, answer.body.as_str()), (502, message));
    }
}

#[test]
fn an_upstream_that_does_not_speak_http_or_breaks_off_is_a_bad_gateway() {
    for answer in [
        "rubbish, close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nz\r\n",
    ] {
        assert_eq!(
            gateway(answering(answer).0).get("/any").status,
            502,
            "{answer:?}"
        );
    }
}

/// An upstream that never responds, and reports its requests.
fn silent() -> (SocketAddr, Receiver<String>) {
    let (sender, receiver) = channel();
    let address = upstream(move |mut stream| {
        let _ = read_request(&mut stream).map(|request| sender.send(request));
        std::thread::sleep(4 * PATIENCE);
        drop(stream);
    });
    (address, receiver)
}

#[test]
fn a_slow_upstream_stalls_nobody() {
    let (upstream, requests) = silent();
    let mut waiting = gateway_that_waits(upstream, 2 * PATIENCE);
    let address = waiting.stream.peer_addr().unwrap();
    waiting.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(requests.recv().unwrap().starts_with("GET /slow "));
    assert_others_are_answered(&[waiting], address);
}

#[test]
fn a_slow_upstream_is_abandoned_when_its_time_is_over() {
    let mut client = gateway_that_waits(silent().0, Duration::from_millis(500));
    let begin = Instant::now();
    let answer = client.get("/slow");
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (504, "the upstream did not answer in time")
    );
    assert!(begin.elapsed() >= Duration::from_millis(490));
    assert_eq!(client.get("/").body, "hello");
}

#[test]
fn a_kept_connection_that_the_upstream_closed_is_replaced_silently() {
    let once = upstream(|mut stream| {
        read_request(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        // Not announced: the gateway only notices the closed connection.
        std::thread::sleep(Duration::from_millis(5));
    });
    let mut client = gateway(once);
    for _ in 0..50 {
        assert_eq!(client.get("/any").body, "ok");
        std::thread::sleep(Duration::from_millis(4));
    }
}

#[test]
fn a_hundred_forwarded_requests_at_once_are_all_answered() {
    let (address, _) = answering("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nupstream");
    let upstream = Some(address.to_string());
    let gateway = start(Config {
        upstream,
        ..Config::default()
    });
    // Fewer than the 128 connections that the upstream's listener queues.
    let mut clients: Vec<Client> = (0..100).map(|_| Client::connect(gateway)).collect();
    for _ in 0..3 {
        for client in &mut clients {
            client.send("GET /any HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2));
        }
        for client in &mut clients {
            assert_eq!(client.answer().body, "upstream");
            assert_eq!(client.answer().body, "upstream");
        }
    }
}
