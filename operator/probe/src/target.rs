//! The one address a probe talks to: the subject's. Pure.
//!
//! The request is written here for everybody who sends it, the probe and the load generator, so that
//! the two ask for the same thing. Characters that a request line should not hold are escaped.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use wasmbench_api::run::{ConnectionReuse, Header, Method, Scheme};
use wasmbench_model::wire::sent::Sent;

/// Headers whose value the probe chooses unless the request has its own.
const OWN: [&str; 2] = ["Host", "User-Agent"];

/// Where a subject listens, and how it is spoken to there: all that a connection needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Address and port.
    pub address: SocketAddr,
    /// Whether connections have TLS.
    pub scheme: Scheme,
}

impl Origin {
    /// That with this address, port and scheme.
    pub fn new(address: IpAddr, port: u16, scheme: Scheme) -> Self {
        Self {
            address: SocketAddr::new(address, port),
            scheme,
        }
    }
}

/// Without TLS, as presets are spoken to.
impl From<SocketAddr> for Origin {
    fn from(address: SocketAddr) -> Self {
        Self {
            address,
            scheme: Scheme::Http,
        }
    }
}

/// Where requests go, and what is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Where they go.
    pub origin: Origin,
    /// Path and query as in the request line.
    pub path: String,
    /// Method of the request.
    pub method: Method,
    /// Headers besides those that the probe writes itself.
    pub headers: Vec<Header>,
    /// Body of the request; absent if it has none.
    pub body: Option<Arc<[u8]>>,
}

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// The path does not begin with `/`.
    #[error("the path must begin with '/'")]
    NoSlash,
    /// The path has a character that is not allowed in a request line.
    #[error("the path has a character that is not printable ASCII")]
    NotPrintable,
    /// A header would change where the request goes or where it ends.
    #[error("the header '{0}' cannot be sent: {1}")]
    Header(String, &'static str),
}

impl Target {
    /// A `GET`. Checks and normalises the path.
    pub fn new(origin: impl Into<Origin>, path: &str) -> Result<Self, Error> {
        Ok(Self {
            origin: origin.into(),
            path: normalised(path)?,
            method: Method::Get,
            headers: vec![],
            body: None,
        })
    }

    /// The target of what the operator wants to be sent, with the bytes of its body.
    pub fn from_sent(
        origin: impl Into<Origin>,
        sent: &Sent,
        body: Option<Arc<[u8]>>,
    ) -> Result<Self, Error> {
        let wrong = |header: &Header| Some((header.name.clone(), header.wrong()?));
        if let Some((name, why)) = sent.headers.iter().find_map(wrong) {
            return Err(Error::Header(name, why));
        }
        Ok(Self {
            method: sent.method,
            headers: sent.headers.clone(),
            body,
            ..Self::new(origin, &sent.path)?
        })
    }

    /// Returns the same target with JSON to post.
    #[must_use]
    pub fn posting(self, body: Arc<[u8]>) -> Self {
        let json = Header {
            name: "Content-Type".into(),
            value: "application/json".into(),
        };
        Self {
            method: Method::Post,
            headers: vec![json],
            body: Some(body),
            ..self
        }
    }

    /// The address and port, which are also the value of the `Host` header unless the request has
    /// its own.
    pub fn host(&self) -> String {
        self.origin.address.to_string()
    }

    /// The name that a TLS handshake asks for: that of the request's own `Host`, or the address.
    /// `None` without TLS.
    pub fn server_name(&self) -> Option<String> {
        let address = self.origin.address.ip().to_string();
        let name = self.own("Host").map(|host| {
            let end = host.rfind(':').filter(|_| !host.ends_with(']'));
            host[..end.unwrap_or(host.len())].to_owned()
        });
        let has_tls = self.origin.scheme.has_tls();
        has_tls.then(|| name.unwrap_or(address))
    }

    /// The URL, for people.
    pub fn url(&self) -> String {
        let scheme = if self.origin.scheme.has_tls() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}{}", self.origin.address, self.path)
    }

    /// Whether answers have bodies.
    pub fn has_answer_body(&self) -> bool {
        self.method != Method::Head
    }

    /// The request as it is sent.
    pub fn request(&self, sender: Sender) -> Vec<u8> {
        let (name, reuse) = match sender {
            Sender::Probe(reuse) => ("probe", reuse),
            Sender::Generator(reuse) => ("generator", reuse),
        };
        let agent = || format!("wasmbench-{name}/{}", env!("CARGO_PKG_VERSION"));
        let host = self.own("Host").unwrap_or_else(|| self.host());
        let agent = self.own("User-Agent").unwrap_or_else(agent);
        let close = match reuse {
            ConnectionReuse::PerRequest => "Connection: close\r\n",
            ConnectionReuse::KeepAlive => "",
        };
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {agent}\r\n{close}",
            self.method, self.path
        );
        let is_written = |header: &&Header| !OWN.iter().any(|own| is(header, own));
        for Header { name, value } in self.headers.iter().filter(is_written) {
            let _ = write!(head, "{name}: {value}\r\n"); // writing to a String cannot fail
        }
        let body = self.body.as_deref().unwrap_or_default();
        if self.body.is_some() || self.method.announces_body() {
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        [head.as_bytes(), b"\r\n", body].concat()
    }

    /// The request's own value of a header.
    fn own(&self, name: &str) -> Option<String> {
        let found = self.headers.iter().find(|header| is(header, name));
        found.map(|header| header.value.clone())
    }
}

