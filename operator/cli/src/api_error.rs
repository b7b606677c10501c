//! An error of the API server, as one with a remedy.

use kube::core::Status;

use crate::error::{Error, root_cause};

impl Error {
    /// Converts the error of a failed attempt to `what`.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "kube's errors: those that users can do nothing about are alike"
    )]
    pub fn from_kube(what: &'static str, error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.code == 404 => missing(&status),
            kube::Error::Api(status) if matches!(status.code, 401 | 403) => Self::Refused {
                what,
                message: status.message.clone(),
            },
            kube::Error::Api(status) => Self::Api {
                what,
                message: status.message.clone(),
            },
            kube::Error::Service(_) | kube::Error::HyperError(_) => {
                Self::Unreachable(root_cause(&error))
            }
            other => Self::Api {
                what,
                message: root_cause(&other),
            },
        }
    }
}

/// What a 404 says is missing. A namespace is named by it, even where something in it was to be created; a kind
/// that is not served is not.
fn missing(status: &Status) -> Error {
    let details = status.details.as_ref();
    match details.filter(|details| details.kind == "namespaces") {
        Some(details) => Error::NoNamespace(details.name.clone()),
        None => Error::NotInstalled,
    }
}
