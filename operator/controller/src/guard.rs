//! Confines hangs and panics to the object that they happen with.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use kube::runtime::controller::Action;

use crate::error::Error;

/// How long a reconcile may take. It makes a few dozen calls at most, each with its own timeout.
pub const TIMEOUT: Duration = Duration::from_mins(1);

/// The result of `work`. A hang or a panic becomes an error like any other.
pub async fn guarded(work: impl Future<Output = Result<Action, Error>>) -> Result<Action, Error> {
    let work = AssertUnwindSafe(work).catch_unwind();
    match Box::pin(tokio::time::timeout(TIMEOUT, work)).await {
        Err(_) => Err(Error::TimedOut(TIMEOUT)),
        Ok(Err(panic)) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(Error::Panicked(text.unwrap_or_default()))
        }
        Ok(Ok(result)) => result,
    }
}
