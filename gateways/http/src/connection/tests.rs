//! The connection's rules: any split of a valid stream gives the same responses, and the worst that
//! any stream of bytes can do is end its connection with a rejection.

use super::*;
use proptest::prelude::*;

/// A server that echoes the target and the body, fed in pieces that end at `cuts`.
fn serve(stream: &[u8], cuts: &[usize]) -> (Vec<u8>, Connection) {
    let mut connection = Connection::new(false);
    let mut output = Vec::new();
    let mut start = 0;
    for end in cuts.iter().copied().chain([stream.len()]) {
        connection.receive(&stream[start..end]);
        start = end;
        drain(&mut connection, &mut output);
    }
    (output, connection)
}

fn drain(connection: &mut Connection, output: &mut Vec<u8>) {
    loop {
        while connection.advance() {
            let request = connection.request();
            let body = [request.target.as_bytes(), b" ", request.body()].concat();
            connection.answer(Answer {
                status: Status::OK,
                fields: b"",
                body: &body,
            });
        }
        if connection.unsent().is_empty() {
            return;
        }
        output.extend_from_slice(connection.unsent());
        connection.sent(connection.unsent().len());
    }
}

/// The status and the body of each response, read back from the bytes.
fn answers(mut output: &[u8]) -> Vec<(u16, String)> {
    let mut answers = Vec::new();
    while !output.is_empty() {
        let mut headers = [httparse::EMPTY_HEADER; 8];
        let mut response = httparse::Response::new(&mut headers);
        let head = response.parse(output).unwrap().unwrap();
        let length = response
            .headers
            .iter()
            .find(|header| header.name == "Content-Length")
            .map_or(0, |header| {
                std::str::from_utf8(header.value).unwrap().parse().unwrap()
            });
        let body = String::from_utf8_lossy(&output[head..head + length]).into_owned();
        answers.push((response.code.unwrap(), body));
        output = &output[head + length..];
    }
    answers
}

fn refusal(stream: &str) -> u16 {
    let (output, mut connection) = serve(stream.as_bytes(), &[]);
    connection.end_of_input();
    let mut output = output;
    drain(&mut connection, &mut output);
    assert_eq!(connection.wait(), Wait::Over, "{stream:?}");
    let answers = answers(&output);
    assert_eq!(answers.len(), 1, "{stream:?}: {answers:?}");
    answers[0].0
}

/// A valid request, and the echo in its response.
fn request() -> impl Strategy<Value = (Vec<u8>, String)> {
    let target = "/[a-z]{0,8}(\\?[a-z]=[0-9]{1,3})?";
    (
        target,
        proptest::collection::vec("[a-z0-9]{1,40}", 0..4),
        0..3,
    )
        .prop_map(|(target, chunks, kind)| {
            let body = chunks.concat();
            let head = format!("POST {target} HTTP/1.1\r\nHost: x\r\nX-A: b\r\n");
            let (bytes, body) = match kind {
                0 => (
                    format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"),
                    String::new(),
                ),
                1 => (
                    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()),
                    body,
                ),
                _ => {
                    let coded = chunks.iter().fold(String::new(), |coded, chunk| {
                        coded + &format!("{:x};e=1\r\n{chunk}\r\n", chunk.len())
                    });
                    let fields = "Transfer-Encoding: chunked\r\n\r\n";
                    (format!("{head}{fields}{coded}0\r\nT: t\r\n\r\n"), body)
                }
            };
            (bytes.into_bytes(), format!("{target} {body}"))
        })
}

