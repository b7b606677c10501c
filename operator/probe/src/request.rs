//! The request for a trial, which the operator writes into the environment.

use serde::de::DeserializeOwned;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::request::REQUEST_ENV;

/// The request of `what` in the JSON text from the environment.
pub fn parse<T: DeserializeOwned>(text: Option<&str>, what: &str) -> Result<T, Failure> {
    let text = text.ok_or_else(|| bad(format!("{REQUEST_ENV} is not set")))?;
    serde_json::from_str(text)
        .map_err(|error| bad(format!("{REQUEST_ENV} holds no request of {what}: {error}")))
}

/// The failure of a request that this probe does not understand.
pub fn bad(message: String) -> Failure {
    Failure::new(FailureReason::BadRequest, message)
}