fn is(header: &Header, name: &str) -> bool {
    header.name.eq_ignore_ascii_case(name)
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
            let address = SocketAddr::new(address.parse().unwrap(), 80);
            Target::new(address, "/x").unwrap().url()
        };
        assert_eq!(url("10.0.0.1"), "http://10.0.0.1:80/x");
        assert_eq!(url("fd00::1"), "http://[fd00::1]:80/x");
    }

    fn local(scheme: Scheme) -> Origin {
        Origin::new([127, 0, 0, 1].into(), 80, scheme)
    }

    #[test]
    fn a_handshake_asks_for_the_host_of_the_request_or_for_the_address() {
        let name = |scheme, hosts: &[&str]| {
            let header = |host: &&str| Header {
                name: "Host".into(),
                value: (*host).to_owned(),
            };
            let sent = Sent {
                headers: hosts.iter().map(header).collect(),
                ..Sent::get("/")
            };
            let target = Target::from_sent(local(scheme), &sent, None).unwrap();
            target.server_name()
        };
        let https = |host: &str| name(Scheme::Https, &[host]).unwrap();
        assert_eq!(https("shop.example.com:8443"), "shop.example.com");
        assert_eq!(https("[fd00::1]"), "[fd00::1]");
        assert_eq!(name(Scheme::Https, &[]).as_deref(), Some("127.0.0.1"));
        assert_eq!(name(Scheme::Http, &["shop.example.com"]), None);
    }

    fn sent(method: Method, headers: &[(&str, &str)], body: Option<&str>) -> String {
        let header = |(name, value): &(&str, &str)| Header {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        let sent = Sent {
            method,
            headers: headers.iter().map(header).collect(),
            ..Sent::get("/x")
        };
        let body = body.map(|text| text.as_bytes().into());
        let target = Target::from_sent(local(Scheme::Http), &sent, body).unwrap();
        let request = target.request(Sender::Probe(ConnectionReuse::KeepAlive));
        String::from_utf8(request).unwrap()
    }

    #[test]
    fn a_request_has_its_method_headers_and_body() {
        let headers = [("Authorization", "Bearer a b"), ("X-Empty", "")];
        let text = sent(Method::Put, &headers, Some("{}"));
        assert!(
            text.starts_with("PUT /x HTTP/1.1\r\nHost: 127.0.0.1:80\r\n"),
            "{text}"
        );
        let rest = "\r\nAuthorization: Bearer a b\r\nX-Empty: \r\nContent-Length: 2\r\n\r\n{}";
        assert!(text.ends_with(rest), "{text}");
    }

    #[test]
    fn a_host_of_its_own_replaces_the_address_and_the_connection_still_goes_there() {
        let headers = [("host", "shop.example.com"), ("USER-AGENT", "curl/8")];
        let text = sent(Method::Get, &headers, None);
        let whole = "GET /x HTTP/1.1\r\nHost: shop.example.com\r\nUser-Agent: curl/8\r\n\r\n";
        assert_eq!(text, whole);
    }

    #[test]
    fn only_methods_that_send_something_announce_an_empty_body() {
        for (method, announces) in [
            (Method::Get, false),
            (Method::Head, false),
            (Method::Delete, false),
            (Method::Options, false),
            (Method::Post, true),
            (Method::Put, true),
            (Method::Patch, true),
        ] {
            let text = sent(method, &[], None);
            let length = text.contains("\r\nContent-Length: 0\r\n\r\n");
            assert_eq!(length, announces, "{text}");
        }
    }

    #[test]
    fn a_header_that_would_frame_the_message_is_not_sent_whoever_asks_for_it() {
        for (name, value) in [("Transfer-Encoding", "chunked"), ("X", "a\r\nHost: b")] {
            let header = Header {
                name: name.into(),
                value: value.into(),
            };
            let sent = Sent {
                headers: vec![header],
                ..Sent::get("/")
            };
            let refused = Target::from_sent(local(Scheme::Http), &sent, None);
            assert!(matches!(refused, Err(Error::Header(..))), "{name}");
        }
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
