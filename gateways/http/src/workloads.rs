//! The workloads of the benchmark, the same for every gateway.
//!
//! | path | answer |
//! |---|---|
//! | `/` | `hello` |
//! | `/compute?iters=N` | the digest of a chain of N SHA-256, in hexadecimal |
//! | `/state` | how often it was asked, from 1 |
//! | `/health` | `ok`, never transformed |
//! | `/engine` | how the gateway executes, as JSON, never transformed |
//! | any other | the upstream's answer |

use crate::message::{Request, Status};
use crate::service::{Failed, Outcome, Service};
use sha2::{Digest, Sha256};
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Length of the chain when the request names none, as in the study.
const DEFAULT_ITERATIONS: u32 = 20_000;

/// Longest chain: 0.4 s with SHA instructions and 2 s without, during which nothing else is served.
const MAX_ITERATIONS: u32 = 5_000_000;

/// How the compiler was set: a service built without optimisation measures something else.
pub const PROFILE: &str = if cfg!(debug_assertions) {
    "debug"
} else {
    "release"
};

/// What a gateway does to each answer of a workload.
pub trait Transform {
    /// Replaces the body by the transformed one. On failure the body's content is of no interest.
    fn apply(&mut self, body: &mut Vec<u8>) -> Result<(), Failed>;

    /// How this gateway executes, as a JSON object.
    fn describe(&self) -> String;
}

/// Leaves answers as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl Transform for Unchanged {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Ok(())
    }

    fn describe(&self) -> String {
        format!(r#"{{"engine":"none","profile":"{PROFILE}"}}"#)
    }
}

/// The workloads, each answer passed through a [`Transform`].
#[derive(Debug, Default)]
pub struct Workloads<T> {
    transform: T,
    // One thread needs no atomic. The study's workload has one, and its cost is the workload.
    counter: AtomicU64,
}

impl<T: Transform> Workloads<T> {
    /// Workloads whose answers pass through `transform`.
    pub fn new(transform: T) -> Self {
        Self {
            transform,
            counter: AtomicU64::new(0),
        }
    }

    fn transformed(&mut self, body: &mut Vec<u8>) -> Outcome {
        match self.transform.apply(body) {
            Ok(()) => Outcome::Text(Status::OK),
            Err(failed) => {
                body.clear();
                body.extend_from_slice(failed.0.as_bytes());
                Outcome::Text(Status::INTERNAL_SERVER_ERROR)
            }
        }
    }
}

impl<T: Transform> Service for Workloads<T> {
    fn handle(&mut self, request: &Request, body: &mut Vec<u8>) -> Outcome {
        match request.path() {
            "/" => body.extend_from_slice(b"hello"),
            "/compute" => match iterations(request) {
                Ok(iterations) => append_hex(&sha256_chain(iterations), body),
                Err(sentence) => {
                    body.extend_from_slice(sentence.as_bytes());
                    return Outcome::Text(Status::BAD_REQUEST);
                }
            },
            "/state" => {
                let count = self.counter.fetch_add(1, Ordering::Relaxed) + 1;
                // Writing to memory does not fail.
                let _ = write!(body, "{count}");
            }
            "/health" => {
                body.extend_from_slice(b"ok");
                return Outcome::Text(Status::OK);
            }
            "/engine" => {
                body.extend_from_slice(self.transform.describe().as_bytes());
                return Outcome::Json(Status::OK);
            }
            _ => return Outcome::Forward,
        }
        self.transformed(body)
    }

    fn change_forwarded(&mut self, body: &mut Vec<u8>) -> Result<(), Failed> {
        self.transform.apply(body)
    }
}

fn iterations(request: &Request) -> Result<u32, &'static str> {
    let Some(digits) = request.query("iters") else {
        return Ok(DEFAULT_ITERATIONS);
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("iters is not a number");
    }
    let number = digits.parse().unwrap_or(u32::MAX);
    if number > MAX_ITERATIONS {
        Err("iters is more than 5000000")
    } else {
        Ok(number)
    }
}

/// The digest at the end of a chain of SHA-256 that begins with 32 zero bytes: CPU work in exact
/// amounts.
pub fn sha256_chain(iterations: u32) -> [u8; 32] {
    (0..iterations).fold([0; 32], |digest, _| Sha256::digest(digest).into())
}

fn append_hex(bytes: &[u8], text: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_iteration_is_32_zero_bytes_and_one_is_their_digest() {
        assert_eq!(sha256_chain(0), [0; 32]);
        let mut text = Vec::new();
        append_hex(&sha256_chain(1), &mut text);
        let known = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
        assert_eq!(String::from_utf8(text).unwrap(), known);
    }
}
