//! What a workload sends besides its path: method, headers and body.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

/// Method of a request.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::Display,
    strum::EnumIter,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum Method {
    /// Asks for a resource.
    #[default]
    Get,
    /// Asks for the head of an answer alone.
    Head,
    /// Sends a body to be processed.
    Post,
    /// Replaces a resource.
    Put,
    /// Changes a resource.
    Patch,
    /// Removes a resource.
    Delete,
    /// Asks what a resource takes.
    Options,
}

impl Method {
    /// Whether this is `GET`, which is not written.
    pub fn is_get(&self) -> bool {
        *self == Self::Get
    }

    /// Whether a body may be sent with it: `GET` and `HEAD` give a body no meaning.
    pub const fn takes_body(self) -> bool {
        !matches!(self, Self::Get | Self::Head)
    }

    /// Whether its request has a body by definition, so that an empty one has a length, too.
    pub const fn announces_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// A header of a request.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Its name, such as `Authorization`. `Host` may be set; what frames a message or leads it
    /// elsewhere may not: `Connection`, `Content-Length`, `Transfer-Encoding`, `Expect`, `Upgrade`,
    /// `TE`, `Trailer` and names that begin with `Proxy-`.
    #[schemars(length(min = 1, max = 64))]
    #[x_kube(
        validation = Rule::new(validation::HEADER_TOKEN_RULE).message(validation::HEADER_TOKEN_MESSAGE),
        validation = Rule::new(validation::HEADER_NAME_RULE).message(validation::HEADER_NAME_MESSAGE)
    )]
    pub name: String,

    /// Its value, in printable ASCII. Default: empty.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    #[x_kube(validation = Rule::new(validation::HEADER_VALUE_RULE).message(validation::HEADER_VALUE_MESSAGE))]
    pub value: String,
}

/// A key of a `ConfigMap` in the run's namespace.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct BodyFrom {
    /// Name of the `ConfigMap`.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    )]
    pub config_map: String,

    /// The key, of `data` or `binaryData`.
    #[schemars(length(min = 1, max = 253), regex(pattern = r"^[-._a-zA-Z0-9]+$"))]
    pub key: String,
}

/// Headers that frame a message or lead it elsewhere, in lower case; so do all that begin with
/// `proxy-`.
const FRAMING: [&str; 7] = [
    "connection",
    "content-length",
    "transfer-encoding",
    "expect",
    "upgrade",
    "te",
    "trailer",
];

impl Header {
    /// What is wrong with it, and what to do; `None` if it may be sent.
    pub fn wrong(&self) -> Option<&'static str> {
        let name = self.name.to_ascii_lowercase();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let printable = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        if name.is_empty() || !name.bytes().all(token) {
            Some(validation::HEADER_TOKEN_MESSAGE)
        } else if FRAMING.contains(&name.as_str()) || name.starts_with("proxy-") {
            Some(validation::HEADER_NAME_MESSAGE)
        } else if !self.value.bytes().all(printable) || self.value.trim() != self.value {
            Some(validation::HEADER_VALUE_MESSAGE)
        } else {
            None
        }
    }
}
