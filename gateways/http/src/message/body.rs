//! Extracts the body of a message from a stream of bytes, according to its framing.

use super::chunked::{Chunked, Fault};

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// After this many bytes.
    Length(usize),
    /// After the last chunk.
    Chunked,
    /// With the connection. Responses only.
    UntilClose,
}

/// Collects one body.
#[derive(Debug)]
pub(crate) struct BodyReader {
    state: State,
    limit: usize,
}

#[derive(Debug)]
enum State {
    Length(usize),
    Chunked(Chunked),
    UntilClose,
}

impl BodyReader {
    /// A body longer than `limit` is a fault, immediately if its length is declared.
    pub fn new(framing: Framing, limit: usize) -> Result<Self, Fault> {
        let state = match framing {
            Framing::Length(length) if length > limit => return Err(Fault::TooLong),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(Chunked::default()),
            Framing::UntilClose => State::UntilClose,
        };
        Ok(Self { state, limit })
    }

    /// Moves body bytes from `input` to `body`. Returns how many bytes of `input` it used, and
    /// whether the body is complete.
    pub fn read(&mut self, input: &[u8], body: &mut Vec<u8>) -> Result<(usize, bool), Fault> {
        match &mut self.state {
            State::Length(left) => {
                let count = input.len().min(*left);
                body.extend_from_slice(&input[..count]);
                *left -= count;
                Ok((count, *left == 0))
            }
            State::Chunked(decoder) => decoder.read(input, body, self.limit),
            State::UntilClose => {
                if body.len() + input.len() > self.limit {
                    return Err(Fault::TooLong);
                }
                body.extend_from_slice(input);
                Ok((input.len(), false))
            }
        }
    }

    /// True if this body ends correctly when the connection ends.
    pub fn may_end_with_connection(&self) -> bool {
        matches!(self.state, State::UntilClose)
    }
}
