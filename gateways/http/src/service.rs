//! What a server does with a request: the part of this library that its users implement.

use crate::children::ChildCommand;
use crate::message::{Request, Status};
use std::time::Duration;

/// Handles requests, one at a time: there is one thread.
pub trait Service {
    /// Handles a request by filling `body`, which is empty, or by having it forwarded to the
    /// upstream.
    fn handle(&mut self, request: &Request, body: &mut Vec<u8>) -> Outcome;

    /// The program that makes the responses of [`Outcome::Child`] and, if there is one, changes
    /// forwarded responses. Called once.
    fn child(&self) -> Option<ChildCommand> {
        None
    }

    /// Changes the body of a forwarded 2xx response that has one. The default leaves it as it is.
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
    /// With what a child process of [`Service::child`] makes of the filled body, this long after
    /// the request at the earliest. Only text can be delayed.
    Child(Kind, Duration),
    /// With the upstream's response.
    Forward,
}

/// The type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Plain text.
    Text,
    /// JSON.
    Json,
}

/// A response could not be made. The message is shown to the client with status 500.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);
