//! A server that does as little as an HTTP/1.1 server can: it reads to the end of a request and
//! always writes the same answer. One thread per connection, no parsing, no timers. What the
//! generator achieves against it does not depend on the subject.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use wasmbench_api::run::ConnectionReuse;

/// Of each connection, for what it reads: a large body takes few reads.
const BUFFER_BYTES: usize = 16 * 1024;
/// Enough for a connection's thread, which makes no deep calls.
const STACK_BYTES: usize = 64 * 1024;
/// The end of a request's head.
const END: &[u8; 4] = b"\r\n\r\n";

/// A running responder. It ends when it is dropped, and its connections when their clients close
/// them.
#[derive(Debug)]
pub struct Responder {
    /// Where it listens.
    pub address: SocketAddr,
    stopped: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

/// What every connection needs.
#[derive(Clone)]
struct Answer {
    bytes: Arc<[u8]>,
    reuse: ConnectionReuse,
    /// Bytes of the body of each request.
    request_body: usize,
}

/// How far a request has been read.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// So many bytes of the end of its head.
    Head(usize),
    /// So many bytes of its body are missing.
    Body(usize),
}

impl Reading {
    /// Reads on; returns whether the request ends with these bytes.
    fn read(&mut self, bytes: &[u8], body: usize) -> bool {
        let mut rest = bytes;
        while let Self::Head(matched) = *self {
            let Some((byte, after)) = rest.split_first() else {
                return false;
            };
            rest = after;
            let again = usize::from(*byte == END[0]);
            let matched = if *byte == END[matched] {
                matched + 1
            } else {
                again
            };
            *self = if matched == END.len() {
                Self::Body(body)
            } else {
                Self::Head(matched)
            };
        }
        let Self::Body(missing) = *self else {
            return false;
        };
        *self = match missing.saturating_sub(rest.len()) {
            0 => Self::Head(0),
            missing => Self::Body(missing),
        };
        matches!(self, Self::Head(_))
    }
}

impl Responder {
    /// Listens on the loopback, on a port of the kernel's choice, and answers requests with bodies of
    /// `request_body` bytes with `status` and `body_bytes` bytes.
    pub fn start(
        status: u16,
        body_bytes: usize,
        reuse: ConnectionReuse,
        request_body: usize,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let answer = Answer {
            bytes: answer(status, body_bytes).into(),
            reuse,
            request_body,
        };
        let stopped = Arc::new(AtomicBool::new(false));
        let also_stopped = Arc::clone(&stopped);
        let accepting = thread::Builder::new()
            .name("responder".to_owned())
            .spawn(move || accept(&listener, &also_stopped, &answer))?;
        Ok(Self {
            address,
            stopped,
            accepting: Some(accepting),
        })
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
        // The accepting thread waits for a connection: this is its last.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

fn answer(status: u16, body_bytes: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} OK\r\nContent-Length: {body_bytes}\r\n\r\n");
    let mut answer = head.into_bytes();
    answer.resize(answer.len() + body_bytes, b'x');
    answer
}

fn accept(listener: &TcpListener, stopped: &AtomicBool, answer: &Answer) {
    for stream in listener.incoming() {
        if stopped.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let answer = answer.clone();
        // Without a thread, the connection is closed: the generator counts an error, and there is no
        // ceiling.
        let _ = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || serve(stream, &answer));
    }
}

/// Serves until the client closes or, with a connection per request, after the first answer. An
/// error also ends the connection.
fn serve(mut stream: TcpStream, answer: &Answer) {
    // On the heap: the stack is small.
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut reading = Reading::Head(0);
    let _ = stream.set_nodelay(true);
    while let Ok(read) = stream.read(&mut buffer) {
        if read == 0 {
            return;
        }
        if !reading.read(&buffer[..read], answer.request_body) {
            continue;
        }
        if stream.write_all(&answer.bytes).is_err() || answer.reuse == ConnectionReuse::PerRequest {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(stream: &mut TcpStream, pieces: &[&[u8]], expected: usize) -> String {
        for piece in pieces {
            stream.write_all(piece).unwrap();
            thread::sleep(std::time::Duration::from_millis(5));
        }
        let mut answer = vec![0; expected];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }

    #[test]
    fn a_connection_is_answered_repeatedly_however_a_request_is_split() {
        let responder = Responder::start(200, 5, ConnectionReuse::KeepAlive, 0).unwrap();
        let mut stream = TcpStream::connect(responder.address).unwrap();
        let expected = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nxxxxx";
        for pieces in [
            &[b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" as &[u8]] as &[&[u8]],
            &[b"GET / HTTP/1.1\r", b"\n\r\n"],
        ] {
            assert_eq!(get(&mut stream, pieces, expected.len()), expected);
        }
    }

    #[test]
    fn a_request_ends_with_its_body_wherever_it_is_split() {
        let request = b"POST / HTTP/1.1\r\nA: \r\r\n\r\nab\r\n\r\n";
        for size in 1..=request.len() {
            let mut reading = Reading::Head(0);
            let pieces: Vec<bool> = request
                .chunks(size)
                .map(|piece| reading.read(piece, 6))
                .collect();
            let (last, others) = pieces.split_last().unwrap();
            assert!(
                *last && !others.contains(&true),
                "pieces of {size}: {pieces:?}"
            );
        }
    }

    #[test]
    fn a_connection_per_request_is_closed_after_its_answer() {
        let responder = Responder::start(204, 0, ConnectionReuse::PerRequest, 0).unwrap();
        let mut stream = TcpStream::connect(responder.address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
    }

    #[test]
    fn nothing_listens_after_the_end() {
        let responder = Responder::start(200, 5, ConnectionReuse::KeepAlive, 0).unwrap();
        let address = responder.address;
        drop(responder);
        assert!(TcpStream::connect(address).is_err());
    }
}
