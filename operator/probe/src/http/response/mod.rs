//! Turns the bytes of an HTTP/1 response into a status and a body. Pure: it is fed and never reads
//! by itself.

use httparse::Status;
use wasmbench_api::run::Method;
use wasmbench_model::wire::scout::BodyFraming;

/// Largest body that is read: answers are compared here, not downloads.
pub const MAX_BODY: usize = 16 * 1024 * 1024;
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 128;

/// How a server begins that got something else than a TLS handshake: the type of an alert, and the
/// version, which is 3.something.
const ALERT: [u8; 2] = [21, 3];
/// Bytes of a refusal in which a server says that it wants TLS.
const REFUSAL: usize = 1024;

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Body, decoded from chunks.
    pub body: Vec<u8>,
    /// What the answer says about its type; empty if it says nothing.
    pub content_type: String,
    /// Where the answer sends whoever asks, if it is a redirect.
    pub location: Option<String>,
}

impl Response {
    /// Whether the server refuses a request because it came without TLS, as nginx, Go and Apache do.
    pub fn wants_tls(&self) -> bool {
        let beginning = &self.body[..self.body.len().min(REFUSAL)];
        let text = String::from_utf8_lossy(beginning).to_ascii_lowercase();
        let known = ["https port", "https server", "ssl-enabled server"];
        self.status == 400 && known.iter().any(|known| text.contains(known))
    }
}

/// What came is not an answer that can be judged.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Malformed {
    /// Not HTTP/1.
    #[error("what came is not an HTTP/1 answer: {0}")]
    Head(String),
    /// A TLS record.
    #[error("what comes is TLS: set container.scheme to HTTPS, or name the port without TLS")]
    Tls,
    /// A frame of HTTP/2.
    #[error(
        "what comes is HTTP/2 alone: let the service answer HTTP/1.1, too, or name a port that does"
    )]
    Http2,
    /// Chunks without a readable length.
    #[error("the answer's chunks have no readable length")]
    Chunk,
    /// Above the limit.
    #[error("the answer is larger than 16 MiB")]
    TooLarge,
    /// The connection ended first.
    #[error("the connection was closed before the answer was complete")]
    Truncated,
}

/// How much of an answer has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    Incomplete,
    /// All of it is there.
    Complete(Response),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Exactly(usize),
    Chunked,
    UntilClose,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    status: u16,
    length: Length,
    /// Whether it announces that the connection ends.
    closes: bool,
}

/// Takes an answer piece by piece.
#[derive(Debug, Default)]
pub struct Framing {
    /// Whether the request asked for the head alone.
    is_of_head: bool,
    head: Option<Head>,
    /// What is not yet decoded: the head first, then the body or its next chunk, and once the
    /// answer is complete what came after it.
    pending: Vec<u8>,
    body: Vec<u8>,
    content_type: String,
    location: Option<String>,
}

impl Framing {
    /// The framing of an answer to a request with this method.
    pub fn new(method: Method) -> Self {
        Self {
            is_of_head: method == Method::Head,
            ..Self::default()
        }
    }

    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Progress, Malformed> {
        self.pending.extend_from_slice(bytes);
        let head = match self.head {
            Some(head) => head,
            None => match self.read_head()? {
                Some(head) => *self.head.insert(head),
                None => return Ok(Progress::Incomplete),
            },
        };
        let complete = match head.length {
            Length::Exactly(length) => {
                self.take(length.saturating_sub(self.body.len()))?;
                self.body.len() == length
            }
            Length::Chunked => self.take_chunks()?,
            Length::UntilClose => {
                self.take(usize::MAX)?;
                false
            }
        };
        Ok(if complete {
            self.complete(head.status)
        } else {
            Progress::Incomplete
        })
    }

    /// Ends the answer because the connection was closed.
    pub fn end(&mut self) -> Result<Progress, Malformed> {
        match self.head {
            Some(Head {
                status,
                length: Length::UntilClose,
                ..
            }) => Ok(self.complete(status)),
            _ => Err(Malformed::Truncated),
        }
    }

    fn complete(&mut self, status: u16) -> Progress {
        Progress::Complete(Response {
            status,
            body: std::mem::take(&mut self.body),
            content_type: std::mem::take(&mut self.content_type),
            location: self.location.take(),
        })
    }

    /// How the end of the answer is marked; `None` before its head has come.
    pub fn framing(&self) -> Option<BodyFraming> {
        let head = self.head?;
        Some(match head.length {
            Length::Exactly(0) if self.is_of_head || has_no_body(head.status) => {
                BodyFraming::NoBody
            }
            Length::Exactly(_) => BodyFraming::Length,
            Length::Chunked => BodyFraming::Chunked,
            Length::UntilClose => BodyFraming::UntilClose,
        })
    }

    /// Whether anything of the answer has come.
    pub fn has_begun(&self) -> bool {
        self.head.is_some() || !self.pending.is_empty()
    }

    /// Whether the answer announces that the connection ends.
    pub fn closes(&self) -> bool {
        self.head.is_some_and(|head| head.closes)
    }

