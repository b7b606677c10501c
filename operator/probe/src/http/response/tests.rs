//! Answers whole, in pieces, cut short and too large.

use proptest::prelude::*;

use super::*;

fn all(bytes: &[u8]) -> Result<Progress, Malformed> {
    Framing::default().push(bytes)
}

fn until_close(bytes: &[u8]) -> Result<Progress, Malformed> {
    let mut framing = Framing::default();
    match framing.push(bytes)? {
        Progress::Incomplete => framing.end(),
        complete @ Progress::Complete(_) => Ok(complete),
    }
}

fn whole(status: u16, body: &[u8]) -> Progress {
    Progress::Complete(Response {
        status,
        body: body.to_vec(),
        content_type: String::new(),
        location: None,
    })
}

#[test]
fn a_redirect_has_its_target_and_other_answers_have_none() {
    let location = |bytes: &[u8]| {
        let Ok(Progress::Complete(response)) = all(bytes) else {
            panic!("an answer");
        };
        response.location
    };
    let moved = b"HTTP/1.1 301 Moved\r\nLocation: /en/ \r\nContent-Length: 0\r\n\r\n";
    assert_eq!(location(moved).as_deref(), Some("/en/"));
    let created = b"HTTP/1.1 201 Created\r\nLocation: /1\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(location(created), None);
}

#[test]
fn a_server_that_speaks_only_http_2_is_recognised() {
    let settings = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100];
    assert_eq!(all(&settings), Err(Malformed::Http2));
    assert!(Malformed::Http2.to_string().contains("HTTP/1.1, too"));
}

#[test]
fn an_answer_with_a_length_is_complete_without_a_close() {
    assert_eq!(
        all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        Ok(whole(200, b"hello"))
    );
    assert_eq!(all(b"HTTP/1.1 204 No Content\r\n\r\n"), Ok(whole(204, b"")));
    assert_eq!(
        all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
        Ok(whole(404, b""))
    );
}

#[test]
fn chunks_are_joined() {
    let text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n";
    assert_eq!(all(text), Ok(whole(200, b"hello")));
}

#[test]
fn an_answer_without_a_length_ends_with_the_connection() {
    assert_eq!(
        until_close(b"HTTP/1.0 200 OK\r\n\r\nhello"),
        Ok(whole(200, b"hello"))
    );
    assert_eq!(
        all(b"HTTP/1.0 200 OK\r\n\r\nhello"),
        Ok(Progress::Incomplete)
    );
}

#[test]
fn interim_answers_are_skipped() {
    let text = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    assert_eq!(all(text), Ok(whole(200, b"x")));
}

#[test]
fn an_answer_cut_short_is_never_taken_for_a_whole_one() {
    for text in [
        &b""[..],
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ] {
        assert_eq!(until_close(text), Err(Malformed::Truncated), "{text:?}");
    }
}

#[test]
fn a_huge_answer_is_refused_before_it_is_read() {
    let declared = b"HTTP/1.1 200 OK\r\nContent-Length: 16777217\r\n\r\n";
    assert_eq!(all(declared), Err(Malformed::TooLarge));
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n";
    assert_eq!(all(chunk), Err(Malformed::TooLarge));
    let mut streamed = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    streamed.resize(streamed.len() + MAX_BODY + 1, b'x');
    assert_eq!(all(&streamed), Err(Malformed::TooLarge));
}

#[test]
fn headers_without_end_are_refused() {
    let mut framing = Framing::default();
    let mut result = framing.push(b"HTTP/1.1 200 OK\r\nX: ");
    for _ in 0..100 {
        if result != Ok(Progress::Incomplete) {
            break;
        }
        result = framing.push(&[b'x'; 1024]);
    }
    assert!(matches!(result, Err(Malformed::Head(_))), "{result:?}");
}

#[test]
fn an_answer_that_is_not_http_is_reported_as_such() {
    assert!(matches!(
        all(b"SSH-2.0-OpenSSH_9.2\r\n"),
        Err(Malformed::Head(_))
    ));
    let wrong = b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n";
    assert!(matches!(all(wrong), Err(Malformed::Head(_))));
    let wrong = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    assert_eq!(all(wrong), Err(Malformed::Chunk));
}

fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut text = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n".to_vec();
    for chunk in body.chunks(size) {
        text.extend(format!("{:x}\r\n", chunk.len()).bytes());
        text.extend(chunk);
        text.extend(b"\r\n");
    }
    text.extend(b"0\r\n\r\n");
    text
}

proptest! {
    #[test]
    fn any_division_into_pieces_gives_the_same_answer(
        body in prop::collection::vec(any::<u8>(), 0..400),
        chunk in 1usize..50, piece in 1usize..60, in_chunks: bool,
    ) {
        let text = if in_chunks {
            chunked(&body, chunk)
        } else {
            let mut text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
            text.extend(&body);
            text
        };
        let mut framing = Framing::default();
        let mut last = Progress::Incomplete;
        for bytes in text.chunks(piece) {
            last = framing.push(bytes).unwrap();
            if last != Progress::Incomplete {
                break;
            }
        }
        prop_assert_eq!(last, whole(200, &body));
    }

    #[test]
    fn any_bytes_are_judged_without_a_panic(
        head in "HTTP/1.[01] [0-9]{3} OK\r\n((Content-Length: [0-9]{1,3}|Transfer-Encoding: chunked)\r\n)?\r\n",
        tail in prop::collection::vec(any::<u8>(), 0..200), raw: bool,
    ) {
        let mut text = if raw { Vec::new() } else { head.into_bytes() };
        text.extend(tail);
        let _ = until_close(&text);
    }
}
