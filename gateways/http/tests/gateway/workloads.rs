//! The workloads over a real socket.

use crate::common::{Client, field, is_process, start};
use gateway_http::Config;
use sha2::{Digest, Sha256};

fn client() -> Client {
    Client::connect(start(Config::default()))
}

#[test]
fn hello_health_and_engine_answer() {
    let mut client = client();
    let hello = client.get("/");
    assert_eq!((hello.status, hello.body.as_str()), (200, "hello"));
    assert_eq!(
        field(&hello.head, "content-type").as_deref(),
        Some("text/plain")
    );
    assert_eq!(field(&hello.head, "date"), None);
    assert_eq!(client.get("/health").body, "ok");
    let engine = client.get("/engine");
    // What a process reports depends on how it was started.
    if !is_process() {
        assert_eq!(engine.body, r#"{"engine":"none","profile":"debug"}"#);
    }
    assert_eq!(
        field(&engine.head, "content-type").as_deref(),
        Some("application/json")
    );
}

#[test]
fn compute_answers_the_digest_of_the_chain() {
    let mut digest = [0; 32];
    for _ in 0..20_000 {
        digest = Sha256::digest(digest).into();
    }
    let hexadecimal = |text: String, byte: &u8| text + &format!("{byte:02x}");
    let expected = digest.iter().fold(String::new(), hexadecimal);
    let mut client = client();
    assert_eq!(client.get("/compute").body, expected);
    assert_eq!(client.get("/compute?a=b&iters=20000").body, expected);
    assert_eq!(client.get("/compute?iters=0").body, "0".repeat(64));
}

#[test]
fn a_bad_number_of_iterations_is_refused_and_the_connection_stays_open() {
    let mut client = client();
    for (target, message) in [
        ("/compute?iters=", "iters is not a number"),
        ("/compute?iters=-1", "iters is not a number"),
        ("/compute?iters=ten", "iters is not a number"),
        ("/compute?iters=5000001", "iters is more than 5000000"),
        (
            "/compute?iters=99999999999999999999",
            "iters is more than 5000000",
        ),
    ] {
        let answer = client.get(target);
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (400, message),
            "{target}"
        );
    }
    assert_eq!(client.get("/").body, "hello");
}

#[test]
fn state_counts_from_one_over_all_connections() {
    let address = start(Config::default());
    let mut first = Client::connect(address);
    let mut second = Client::connect(address);
    let counts = [
        first.get("/state"),
        second.get("/state"),
        first.get("/state"),
    ];
    assert_eq!(counts.map(|answer| answer.body), ["1", "2", "3"]);
}

#[test]
fn head_answers_the_length_without_the_body() {
    let mut client = client();
    let head = client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").head();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(field(&head, "content-length").as_deref(), Some("5"));
    assert_eq!(client.get("/health").body, "ok");
}

#[test]
fn a_post_with_a_body_is_answered_like_a_get() {
    let mut client = client();
    let length = 1024 * 1024;
    client.send(format!(
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
    ));
    assert_eq!(client.send(vec![b'x'; length]).answer().body, "hello");
    let chunked = "POST /health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.send(format!("{chunked}3\r\nabc\r\n0\r\n\r\n"));
    assert_eq!(client.answer().body, "ok");
}
