//! The one address a probe talks to: the subject's. Pure.
//!
//! The request is written here for everybody who sends it, the probe and the load generator, so that
//! the two ask for the same thing. Characters that a request line should not hold are escaped.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use wasmbench_api::run::ConnectionReuse;

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Address and port.
    pub address: SocketAddr,
    /// Path and query as in the request line.
    pub path: String,
    /// JSON that is sent with `POST`; absent for a `GET`.
    pub body: Option<Arc<[u8]>>,
}

/// Why a path is not valid.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// It does not begin with `/`.
    #[error("the path must begin with '/'")]
    NoSlash,
    /// It has a character that is not allowed in a request line.
    #[error("the path has a character that is not printable ASCII")]
    NotPrintable,
}

impl Target {
    /// Checks and normalises the path.
    pub fn new(address: IpAddr, port: u16, path: &str) -> Result<Self, Error> {
        Ok(Self {
            address: SocketAddr::new(address, port),
            path: normalised(path)?,
            body: None,
        })
    }

    /// Returns the same target with a body to send.
    #[must_use]
    pub fn posting(self, body: Arc<[u8]>) -> Self {
        Self {
            body: Some(body),
            ..self
        }
    }

    /// The value of the `Host` header.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The URL, for people.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    /// The request as it is sent.
    pub fn request(&self, sender: Sender) -> Vec<u8> {
        let (path, host, version) = (&self.path, self.host(), env!("CARGO_PKG_VERSION"));
        let (name, reuse) = match sender {
            Sender::Probe(reuse) => ("probe", reuse),
            Sender::Generator(reuse) => ("generator", reuse),
        };
        let close = match reuse {
            ConnectionReuse::PerRequest => "Connection: close\r\n",
            ConnectionReuse::KeepAlive => "",
        };
        let common = format!(
            "{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: wasmbench-{name}/{version}\r\n{close}"
        );
        let Some(body) = &self.body else {
            return format!("GET {common}\r\n").into_bytes();
        };
        let length = body.len();
        let head = format!(
            "POST {common}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }
}

/// Who sends a request: a service can tell the two apart by the `User-Agent`.
#[derive(Clone, Copy, Debug)]
pub enum Sender {
    /// The probe itself.
    Probe(ConnectionReuse),
    /// The load generator.
    Generator(ConnectionReuse),
}

fn normalised(path: &str) -> Result<String, Error> {
    if !path.starts_with('/') {
        return Err(Error::NoSlash);
    }
    if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::NotPrintable);
    }
    let bytes = path.as_bytes();
    let mut out = String::with_capacity(path.len());
    for (at, &byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1..at + 3);
        let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
        let escaped = byte == b'%' && next.is_some_and(is_hex);
        // What may stand in a path and in a query alike.
        if escaped || byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/?[]".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}"); // writing to a String cannot fail
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> String {
        normalised(text).unwrap()
    }

    #[test]
    fn usual_paths_stay_as_they_are() {
        for same in [
            "/",
            "/compute?iters=20000&x=a%20b",
            "/a/b;c=1,2/~u/(x)!",
            "//double",
            "/[1]",
        ] {
            assert_eq!(path(same), same);
        }
    }

    #[test]
    fn characters_unfit_for_a_request_line_are_escaped() {
        assert_eq!(path("/a#b"), "/a%23b");
        assert_eq!(path("/{uuid}"), "/%7Buuid%7D");
        assert_eq!(path("/100%"), "/100%25");
        assert_eq!(path("/%zz"), "/%25zz");
        assert_eq!(path("/%2"), "/%252");
        assert_eq!(path("/\"<>\\^`|"), "/%22%3C%3E%5C%5E%60%7C");
    }

    #[test]
    fn a_path_that_cannot_stand_in_a_request_line_is_refused() {
        assert_eq!(normalised(""), Err(Error::NoSlash));
        assert_eq!(normalised("-x"), Err(Error::NoSlash));
        assert_eq!(normalised("/a b"), Err(Error::NotPrintable));
        assert_eq!(normalised("/a\r\nHost: b"), Err(Error::NotPrintable));
        assert_eq!(normalised("/ä"), Err(Error::NotPrintable));
    }

    #[test]
    fn addresses_of_both_families_make_a_url() {
        let url = |address: &str| {
            Target::new(address.parse().unwrap(), 80, "/x")
                .unwrap()
                .url()
        };
        assert_eq!(url("10.0.0.1"), "http://10.0.0.1:80/x");
        assert_eq!(url("fd00::1"), "http://[fd00::1]:80/x");
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing_more(text in "/[!-~]{0,60}") {
            let once = path(&text);
            prop_assert_eq!(path(&once), once);
        }

        #[test]
        fn any_text_gives_a_path_or_an_error(text in ".{0,40}") {
            if let Ok(path) = normalised(&text) {
                let clean = path.starts_with('/') && !path.contains(['#', '{', ' ', '\r']);
                prop_assert!(clean, "{}", path);
            }
        }
    }
}
