//! How a server is configured.

use crate::settings::{Invalid, Settings};
use crate::upstream::Authority;
use std::net::SocketAddr;
use std::time::Duration;

/// The options of every gateway, for its `--help`.
pub(crate) const HELP: &str = "\
  --listen ADDR:PORT         where to listen (all addresses, port 8080)
  --upstream HOST:PORT       where other paths are forwarded to
  --connection MODE          keep-alive, or close after each answer (keep-alive)
  --max-connections N        clients at once; more are answered with 503 (4096)
  --read-timeout-ms N        for a request to arrive, once begun (10000)
  --write-timeout-ms N       for a client to take some bytes (10000)
  --idle-timeout-ms N        between two requests (75000)
  --upstream-timeout-ms N    for the upstream to answer (10000)
  --start-delay-ms N         wait before listening: a self-test of cold start measurements (0)
Each option is also read from the environment: --listen from WASMBENCH_LISTEN.
";

/// A server's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// `HOST:PORT` to which other paths are forwarded.
    pub upstream: Option<String>,
    /// Close each connection after one response, as the study's gateways did.
    pub close_connections: bool,
    /// Concurrent clients.
    pub max_connections: usize,
    /// Time from the first byte of a request to its last.
    pub read_timeout: Duration,
    /// Time during which a client takes no byte of its response.
    pub write_timeout: Duration,
    /// Time between two requests.
    pub idle_timeout: Duration,
    /// Time for a forwarded request, from beginning to end.
    pub upstream_timeout: Duration,
    /// Delay before it listens: a measurement of cold starts must find exactly this much more.
    pub start_delay: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: listen_address::everywhere(8080),
            upstream: None,
            close_connections: false,
            max_connections: 4096,
            read_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
            // Longer than the 60 s for which typical clients keep an idle connection, so that the
            // client closes first.
            idle_timeout: Duration::from_secs(75),
            upstream_timeout: Duration::from_secs(10),
            start_delay: Duration::ZERO,
        }
    }
}

impl Config {
    /// Takes its options out of `settings`.
    pub fn take(settings: &mut Settings) -> Result<Self, Invalid> {
        let default = Self::default();
        let upstream = settings.take("upstream").filter(|text| !text.is_empty());
        if let Some(text) = upstream.as_deref()
            && Authority::new(text).is_none()
        {
            return Err(Invalid(format!("--upstream '{text}' is not HOST:PORT")));
        }
        let mut time = |name, default| {
            let expected = "a number of milliseconds from 1 to 3600000";
            settings.take_parsed(name, default, expected, milliseconds)
        };
        Ok(Self {
            upstream,
            read_timeout: time("read-timeout-ms", default.read_timeout)?,
            write_timeout: time("write-timeout-ms", default.write_timeout)?,
            idle_timeout: time("idle-timeout-ms", default.idle_timeout)?,
            upstream_timeout: time("upstream-timeout-ms", default.upstream_timeout)?,
            start_delay: time("start-delay-ms", default.start_delay)?,
            listen: settings.take_parsed(
                "listen",
                default.listen,
                "an address and a port, like 0.0.0.0:8080",
                |value| value.parse().ok(),
            )?,
            close_connections: settings.take_parsed(
                "connection",
                default.close_connections,
                "keep-alive or close",
                |value| match value {
                    "keep-alive" => Some(false),
                    "close" => Some(true),
                    _ => None,
                },
            )?,
            max_connections: settings.take_parsed(
                "max-connections",
                default.max_connections,
                "a number from 1 to 1000000",
                |value| {
                    value
                        .parse()
                        .ok()
                        .filter(|count| (1..=1_000_000).contains(count))
                },
            )?,
        })
    }
}

fn milliseconds(value: &str) -> Option<Duration> {
    let count = value
        .parse()
        .ok()
        .filter(|count| (1..=3_600_000).contains(count))?;
    Some(Duration::from_millis(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(arguments: &[&str]) -> Result<Config, Invalid> {
        let arguments = arguments.iter().map(ToString::to_string);
        Config::take(&mut Settings::new(arguments, []).unwrap())
    }

    #[test]
    fn defaults_apply_without_options() {
        assert_eq!(config(&[]).unwrap(), Config::default());
        assert_eq!(config(&["--upstream="]).unwrap().upstream, None);
    }

    #[test]
    fn each_option_is_applied() {
        let given = config(&[
            "--listen=127.0.0.1:0",
            "--upstream=up:1",
            "--connection=close",
            "--max-connections=7",
            "--read-timeout-ms=1",
            "--write-timeout-ms=2",
            "--idle-timeout-ms=3",
            "--upstream-timeout-ms=4",
            "--start-delay-ms=5",
        ])
        .unwrap();
        let expected = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            upstream: Some("up:1".to_owned()),
            close_connections: true,
            max_connections: 7,
            read_timeout: Duration::from_millis(1),
            write_timeout: Duration::from_millis(2),
            idle_timeout: Duration::from_millis(3),
            upstream_timeout: Duration::from_millis(4),
            start_delay: Duration::from_millis(5),
        };
        assert_eq!(given, expected);
    }

    #[test]
    fn a_bad_value_is_named_together_with_what_is_expected() {
        for (argument, message) in [
            (
                "--listen=8080",
                "--listen '8080' is not an address and a port, like 0.0.0.0:8080",
            ),
            ("--upstream=up", "--upstream 'up' is not HOST:PORT"),
            (
                "--connection=open",
                "--connection 'open' is not keep-alive or close",
            ),
            (
                "--max-connections=0",
                "--max-connections '0' is not a number from 1 to 1000000",
            ),
            (
                "--read-timeout-ms=1s",
                "--read-timeout-ms '1s' is not a number of milliseconds from 1 to 3600000",
            ),
        ] {
            assert_eq!(config(&[argument]).unwrap_err().to_string(), message);
        }
    }
}
