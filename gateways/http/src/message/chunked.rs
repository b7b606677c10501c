//! The chunked transfer coding (RFC 9112, 7.1): sizes, data, trailers. Extensions and trailers are
//! read and dropped. `httparse` is not used because it reads a size from a whole line: here a piece
//! of input may end anywhere, and only a state is kept.

/// Longest line of a chunk size with its extensions, and longest trailer section.
const MAX_LINE_BYTES: usize = 256;
const MAX_TRAILER_BYTES: usize = 8 * 1024;

/// What is wrong with a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Malformed,
    TooLong,
}

/// A decoder that can be fed in pieces of any size.
#[derive(Debug)]
pub(crate) struct Chunked {
    state: State,
    /// Bytes of the current size line or of the trailers, to be checked against their limits.
    seen: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// In the digits of a size, and how many there were.
    Size {
        size: usize,
        digits: usize,
    },
    /// In an extension after the size.
    Extension {
        size: usize,
    },
    /// After the CR of a size line.
    SizeEnd {
        size: usize,
    },
    Data {
        left: usize,
    },
    DataEnd {
        carriage_return: bool,
    },
    /// In the trailers; the length of the current line without its CR.
    Trailer {
        line: usize,
        carriage_return: bool,
    },
    Done,
}

impl Default for Chunked {
    fn default() -> Self {
        Self {
            state: State::Size { size: 0, digits: 0 },
            seen: 0,
        }
    }
}

impl Chunked {
    /// Appends decoded bytes to `body`. Returns how much of `input` was used and whether the body
    /// is complete. `limit` applies to the decoded body.
    pub fn read(
        &mut self,
        input: &[u8],
        body: &mut Vec<u8>,
        limit: usize,
    ) -> Result<(usize, bool), Fault> {
        let mut used = 0;
        while used < input.len() && !matches!(self.state, State::Done) {
            if let State::Data { left } = &mut self.state {
                let count = (*left).min(input.len() - used);
                body.extend_from_slice(&input[used..used + count]);
                used += count;
                *left -= count;
                if *left == 0 {
                    self.state = State::DataEnd {
                        carriage_return: false,
                    };
                }
            } else {
                self.state = self.after(input[used])?;
                used += 1;
                if matches!(self.state, State::Data { left } if left > limit - body.len()) {
                    return Err(Fault::TooLong);
                }
            }
        }
        Ok((used, matches!(self.state, State::Done)))
    }

    /// The state after one byte that is not data.
    fn after(&mut self, byte: u8) -> Result<State, Fault> {
        self.seen += 1;
        match (self.state, byte) {
            (State::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                self.within(MAX_LINE_BYTES)?;
                let digit = char::from(byte).to_digit(16).unwrap_or_default() as usize;
                let size = size.checked_mul(16).ok_or(Fault::TooLong)? + digit;
                Ok(State::Size {
                    size,
                    digits: digits + 1,
                })
            }
            (State::Size { digits: 0, .. }, _) => Err(Fault::Malformed),
            (State::Size { size, .. } | State::Extension { size }, b'\r') => {
                Ok(State::SizeEnd { size })
            }
            (State::Size { size, .. }, b';' | b' ' | b'\t') => Ok(State::Extension { size }),
            // Some readers end the line at a bare LF inside an extension, so it is refused.
            (State::Extension { size }, _) if byte != b'\n' => {
                self.within(MAX_LINE_BYTES)?;
                Ok(State::Extension { size })
            }
            (State::SizeEnd { size }, b'\n') => {
                self.seen = 0;
                Ok(match size {
                    0 => State::Trailer {
                        line: 0,
                        carriage_return: false,
                    },
                    left => State::Data { left },
                })
            }
            (
                State::DataEnd {
                    carriage_return: false,
                },
                b'\r',
            ) => Ok(State::DataEnd {
                carriage_return: true,
            }),
            (
                State::DataEnd {
                    carriage_return: true,
                },
                b'\n',
            ) => {
                self.seen = 0;
                Ok(State::Size { size: 0, digits: 0 })
            }
            (
                State::Trailer {
                    line,
                    carriage_return,
                },
                _,
            ) => {
                self.within(MAX_TRAILER_BYTES)?;
                trailer(line, carriage_return, byte)
            }
            _ => Err(Fault::Malformed),
        }
    }

    fn within(&self, limit: usize) -> Result<(), Fault> {
        if self.seen > limit {
            Err(Fault::TooLong)
        } else {
            Ok(())
        }
    }
}

fn trailer(line: usize, carriage_return: bool, byte: u8) -> Result<State, Fault> {
    match (carriage_return, byte) {
        (true, b'\n') if line == 0 => Ok(State::Done),
        (true, b'\n') => Ok(State::Trailer {
            line: 0,
            carriage_return: false,
        }),
        (false, b'\r') => Ok(State::Trailer {
            line,
            carriage_return: true,
        }),
        (true, _) | (false, b'\n') => Err(Fault::Malformed),
        (false, _) => Ok(State::Trailer {
            line: line + 1,
            carriage_return: false,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(input: &[u8], piece: usize) -> Result<(Vec<u8>, usize, bool), Fault> {
        let (mut decoder, mut body, mut used, mut done) = Default::default();
        for part in input.chunks(piece) {
            let (count, end) = Chunked::read(&mut decoder, part, &mut body, 64)?;
            used += count;
            done = end;
            if end {
                break;
            }
        }
        Ok((body, used, done))
    }

    #[test]
    fn chunks_are_joined_and_the_rest_is_left() {
        let input = b"3\r\nabc\r\nA;name=\"x\"\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET";
        for piece in 1..input.len() {
            let (body, used, done) = decode(input, piece).unwrap();
            assert_eq!((body.as_slice(), done), (b"abc0123456789".as_slice(), true));
            assert_eq!(&input[used..], b"GET");
        }
    }

    #[test]
    fn malformed_chunks_are_refused() {
        for input in [
            "\r\n",
            "-1\r\n",
            "3\nabc",
            "3\r\nabcd",
            "3;a\nabc",
            "0\r\n\nx",
            "0\r\na\rb",
        ] {
            assert_eq!(
                decode(input.as_bytes(), 1),
                Err(Fault::Malformed),
                "{input:?}"
            );
        }
    }

    #[test]
    fn a_body_over_the_limit_is_refused_before_its_data_arrives() {
        for input in [
            "41\r\n",
            "fffffffffffffffff\r\n",
            "20\r\n01234567890123456789012345678901\r\n21\r\n",
        ] {
            assert_eq!(
                decode(input.as_bytes(), 7),
                Err(Fault::TooLong),
                "{input:?}"
            );
        }
        let endless = [b"1;".as_slice(), &[b'x'; 300]].concat();
        assert_eq!(decode(&endless, 5), Err(Fault::TooLong));
    }
}