proptest! {
    #[test]
    fn any_split_of_a_pipelined_stream_gives_the_same_answers(
        requests in proptest::collection::vec(request(), 1..6),
        seeds in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let stream = requests.iter().flat_map(|(bytes, _)| bytes.clone()).collect::<Vec<_>>();
        let mut cuts: Vec<usize> = seeds.iter().map(|seed| seed.index(stream.len())).collect();
        cuts.sort_unstable();
        let (output, connection) = serve(&stream, &cuts);
        let expected: Vec<_> = requests.iter().map(|(_, echo)| (200, echo.clone())).collect();
        prop_assert_eq!(answers(&output), expected);
        prop_assert_eq!(connection.wait(), Wait::Request);
    }

    #[test]
    fn arbitrary_bytes_end_in_a_refusal_or_a_closed_connection(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = if bytes.is_empty() { 0 } else { cut.index(bytes.len()) };
        let (mut output, mut connection) = serve(&bytes, &[cut]);
        connection.end_of_input();
        drain(&mut connection, &mut output);
        prop_assert_eq!(connection.wait(), Wait::Over);
        for (status, _) in answers(&output) {
            prop_assert!((400..600).contains(&status), "{}", status);
        }
    }

    #[test]
    fn a_damaged_request_never_panics_and_never_hangs(
        (bytes, _) in request(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = bytes;
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let (mut output, mut connection) = serve(&bytes, &[]);
        connection.end_of_input();
        drain(&mut connection, &mut output);
        prop_assert_eq!(connection.wait(), Wait::Over);
    }
}

#[test]
fn each_bad_request_is_refused_with_its_status() {
    let long = "a".repeat(17 * 1024);
    let many = "a: b\r\n".repeat(65);
    for (request, status) in [
        ("GET\r\n\r\n", 400),
        ("GET nothing HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", 400),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na",
            400,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na",
            400,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
            400,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\ntruncated",
            400,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n",
            400,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            501,
        ),
        ("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n",
            413,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            413,
        ),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n",
            413,
        ),
        (
            "GET / HTTP/1.1\r\nHost: x\r\nExpect: a miracle\r\n\r\n",
            417,
        ),
        (&format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"), 431),
        (&format!("GET /{long}"), 431),
        (&format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"), 431),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    ] {
        assert_eq!(
            refusal(request),
            status,
            "{:?}",
            &request[..request.len().min(120)]
        );
    }
}

#[test]
fn a_head_cut_anywhere_is_refused_as_too_short() {
    let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
    for end in 1..request.len() {
        assert_eq!(refusal(&request[..end]), 400, "{end}");
    }
}

#[test]
fn a_refused_method_is_answered_with_the_allowed_ones() {
    let (output, _) = serve(b"PUT / HTTP/1.1\r\nHost: x\r\n\r\n", &[]);
    assert!(
        String::from_utf8(output)
            .unwrap()
            .contains("\r\nAllow: GET, HEAD, POST\r\n")
    );
}

#[test]
fn nothing_is_answered_after_a_refusal() {
    let stream = b"PUT / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let (output, mut connection) = serve(stream, &[10, 30, 40]);
    assert_eq!(answers(&output).len(), 1);
    assert_eq!(connection.wait(), Wait::Goodbye);
    connection.end_of_input();
    assert_eq!(connection.wait(), Wait::Over);
}

#[test]
fn only_a_client_that_waits_for_100_continue_gets_one() {
    let head = "POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    let stream = format!("{head}ok");
    let (waiting, _) = serve(stream.as_bytes(), &[head.len()]);
    assert!(waiting.starts_with(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"));
    let (sending, _) = serve(stream.as_bytes(), &[]);
    assert!(sending.starts_with(b"HTTP/1.1 200"));
}

#[test]
fn the_connection_ends_when_the_client_or_the_mode_requires_it() {
    for (request, mode, ends) in [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", false, false),
        (
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n",
            false,
            true,
        ),
        (
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: a, close\r\n\r\n",
            false,
            true,
        ),
        ("GET / HTTP/1.0\r\n\r\n", false, true),
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", true, true),
    ] {
        let mut connection = Connection::new(mode);
        connection.receive(request.as_bytes());
        let mut output = Vec::new();
        drain(&mut connection, &mut output);
        let announces_close = String::from_utf8(output)
            .unwrap()
            .contains("\r\nConnection: close\r\n");
        assert_eq!(
            (announces_close, connection.wait() == Wait::Over),
            (ends, ends),
            "{request:?}"
        );
    }
}

#[test]
fn a_target_with_scheme_and_host_is_reduced_to_its_path() {
    for (target, expected) in [
        ("http://h/a?b", "/a?b "),
        ("HTTP://h", "/ "),
        ("http://h?q", "/?q "),
        ("/a", "/a "),
    ] {
        let stream = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        let (output, _) = serve(stream.as_bytes(), &[]);
        assert_eq!(answers(&output), [(200, expected.to_owned())]);
    }
}

#[test]
fn a_client_that_pipelines_without_reading_is_not_served_without_bound() {
    let mut connection = Connection::new(false);
    let body = vec![b'x'; 4096];
    let mut served = 0;
    while connection.wants_read() {
        connection.receive(&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100));
        while connection.advance() {
            connection.answer(Answer {
                status: Status::OK,
                fields: b"",
                body: &body,
            });
            served += 1;
        }
    }
    assert!(
        served * body.len() < OUTPUT_HIGH_WATER + 2 * body.len(),
        "{served}"
    );
}

#[test]
fn a_late_request_is_refused_and_a_late_client_is_disconnected() {
    let (_, mut connection) = serve(b"GET / HT", &[]);
    connection.timed_out();
    assert_eq!(answers(connection.unsent())[0].0, 408);
    connection.timed_out();
    assert_eq!(connection.wait(), Wait::Over);
    let (_, mut idle) = serve(b"", &[]);
    idle.timed_out();
    assert_eq!((idle.unsent(), idle.wait()), (&b""[..], Wait::Over));
}
