//! How a service is spoken to, and when it is ready.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a service is spoken to.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "HTTP")]
    Http,
    /// HTTP/1.1 over TLS.
    #[serde(rename = "HTTPS")]
    Https,
    /// HTTP/2 without TLS: refused.
    #[serde(rename = "H2C")]
    H2c,
    /// gRPC: refused.
    #[serde(rename = "GRPC")]
    Grpc,
}

impl Scheme {
    /// Whether this is HTTP/1.1 without TLS, which is not written.
    pub fn is_http(&self) -> bool {
        *self == Self::Http
    }

    /// Whether connections begin with a TLS handshake.
    pub fn has_tls(self) -> bool {
        self == Self::Https
    }

    /// Whether probe and load generator speak it.
    pub fn is_spoken(self) -> bool {
        match self {
            Self::Http | Self::Https => true,
            Self::H2c | Self::Grpc => false,
        }
    }
}

/// A `GET` that changes nothing, and the status of its answer once the service is ready.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// Its path and query, such as `/healthz`.
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^/[!-~]*$"))]
    pub path: String,

    /// The status, whatever the body is.
    #[serde(default = "default_status")]
    #[schemars(range(min = 100, max = 599))]
    pub status: u16,
}

fn default_status() -> u16 {
    200
}

/// The port of a service whose variant names none.
pub(super) fn default_port() -> u16 {
    8080
}
