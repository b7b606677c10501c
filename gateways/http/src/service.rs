//! What a server does with a request: the side of this library that its users implement.

use crate::message::{Request, Status};
use std::time::Duration;

/// Answers requests. One request at a time: there is one thread.
pub trait Service {
    /// Answers a request by filling `body`, which is empty, or has it forwarded to the upstream.
    fn handle(&mut self, request: &Request, body: &mut Vec<u8>) -> Outcome;

    /// Changes the body of a forwarded answer of status 2xx that has one. The default leaves it as it is.
    fn change_forwarded(&mut self, body: &mut Vec<u8>) -> Result<(), Failed> {
        let _ = body;
        Ok(())
    }
}

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With the filled body, as plain text.
    Text(Status),
    /// With the filled body, as JSON.
    Json(Status),
    /// With the filled body, as plain text, this long after the request.
    Later(Status, Duration),
    /// With what the upstream answers.
    Forward,
}

/// An answer could not be made. The sentence is shown to the client with status 500.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);