    /// Takes bytes that came after the complete answer.
    pub fn push_after(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Whether more came than the complete answer and its trailers.
    pub fn has_more(&self) -> bool {
        let trailers = match self.head.map(|head| head.length) {
            Some(Length::Chunked) => trailers(&self.pending),
            Some(Length::Exactly(_) | Length::UntilClose) | None => 0,
        };
        self.pending.len() > trailers
    }

    /// Moves up to `count` bytes into the body.
    fn take(&mut self, count: usize) -> Result<(), Malformed> {
        let count = count.min(self.pending.len());
        if self.body.len() + count > MAX_BODY {
            return Err(Malformed::TooLarge);
        }
        self.body.extend(self.pending.drain(..count));
        Ok(())
    }

    /// Decodes the complete chunks; returns whether the last one is among them. Trailers are not
    /// waited for, because they are not used.
    fn take_chunks(&mut self) -> Result<bool, Malformed> {
        // Removed at once: there may be as many chunks as bytes.
        let mut taken = 0;
        let is_last = self.decode_chunks(&mut taken);
        self.pending.drain(..taken);
        is_last
    }

    /// The same, without removing what was decoded: `taken` bytes.
    fn decode_chunks(&mut self, taken: &mut usize) -> Result<bool, Malformed> {
        loop {
            let pending = &self.pending[*taken..];
            match httparse::parse_chunk_size(pending).map_err(|_| Malformed::Chunk)? {
                Status::Partial if pending.len() > MAX_HEAD => return Err(Malformed::Chunk),
                Status::Partial => return Ok(false),
                Status::Complete((start, 0)) => {
                    self.pending.drain(..start);
                    return Ok(true);
                }
                Status::Complete((start, length)) => {
                    let room = MAX_BODY - self.body.len();
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    if length > room {
                        return Err(Malformed::TooLarge);
                    }
                    let end = start + length;
                    if pending.len() < end + 2 {
                        return Ok(false);
                    }
                    if &pending[end..end + 2] != b"\r\n" {
                        return Err(Malformed::Chunk);
                    }
                    self.body.extend_from_slice(&pending[start..end]);
                    *taken += end + 2;
                }
            }
        }
    }

    /// Reads the head, past any interim responses (`100 Continue`).
    fn read_head(&mut self) -> Result<Option<Head>, Malformed> {
        if self.pending.starts_with(&ALERT) {
            return Err(Malformed::Tls);
        }
        if is_http2(&self.pending) {
            return Err(Malformed::Http2);
        }
        loop {
            let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            let parsed = response.parse(&self.pending);
            let size = match parsed.map_err(|error| Malformed::Head(error.to_string()))? {
                Status::Complete(size) => size,
                Status::Partial if self.pending.len() > MAX_HEAD => {
                    return Err(Malformed::Head(
                        "its headers are larger than 64 KiB".to_owned(),
                    ));
                }
                Status::Partial => return Ok(None),
            };
            let status = response.code.unwrap_or_default();
            let length = if self.is_of_head {
                Length::Exactly(0)
            } else {
                length(status, response.headers)?
            };
            let closes = closes(response.version, response.headers);
            let content_type = value("content-type", response.headers);
            let location = value("location", response.headers);
            self.pending.drain(..size);
            if !(100..200).contains(&status) {
                self.content_type = content_type.unwrap_or_default();
                self.location = location.filter(|_| (300..400).contains(&status));
                return Ok(Some(Head {
                    status,
                    length,
                    closes,
                }));
            }
        }
    }
}

/// The value of a header.
fn value(name: &str, headers: &[httparse::Header<'_>]) -> Option<String> {
    let mut headers = headers.iter();
    let found = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
    Some(String::from_utf8_lossy(found.value).trim().to_owned())
}

/// Whether this is a SETTINGS frame, with which a server that speaks only HTTP/2 begins.
fn is_http2(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, _, 4, _, 0, 0, 0, 0, ..])
}

/// Whether a status has no body, whatever its headers are.
fn has_no_body(status: u16) -> bool {
    matches!(status, 100..=199 | 204 | 304)
}

/// Bytes of a complete trailer section, which ends with an empty line; all bytes of an incomplete
/// one.
fn trailers(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\r\n") {
        return 2;
    }
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    end.map_or(bytes.len(), |end| end + 4)
}

/// Whether the connection ends after the answer, by RFC 9112 section 9.3.
fn closes(version: Option<u8>, headers: &[httparse::Header<'_>]) -> bool {
    let options: Vec<String> = headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case("connection"))
        .map(|header| String::from_utf8_lossy(header.value).to_ascii_lowercase())
        .collect();
    let has = |wanted: &str| {
        let mut all = options.iter().flat_map(|one| one.split(','));
        all.any(|option| option.trim() == wanted)
    };
    has("close") || (version == Some(0) && !has("keep-alive"))
}

/// Length of a body, by RFC 9112 section 6.3.
fn length(status: u16, headers: &[httparse::Header<'_>]) -> Result<Length, Malformed> {
    if has_no_body(status) {
        return Ok(Length::Exactly(0));
    }
    let values = |name: &'static str| {
        headers
            .iter()
            .filter(move |h| h.name.eq_ignore_ascii_case(name))
            .map(|h| h.value)
    };
    if let Some(coding) = values("transfer-encoding").next_back() {
        let coding = String::from_utf8_lossy(coding).to_ascii_lowercase();
        let chunked = coding
            .rsplit(',')
            .next()
            .is_some_and(|last| last.trim() == "chunked");
        return Ok(if chunked {
            Length::Chunked
        } else {
            Length::UntilClose
        });
    }
    let Some(value) = values("content-length").next() else {
        return Ok(Length::UntilClose);
    };
    let length = std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| Malformed::Head("its Content-Length is no number".into()))?;
    if length > MAX_BODY {
        Err(Malformed::TooLarge)
    } else {
        Ok(Length::Exactly(length))
    }
}

#[cfg(test)]
mod tests;
