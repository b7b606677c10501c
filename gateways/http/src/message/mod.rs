//! HTTP/1.1 messages: bytes to requests, responses to bytes. Pure: no socket, no clock.

pub(crate) mod body;
pub(crate) mod chunked;
pub(crate) mod fields;
pub(crate) mod request;
pub(crate) mod response;
mod status;

pub use request::{Method, Request};
pub use status::Status;

/// Longest request line and header fields together. A longer head is answered with 431.
pub(crate) const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Most header fields in a head: what fits on the stack, and four times what browsers send.
pub(crate) const MAX_FIELDS: usize = 64;

/// Longest request body. A longer one is answered with 413.
pub(crate) const MAX_REQUEST_BODY_BYTES: usize = 1024 * 1024;

/// Why a request is not served: the status of the response, and a message for the user. The
/// connection is closed afterwards, because it is unknown where the next request begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub status: Status,
    pub message: &'static str,
}

impl Rejection {
    pub const fn bad(message: &'static str) -> Self {
        Self {
            status: Status::BAD_REQUEST,
            message,
        }
    }

    pub const fn new(status: Status, message: &'static str) -> Self {
        Self { status, message }
    }
}
