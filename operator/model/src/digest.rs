//! SHA-256 as text. Pure.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The digest in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
            text
        })
}
