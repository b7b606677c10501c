//! The response.

pub const TEXT: &[u8] = b"text/plain; charset=utf-8";
pub const JSON: &[u8] = b"application/json";

/// A complete response: the host sends it with its length.
pub struct Answer {
    pub status: u16,
    pub content_type: Vec<u8>,
    pub body: Vec<u8>,
}

impl Answer {
    /// A response in plain text.
    pub fn text(status: u16, message: &str) -> Self {
        Self {
            status,
            content_type: TEXT.to_vec(),
            body: message.as_bytes().to_vec(),
        }
    }
}
