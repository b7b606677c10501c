//! One request to the upstream and its response, as a state machine. Pure: no socket, no clock.

use crate::buffer::Buffer;
use crate::message::body::{BodyReader, Framing};
use crate::message::{MAX_FIELDS, MAX_HEAD_BYTES, Method, Request, Status, fields};
use std::io::Write as _;

/// Longest response that is forwarded: it is held whole, because the transform needs it whole.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;

/// Why there is no response to forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NotConfigured,
    NoAddress,
    NoConnection,
    /// The connection ended before the response was complete.
    Lost,
    Malformed,
    TimedOut,
}

impl Fault {
    pub fn status(self) -> Status {
        match self {
            Self::TimedOut => Status::GATEWAY_TIMEOUT,
            Self::NotConfigured
            | Self::NoAddress
            | Self::NoConnection
            | Self::Lost
            | Self::Malformed => Status::BAD_GATEWAY,
        }
    }

    pub fn message(self) -> &'static str {
        match self {
            Self::NotConfigured => "no upstream is configured: give --upstream HOST:PORT",
            Self::NoAddress => "the upstream's name has no address",
            Self::NoConnection => "the upstream cannot be reached",
            Self::Lost => "the upstream closed the connection before its answer was complete",
            Self::Malformed => "the upstream's answer is not HTTP/1.1 or is longer than 8 MiB",
            Self::TimedOut => "the upstream did not answer in time",
        }
    }
}

/// The upstream's response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forwarded {
    code: u16,
    /// The fields that are passed on, as lines.
    pub fields: Vec<u8>,
    pub body: Vec<u8>,
    /// Whether the connection can carry another exchange.
    pub reusable: bool,
}

impl Forwarded {
    pub fn status(&self) -> Status {
        Status::from_code(self.code)
    }
}

/// An exchange under way.
#[derive(Debug)]
pub(crate) struct Exchange {
    request: Vec<u8>,
    sent: usize,
    method: Method,
    input: Buffer,
    body: Option<BodyReader>,
    answer: Forwarded,
}

impl Exchange {
    /// The client's request, as it is sent to the upstream.
    pub fn new(request: &Request, authority: &str) -> Self {
        let mut bytes = Vec::with_capacity(256 + request.end_to_end.len() + request.body.len());
        let method = request.method;
        // Writing to memory does not fail.
        let _ = write!(bytes, "{} {} HTTP/1.1\r\n", method.name(), request.target);
        let _ = write!(bytes, "Host: {authority}\r\nVia: 1.1 wasmbench\r\n");
        bytes.extend_from_slice(&request.end_to_end);
        if method == Method::Post || !request.body.is_empty() {
            let _ = write!(bytes, "Content-Length: {}\r\n", request.body.len());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&request.body);
        Self {
            request: bytes,
            sent: 0,
            method,
            input: Buffer::default(),
            body: None,
            answer: Forwarded::default(),
        }
    }

    /// True if sending the request a second time does no harm.
    pub fn is_idempotent(&self) -> bool {
        self.method != Method::Post
    }

    pub fn unsent(&self) -> &[u8] {
        &self.request[self.sent..]
    }

    pub fn sent(&mut self, count: usize) {
        self.sent += count;
    }

    /// Starts again from the beginning, to be sent on another connection.
    pub fn rewind(&mut self) {
        self.sent = 0;
    }

    /// True as long as no byte of the response has arrived.
    pub fn is_unanswered(&self) -> bool {
        self.body.is_none() && self.input.is_empty() && self.answer.code == 0
    }

    /// Takes bytes from the upstream. `Some`: the response is complete.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<Option<Forwarded>, Fault> {
        self.input.tail().extend_from_slice(bytes);
        while self.body.is_none() {
            if !self.read_head()? {
                return Ok(None);
            }
        }
        let Some(reader) = &mut self.body else {
            return Ok(None);
        };
        let (used, complete) = reader
            .read(self.input.unread(), &mut self.answer.body)
            .map_err(|_| Fault::Malformed)?;
        self.input.consume(used);
        if !complete {
            return Ok(None);
        }
        let surplus = !self.input.is_empty() || !self.unsent().is_empty();
        self.answer.reusable &= !surplus;
        Ok(Some(std::mem::take(&mut self.answer)))
    }

    /// The upstream closed the connection.
    pub fn end_of_input(&mut self) -> Result<Forwarded, Fault> {
        match &self.body {
            Some(reader) if reader.may_end_with_connection() => {
                self.answer.reusable = false;
                Ok(std::mem::take(&mut self.answer))
            }
            _ => Err(Fault::Lost),
        }
    }

    /// True if one head was read: the response's, or an interim one (1xx), which is dropped.
    fn read_head(&mut self) -> Result<bool, Fault> {
        let unread = self.input.unread();
        let mut storage = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut parsed = httparse::Response::new(&mut storage);
        let length = match parsed.parse(unread) {
            Ok(httparse::Status::Complete(length)) if length <= MAX_HEAD_BYTES => length,
            Ok(httparse::Status::Partial) if unread.len() <= MAX_HEAD_BYTES => return Ok(false),
            _ => return Err(Fault::Malformed),
        };
        let code = parsed.code.unwrap_or_default();
        if (100..200).contains(&code) && code != 101 {
            self.input.consume(length);
            return Ok(true);
        }
        // 101 would be the response to an Upgrade, which is never forwarded.
        if !(200..1000).contains(&code) {
            return Err(Fault::Malformed);
        }
        let declared = fields::framing(parsed.headers).map_err(|_| Fault::Malformed)?;
        let bodiless = self.method == Method::Head || Status::from_code(code).forbids_body();
        let framing = if bodiless {
            Framing::Length(0)
        } else {
            declared.unwrap_or(Framing::UntilClose)
        };
        let lasting = parsed.version == Some(1) && !fields::connection_has(parsed.headers, "close");
        fields::append_end_to_end(parsed.headers, &mut self.answer.fields);
        self.answer.code = code;
        self.answer.reusable = lasting && framing != Framing::UntilClose;
        self.body = Some(BodyReader::new(framing, MAX_ANSWER_BYTES).map_err(|_| Fault::Malformed)?);
        self.input.consume(length);
        Ok(true)
    }
}
