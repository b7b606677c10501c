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
            kube::Error::Api(status) => from_status(what, &status),
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

/// Trying again helps only where the API server may answer otherwise to the same request.
fn from_status(what: &'static str, status: &Status) -> Error {
    let message = status.message.clone();
    match status.code {
        404 => missing(status),
        401 | 403 => Error::Refused { what, message },
        409 if status.is_already_exists() => Error::Exists { what, message },
        400 | 413 | 422 => Error::Rejected { what, message },
        _ => Error::Api { what, message },
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
