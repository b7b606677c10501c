//! A client's connection as a state machine: bytes in, requests out; responses in, bytes out.
//!
//! Pure: no socket and no clock, so that every split of every byte stream can be tested. The server
//! moves the bytes and reports when a wait took too long.

use crate::buffer::Buffer;
use crate::message::body::BodyReader;
use crate::message::chunked::Fault;
use crate::message::request::{self, Head};
use crate::message::response::{self, Answer, Manner};
use crate::message::{MAX_HEAD_BYTES, MAX_REQUEST_BODY_BYTES, Method, Rejection, Request, Status};

/// Unread bytes above which nothing more is read: a head and a part of the next.
const INPUT_HIGH_WATER: usize = 2 * MAX_HEAD_BYTES;

/// Unsent bytes above which no further pipelined request is taken.
const OUTPUT_HIGH_WATER: usize = 64 * 1024;

/// Bytes that a refused client may still send before the connection is cut.
const DISCARDED_BYTES: usize = 16 * 1024 * 1024;

/// What the connection waits for. The server has a time limit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The first byte of a request.
    Request,
    /// The rest of a request.
    RestOfRequest,
    /// The response from the workload or the upstream.
    Answer,
    /// The client to take bytes.
    Write,
    /// A refused client to read the reason and to close. Until then its bytes are dropped: closing
    /// a socket with unread bytes sends a reset, which can overtake the response.
    Goodbye,
    /// Nothing: the socket is to be closed.
    Over,
}

#[derive(Debug)]
enum Phase {
    Head,
    Body(BodyReader),
    Answering,
    /// The last response is queued. `lingering` if the client may still be sending.
    Closing {
        lingering: bool,
    },
}

/// One client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    input: Buffer,
    output: Buffer,
    request: Request,
    phase: Phase,
    input_ended: bool,
    /// The configured mode in which each response ends the connection.
    close_always: bool,
    /// Length of the input for which the head is known to be incomplete.
    examined: usize,
    discarded: usize,
    progress: u64,
}

impl Connection {
    pub fn new(close_always: bool) -> Self {
        Self {
            input: Buffer::default(),
            output: Buffer::default(),
            request: Request::default(),
            phase: Phase::Head,
            input_ended: false,
            close_always,
            examined: 0,
            discarded: 0,
            progress: 0,
        }
    }

    /// Takes bytes from the client.
    pub fn receive(&mut self, bytes: &[u8]) {
        if let Phase::Closing { .. } = self.phase {
            self.discarded += bytes.len();
        } else {
            self.input.tail().extend_from_slice(bytes);
        }
    }

    /// The client sends no more, but may still read.
    pub fn end_of_input(&mut self) {
        self.input_ended = true;
    }

    /// Continues until a request is complete (`true`, see [`Connection::request`]) or more bytes
    /// are needed.
    pub fn advance(&mut self) -> bool {
        while self.wants_answers() {
            let step = match self.phase {
                Phase::Head => self.read_head(),
                Phase::Body(_) => self.read_body(),
                Phase::Answering | Phase::Closing { .. } => return false,
            };
            match step {
                Ok(true) if matches!(self.phase, Phase::Answering) => return true,
                Ok(true) => {}
                Ok(false) => {
                    if self.input_ended {
                        self.truncated();
                    }
                    return false;
                }
                Err(rejection) => self.reject(rejection),
            }
        }
        false
    }

    /// The request that [`Connection::advance`] found.
    pub fn request(&self) -> &Request {
        &self.request
    }

    fn read_head(&mut self) -> Result<bool, Rejection> {
        let unread = self.input.unread();
        // Only a line end can complete a head, so a client that sends byte by byte cannot make the
        // server parse the same head thousands of times.
        let overlong = unread.len() > MAX_HEAD_BYTES;
        if !unread[self.examined..].contains(&b'\n') && !overlong {
            self.examined = unread.len();
            return Ok(false);
        }
        let Some(head) = request::parse(unread, &mut self.request)? else {
            self.examined = unread.len();
            return Ok(false);
        };
        self.examined = 0;
        self.input.consume(head.length);
        self.begin_body(head)?;
        Ok(true)
    }

