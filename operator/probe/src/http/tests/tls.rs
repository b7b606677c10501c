//! The client against servers with TLS, and against those that speak it when it does not.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};

use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use wasmbench_api::run::{Expectation, Header, Scheme};
use wasmbench_model::wire::failure::FailureReason;
use wasmbench_model::wire::sent::Sent;

use super::super::*;
use crate::ready::{Patience, Question};
use crate::target::Origin;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

type Secured = StreamOwned<ServerConnection, TcpStream>;

/// Shakes hands with every connection and hands it to `serve`, in a thread of its own. The certificate is
/// signed by itself, and for another name than any that is asked for.
fn secured(serve: impl Fn(Secured) + Send + 'static) -> SocketAddr {
    let made = rcgen::generate_simple_self_signed(["other.invalid".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.into()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(StreamOwned::new(tls, stream));
        }
    });
    address
}

/// The next request with a body of so many bytes; `None` once the connection is over.
fn request(stream: &mut Secured, body: usize) -> Option<Vec<u8>> {
    let mut request = vec![];
    let mut buffer = [0; 16 * 1024];
    loop {
        let head = request.windows(4).position(|four| four == b"\r\n\r\n");
        if head.is_some_and(|head| request.len() >= head + 4 + body) {
            return Some(request);
        }
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&buffer[..read]);
    }
}

fn hello(mut stream: Secured) {
    while request(&mut stream, 0).is_some() {
        stream.write_all(HELLO).unwrap();
    }
}

fn https(address: SocketAddr, sent: &Sent) -> Target {
    let origin = Origin::new(address.ip(), address.port(), Scheme::Https);
    Target::from_sent(origin, sent, None).unwrap()
}

/// Why a service was not ready.
fn failure(target: &Target) -> (FailureReason, String) {
    let question = Question {
        ready: None,
        target,
        expect: &Expectation::default(),
        variant_prefix: "",
    };
    let waited = question.wait(Patience::start(Duration::from_millis(50)));
    let failure = waited.outcome.unwrap_err();
    (failure.reason, failure.message)
}

#[test]
fn any_certificate_is_taken_and_the_connection_is_kept() {
    let target = https(secured(hello), &Sent::get("/"));
    assert_eq!(ask(&target).unwrap().body, b"hello");
    let mut connection = KeptConnection::open(&target).unwrap();
    for _ in 0..2 {
        let answered = connection.ask().unwrap().unwrap();
        assert_eq!(answered.response.body, b"hello");
        assert_eq!(answered.connection, AfterAnswer::Kept);
    }
}

#[test]
fn a_handshake_asks_for_the_host_of_the_request() {
    let (sender, names) = mpsc::channel();
    let address = secured(move |mut stream| {
        request(&mut stream, 0);
        let name = stream.conn.server_name().map(str::to_owned);
        sender.send(name).unwrap();
        stream.write_all(HELLO).unwrap();
    });
    let header = Header {
        name: "Host".into(),
        value: "shop.example.com".into(),
    };
    let sent = Sent {
        headers: vec![header],
        ..Sent::get("/")
    };
    ask(&https(address, &sent)).unwrap();
    assert_eq!(names.recv().unwrap().as_deref(), Some("shop.example.com"));
    ask(&https(address, &Sent::get("/"))).unwrap();
    assert_eq!(names.recv().unwrap(), None, "an address is no name");
}

#[test]
fn a_large_body_and_its_answer_pass_through_tls() {
    const BYTES: usize = 1024 * 1024;
    let address = secured(|mut stream| {
        let echoed = request(&mut stream, BYTES).unwrap();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&echoed[echoed.len() - BYTES..]).unwrap();
        stream.flush().unwrap();
    });
    let target = https(address, &Sent::get("/")).posting(vec![b'x'; BYTES].into());
    assert_eq!(ask(&target).unwrap().body, vec![b'x'; BYTES]);
}

#[test]
fn an_answer_that_ends_with_its_connection_needs_no_last_word_of_tls() {
    let address = secured(|mut stream| {
        request(&mut stream, 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhi").unwrap();
    });
    assert_eq!(ask(&https(address, &Sent::get("/"))).unwrap().body, b"hi");
}

#[test]
fn a_port_without_tls_is_named_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let (reason, message) = failure(&https(address, &Sent::get("/")));
    assert_eq!(reason, FailureReason::TlsMismatch);
    assert!(message.contains("leave out container.scheme"), "{message}");
}

#[test]
fn a_port_with_tls_is_named_so_to_whoever_speaks_none() {
    let (reason, message) = failure(&Target::new(secured(hello), "/").unwrap());
    assert_eq!(reason, FailureReason::TlsMismatch);
    assert!(message.contains("set container.scheme"), "{message}");
}

#[test]
fn a_refusal_of_requests_without_tls_is_recognised_by_its_text() {
    let wants_tls = |status, body: &str| {
        let response = Response {
            status,
            body: body.as_bytes().to_vec(),
            content_type: String::new(),
            location: None,
        };
        response.wants_tls()
    };
    assert!(wants_tls(
        400,
        "The plain HTTP request was sent to HTTPS port"
    ));
    assert!(wants_tls(
        400,
        "Client sent an HTTP request to an HTTPS server."
    ));
    assert!(!wants_tls(200, "an HTTPS server"));
    assert!(!wants_tls(400, "no such item"));
}
