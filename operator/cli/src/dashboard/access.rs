//! Access control. The address contains a token, so that no other user of the machine and no other
//! page in the browser has it. Host and Origin are checked too: requests through a host name that
//! someone made resolve to the loopback address get nothing.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use wasmbench_model::store::hex;

use crate::error::Error;

/// The number of random bytes in a token.
const TOKEN_BYTES: usize = 16;

/// Headers of every response. They make the browser load nothing from other origins, run only
/// our script, allow no frame around the page, and keep the address from other sites.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    ("referrer-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// The address of this dashboard.
#[derive(Clone, Debug)]
pub struct Access {
    port: u16,
    token: String,
}

impl Access {
    /// Creates a new token for this port.
    pub fn new(port: u16) -> Result<Self, Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(Error::Token)?;
        let token = hex(&bytes);
        Ok(Self { port, token })
    }

    /// A given port and token.
    #[cfg(test)]
    pub fn known(port: u16, token: &str) -> Self {
        let token = token.to_owned();
        Self { port, token }
    }

    /// The URL that the user opens.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.path(""))
    }

    /// The path of a page: `/TOKEN/runs/...`.
    pub fn path(&self, page: &str) -> String {
        format!("/{}/{page}", self.token)
    }

    /// Whether `path` begins with the token. Digests are compared, so that the timing reveals
    /// nothing about the token.
    fn knows(&self, path: &str) -> bool {
        let given = path.split('/').nth(1).unwrap_or_default();
        Sha256::digest(given) == Sha256::digest(&self.token)
    }

    /// The status to refuse a request with; `None` if it is allowed.
    fn refusal(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<StatusCode> {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let is_ours = |host: &str| hosts.iter().any(|ours| ours == host);
        if !text(HOST).is_some_and(is_ours) {
            return Some(StatusCode::MISDIRECTED_REQUEST);
        }
        if !self.knows(path) {
            return Some(StatusCode::NOT_FOUND);
        }
        let origin = text(ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
        let changes = !matches!(*method, Method::GET | Method::HEAD);
        let is_foreign = headers.contains_key(ORIGIN) && !origin.is_some_and(is_ours);
        if is_foreign || (changes && origin.is_none()) {
            return Some(StatusCode::FORBIDDEN);
        }
        None
    }
}

/// Refuses requests without the right address or from a foreign page, and tells the browser what
/// pages may do.
pub async fn guard(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let mut response = match access.refusal(request.method(), path, request.headers()) {
        Some(status) => status.into_response(),
        None => next.run(request).await,
    };
    let headers = HEADERS.map(|(name, value)| {
        let name = HeaderName::from_static(name);
        (name, HeaderValue::from_static(value))
    });
    response.headers_mut().extend(headers);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(method: &Method, path: &str, headers: &[(HeaderName, &str)]) -> Option<u16> {
        let (port, token) = (4321, "abc".to_owned());
        let headers = headers.iter().map(|(name, value)| {
            let value = HeaderValue::from_str(value).unwrap();
            (name.clone(), value)
        });
        let access = Access { port, token };
        let refused = access.refusal(method, path, &headers.collect());
        refused.map(|status| status.as_u16())
    }

    #[test]
    fn requests_without_the_token_get_nothing() {
        let host = (HOST, "127.0.0.1:4321");
        assert_eq!(
            refusal(&Method::GET, "/abc/", std::slice::from_ref(&host)),
            None
        );
        for path in ["/", "/abd/", "/ab/", "/abcd/", "//abc/", "/x/abc/"] {
            assert_eq!(
                refusal(&Method::GET, path, std::slice::from_ref(&host)),
                Some(404),
                "{path}"
            );
        }
    }

    #[test]
    fn another_name_for_this_address_gets_nothing() {
        for host in ["evil.example", "127.0.0.1", "evil.example:4321", ""] {
            assert_eq!(refusal(&Method::GET, "/abc/", &[(HOST, host)]), Some(421));
        }
        assert_eq!(refusal(&Method::GET, "/abc/", &[]), Some(421));
        let local = (HOST, "localhost:4321");
        assert_eq!(refusal(&Method::GET, "/abc/", &[local]), None);
    }

    #[test]
    fn changes_are_accepted_from_our_own_pages_only() {
        let host = (HOST, "127.0.0.1:4321");
        let from = |origin| {
            let headers = [host.clone(), (ORIGIN, origin)];
            refusal(&Method::POST, "/abc/new", &headers)
        };
        assert_eq!(from("http://127.0.0.1:4321"), None);
        for origin in ["null", "http://127.0.0.1:80", "https://127.0.0.1:4321", ""] {
            assert_eq!(from(origin), Some(403), "{origin}");
        }
        assert_eq!(
            refusal(&Method::POST, "/abc/new", std::slice::from_ref(&host)),
            Some(403)
        );
        let foreign = [host, (ORIGIN, "http://evil.example")];
        assert_eq!(refusal(&Method::GET, "/abc/", &foreign), Some(403));
    }

    #[test]
    fn every_dashboard_has_a_token_of_its_own() {
        let (one, other) = (Access::new(1).unwrap(), Access::new(1).unwrap());
        assert_eq!(one.token.len(), 2 * TOKEN_BYTES);
        assert_ne!(one.token, other.token);
    }
}
