//! The head of a request: from bytes to a [`Request`], or to the reason for refusing it.

use super::body::Framing;
use super::{MAX_FIELDS, MAX_HEAD_BYTES, Rejection, Status, fields};

/// The methods that are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    #[default]
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
        }
    }
}

/// One request. A connection has a single one and refills it for each request, so that a small
/// request allocates nothing.
#[derive(Debug, Default)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) target: String,
    /// The fields that a proxy passes on, as lines.
    pub(crate) end_to_end: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// False if the client requested the end of the connection, or speaks HTTP/1.0.
    pub(crate) keep_alive: bool,
}

impl Request {
    /// A request that another server has read. The target is the path with the query.
    pub fn new(method: Method, target: String, body: Vec<u8>) -> Self {
        Self {
            method,
            target,
            body,
            ..Self::default()
        }
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(self.target.as_str(), |(path, _)| path)
    }

    /// The first value of this name in the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query
            .split('&')
            .find_map(|pair| match pair.split_once('=') {
                Some((key, value)) => (key == name).then_some(value),
                None => (pair == name).then_some(""),
            })
    }

    /// The body, decoded if it came in chunks.
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// What the head contains in addition to the request itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Its length in bytes.
    pub length: usize,
    pub framing: Framing,
    /// The client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
}

/// Reads a head from the beginning of `input` into `request`. `None`: more bytes are needed.
pub(crate) fn parse(input: &[u8], request: &mut Request) -> Result<Option<Head>, Rejection> {
    let mut storage = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut storage);
    let too_large = Rejection::new(
        Status::HEAD_TOO_LARGE,
        "the request line and the header fields are longer than 16 KiB or more than 64",
    );
    let length = match parsed.parse(input) {
        Ok(httparse::Status::Complete(length)) if length <= MAX_HEAD_BYTES => length,
        Ok(httparse::Status::Partial) if input.len() <= MAX_HEAD_BYTES => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(too_large),
        Err(httparse::Error::Version) => {
            let message = "only HTTP/1.0 and HTTP/1.1 are spoken here";
            return Err(Rejection::new(Status::VERSION_NOT_SUPPORTED, message));
        }
        Err(_) => return Err(Rejection::bad("this is not an HTTP request")),
    };
    let modern = parsed.version == Some(1);
    check_host(parsed.headers, modern)?;
    request.method = method(parsed.method)?;
    set_target(parsed.path.unwrap_or_default(), &mut request.target)?;
    request.keep_alive = modern && !fields::connection_has(parsed.headers, "close");
    request.end_to_end.clear();
    fields::append_end_to_end(parsed.headers, &mut request.end_to_end);
    request.body.clear();
    let framing = fields::framing(parsed.headers)?.unwrap_or(Framing::Length(0));
    if framing == Framing::Chunked && !modern {
        return Err(Rejection::bad("HTTP/1.0 has no Transfer-Encoding"));
    }
    let expects_continue = modern && expects_continue(parsed.headers)?;
    Ok(Some(Head {
        length,
        framing,
        expects_continue,
    }))
}

fn check_host(headers: &[httparse::Header<'_>], modern: bool) -> Result<(), Rejection> {
    match fields::values(headers, "host").count() {
        1 => Ok(()),
        0 if !modern => Ok(()),
        0 => Err(Rejection::bad("an HTTP/1.1 request has a Host field")),
        _ => Err(Rejection::bad("Host is given twice")),
    }
}

fn method(name: Option<&str>) -> Result<Method, Rejection> {
    match name {
        Some("GET") => Ok(Method::Get),
        Some("HEAD") => Ok(Method::Head),
        Some("POST") => Ok(Method::Post),
        _ => Err(Rejection::new(
            Status::METHOD_NOT_ALLOWED,
            "the methods here are GET, HEAD and POST",
        )),
    }
}

/// Keeps the path and the query. A client that talks to a proxy sends the whole URI.
fn set_target(given: &str, target: &mut String) -> Result<(), Rejection> {
    let scheme = given
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let origin = match scheme {
        Some(scheme) => {
            let rest = &given[scheme.len()..];
            rest.find(['/', '?']).map_or("/", |start| &rest[start..])
        }
        None => given,
    };
    target.clear();
    if origin.starts_with('?') {
        target.push('/');
    } else if !origin.starts_with('/') {
        return Err(Rejection::bad("the request target begins with a slash"));
    }
    target.push_str(origin);
    Ok(())
}

fn expects_continue(headers: &[httparse::Header<'_>]) -> Result<bool, Rejection> {
    match fields::values(headers, "expect").next() {
        None => Ok(false),
        Some(value) if value.eq_ignore_ascii_case(b"100-continue") => Ok(true),
        Some(_) => Err(Rejection::new(
            Status::EXPECTATION_FAILED,
            "100-continue is the only expectation that is understood",
        )),
    }
}
