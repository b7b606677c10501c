//! A request to the API server, and its answer for people.

use crate::check::observed::Answer;
use crate::cluster::patiently;
use crate::error::Error;

/// The answer to a request. A refusal is one; a cluster that does not respond is an error.
pub(super) async fn answer<T>(
    what: &'static str,
    request: impl Future<Output = kube::Result<T>>,
) -> Result<Answer<T>, Error> {
    match patiently(what, request).await {
        Ok(found) => Ok(Ok(found)),
        Err(Error::Refused { what, .. }) => Ok(Err(format!("you may not {what}"))),
        Err(Error::NotInstalled) => Ok(Err("it is not there".to_owned())),
        Err(error @ Error::Unreachable(_)) => Err(error),
        Err(error) => Ok(Err(error.to_string())),
    }
}
