use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use wasmbench_model::wire::action::Instances;

use super::*;
use crate::testing::free_port;

fn action() -> Action {
    Action::new(b"\0asm", &[("work".to_owned(), "hash".to_owned())].into())
}

fn endpoint(port: u16, function: Option<&str>) -> Endpoint {
    let action = action();
    Endpoint::new(
        SocketAddr::from(([127, 0, 0, 1], port)).into(),
        (&Sent::get("/"), None),
        Some((&action, function)),
    )
    .unwrap()
}

/// Answers one request and returns it.
fn answer_once(listener: TcpListener, answer: &'static str) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut request = Vec::new();
        let mut buffer = [0; 1024];
        while !request.ends_with(b"}}") {
            let read = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..read]);
        }
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request).unwrap()
    })
}

#[test]
fn the_code_is_posted_to_the_function_by_its_name() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = endpoint(listener.local_addr().unwrap().port(), Some("f0-1"));
    let service = answer_once(listener, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    let initialised = endpoint
        .initialise(Patience::start(Duration::from_secs(5)))
        .unwrap()
        .unwrap();
    assert!(initialised.sent <= initialised.answered);
    let request = service.join().unwrap();
    assert!(
        request.starts_with("POST /f0-1/init HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.contains(r#""code":"AGFzbQ==""#), "{request}");
    assert_eq!(endpoint.target.path, "/f0-1/run");
    let run = endpoint.target.body.as_deref();
    assert_eq!(run, Some(&br#"{"value":{"work":"hash"}}"#[..]));
}

#[test]
fn refused_code_is_a_failure_with_its_cause() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = endpoint(listener.local_addr().unwrap().port(), None);
    let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 16\r\n\r\n{\"error\":\"none\"}";
    let service = answer_once(listener, answer);
    let failure = endpoint
        .initialise(Patience::start(Duration::from_secs(5)))
        .unwrap_err();
    service.join().unwrap();
    assert_eq!(failure.reason, FailureReason::WrongAnswer);
    assert_eq!(
        failure.message,
        r#"POST /init was refused with status 400: {"error":"none"}"#
    );
}

#[test]
fn code_is_sent_as_soon_as_something_listens() {
    let port = free_port();
    let service = std::thread::spawn(move || {
        // Long enough for an attempt on any machine.
        std::thread::sleep(Duration::from_millis(300));
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let listening = unix_nanoseconds();
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        answer_once(listener, answer).join().unwrap();
        listening
    });
    let initialised = endpoint(port, None).initialise(Patience::start(Duration::from_secs(20)));
    let initialised = initialised.unwrap().unwrap();
    let listening = service.join().unwrap();
    // The last attempt may have begun just before the service listened, so only its end is
    // compared.
    assert!(initialised.answered > listening);
}

#[test]
fn without_a_listener_the_wait_ends() {
    let failure =
        endpoint(free_port(), None).initialise(Patience::start(Duration::from_millis(50)));
    assert_eq!(failure.unwrap_err().reason, FailureReason::NeverListened);
}

#[test]
fn a_plain_service_needs_no_initialisation() {
    let origin = SocketAddr::from(([127, 0, 0, 1], 1)).into();
    let endpoint = Endpoint::new(origin, (&Sent::get("/x"), None), None).unwrap();
    assert_eq!(
        endpoint
            .initialise(Patience::start(Duration::ZERO))
            .unwrap(),
        None
    );
    assert_eq!(
        (endpoint.target.path.as_str(), endpoint.target.body),
        ("/x", None)
    );
}

#[test]
fn a_module_and_a_program_are_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let call = |instances| ActionCall {
        code: "hash".into(),
        parameters: BTreeMap::new(),
        instances,
    };
    let missing = |instances| Action::read(&call(instances), folder.path()).unwrap_err();
    assert!(missing(Instances::Modules).message.contains("/hash.wasm"));
    assert!(missing(Instances::Pods).message.contains("/hash: "));
    std::fs::write(folder.path().join("hash.wasm"), b"\0asm").unwrap();
    assert!(Action::read(&call(Instances::Modules), folder.path()).is_ok());
}