    fn begin_body(&mut self, head: Head) -> Result<(), Rejection> {
        let mut reader =
            BodyReader::new(head.framing, MAX_REQUEST_BODY_BYTES).map_err(rejection)?;
        let (_, complete) = reader
            .read(&[], &mut self.request.body)
            .map_err(rejection)?;
        if complete {
            self.phase = Phase::Answering;
            return Ok(());
        }
        self.phase = Phase::Body(reader);
        if head.expects_continue && self.input.is_empty() {
            self.output
                .tail()
                .extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        Ok(())
    }

    fn read_body(&mut self) -> Result<bool, Rejection> {
        let Phase::Body(reader) = &mut self.phase else {
            return Ok(false);
        };
        let (used, complete) = reader
            .read(self.input.unread(), &mut self.request.body)
            .map_err(rejection)?;
        self.input.consume(used);
        if complete {
            self.phase = Phase::Answering;
        }
        Ok(complete)
    }

    /// The client stopped sending in the middle of something, or between two requests.
    fn truncated(&mut self) {
        if matches!(self.phase, Phase::Head) && self.input.is_empty() {
            self.phase = Phase::Closing { lingering: false };
        } else {
            self.reject(Rejection::bad("the request ends too early"));
        }
    }

    /// Queues the response to the current request.
    pub fn answer(&mut self, answer: Answer<'_>) {
        let head_only = self.request.method == Method::Head;
        self.finish(answer, head_only, false);
    }

    /// Queues the upstream's response to the current request. For a HEAD request, there is no body
    /// from which its length could be known.
    pub fn answer_forwarded(&mut self, answer: Answer<'_>) {
        let head_only = self.request.method == Method::Head;
        self.finish(answer, head_only, head_only);
    }

    fn finish(&mut self, answer: Answer<'_>, head_only: bool, length_unknown: bool) {
        let close = self.close_always
            || !self.request.keep_alive
            || (self.input_ended && self.input.is_empty());
        response::write(
            answer,
            Manner {
                close,
                head_only,
                length_unknown,
            },
            self.output.tail(),
        );
        self.progress += 1;
        // A client that pipelined more requests gets a clean end as well.
        let lingering = !self.input.is_empty();
        self.phase = if close {
            Phase::Closing { lingering }
        } else {
            Phase::Head
        };
    }

    /// Refuses what the client sent, and ends the connection.
    pub fn reject(&mut self, rejection: Rejection) {
        response::write_rejection(rejection, self.output.tail());
        self.discarded += self.input.len();
        self.input.clear();
        self.phase = Phase::Closing { lingering: true };
    }

    /// Ends a wait that took too long.
    pub fn timed_out(&mut self) {
        match self.wait() {
            Wait::RestOfRequest => self.reject(Rejection::new(
                Status::REQUEST_TIMEOUT,
                "the request did not arrive in time",
            )),
            Wait::Answer => self.reject(Rejection::new(
                Status::GATEWAY_TIMEOUT,
                "the answer took too long",
            )),
            Wait::Request | Wait::Write | Wait::Goodbye | Wait::Over => {
                self.output.clear();
                self.input_ended = true;
                self.phase = Phase::Closing { lingering: false };
            }
        }
    }

    /// The bytes to be sent.
    pub fn unsent(&self) -> &[u8] {
        self.output.unread()
    }

    /// Records that `count` bytes of [`Connection::unsent`] have been sent.
    pub fn sent(&mut self, count: usize) {
        self.output.consume(count);
        self.progress += 1;
    }

    pub fn wait(&self) -> Wait {
        match self.phase {
            _ if !self.output.is_empty() => Wait::Write,
            Phase::Closing { lingering }
                if !lingering || self.input_ended || self.discarded > DISCARDED_BYTES =>
            {
                Wait::Over
            }
            Phase::Closing { .. } => Wait::Goodbye,
            Phase::Answering => Wait::Answer,
            Phase::Head if self.input.is_empty() => Wait::Request,
            Phase::Head | Phase::Body(_) => Wait::RestOfRequest,
        }
    }

    /// Changes whenever the connection makes progress, so that a new wait can be distinguished from
    /// a long one.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// True between a request and its response.
    pub fn awaits_answer(&self) -> bool {
        matches!(self.phase, Phase::Answering)
    }

    /// False while there are too many unsent bytes to take another request.
    pub fn wants_answers(&self) -> bool {
        self.output.len() <= OUTPUT_HIGH_WATER
    }

    /// True if bytes from the client are wanted now.
    pub fn wants_read(&self) -> bool {
        !self.input_ended
            && (self.input.len() < INPUT_HIGH_WATER || matches!(self.phase, Phase::Closing { .. }))
    }
}

fn rejection(fault: Fault) -> Rejection {
    match fault {
        Fault::Malformed => Rejection::bad("the body is not in the chunked coding"),
        Fault::TooLong => Rejection::new(
            Status::CONTENT_TOO_LARGE,
            "the body is longer than 1 MiB, or a line in its chunked coding than 256 bytes",
        ),
    }
}

#[cfg(test)]
mod tests;
