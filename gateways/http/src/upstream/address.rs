//! Where the upstream is.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Pause after a failed lookup, because a lookup stops the loop until it is done.
const LOOKUP_PAUSE: Duration = Duration::from_secs(5);

/// `HOST:PORT`, and the addresses behind it.
///
/// A name is looked up when the first request is forwarded, not before, so that startup never waits
/// for a name server; the addresses are then kept. Where even one wait would disturb, the upstream
/// is given by its address.
#[derive(Debug)]
pub(crate) struct Authority {
    text: String,
    addresses: Vec<SocketAddr>,
    failed_at: Option<Instant>,
}

impl Authority {
    /// `None` if the text is not `HOST:PORT`.
    pub fn new(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let valid = !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && !b"/@?#".contains(&byte))
            && port.parse::<u16>().is_ok_and(|port| port > 0);
        valid.then(|| Self {
            text: text.to_owned(),
            addresses: Vec::new(),
            failed_at: None,
        })
    }

    /// The text as it was given: the `Host` of forwarded requests.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The addresses, in order of preference. Empty if the name has none.
    pub fn addresses(&mut self, now: Instant) -> &[SocketAddr] {
        let wait = self
            .failed_at
            .is_some_and(|failed| now - failed < LOOKUP_PAUSE);
        if self.addresses.is_empty() && !wait {
            self.addresses = self
                .text
                .to_socket_addrs()
                .map(Iterator::collect)
                .unwrap_or_default();
            self.failed_at = self.addresses.is_empty().then_some(now);
        }
        &self.addresses
    }

    /// Moves the address that was reached to the front, so that the next connection starts with it.
    pub fn prefer(&mut self, index: usize) {
        if index < self.addresses.len() {
            self.addresses[..=index].rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_a_host_and_a_port() {
        for text in ["127.0.0.1:80", "[::1]:8080", "upstream.default.svc:18080"] {
            assert!(Authority::new(text).is_some(), "{text}");
        }
        for text in [
            "",
            "host",
            ":80",
            "host:",
            "host:0",
            "host:65536",
            "http://host:80",
            "a b:1",
        ] {
            assert!(Authority::new(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_address_that_answered_comes_first() {
        let mut authority = Authority::new("x:1").unwrap();
        let given: Vec<SocketAddr> = ["127.0.0.1:1", "127.0.0.2:1", "127.0.0.3:1"]
            .map(|a| a.parse().unwrap())
            .to_vec();
        authority.addresses.clone_from(&given);
        authority.prefer(1);
        assert_eq!(
            authority.addresses(Instant::now()),
            [given[1], given[0], given[2]]
        );
    }
}
