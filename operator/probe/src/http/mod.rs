//! One request over a fresh connection: a blocking HTTP/1.1 client that knows exactly what
//! happened. An answer is read to its end, up to 1 MiB, within one deadline.

mod response;

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

pub use response::Response;
use response::{Framing, Malformed, Progress};

use crate::target::{Sender, Target};

/// On the same node, connecting takes microseconds. A longer wait would be for the kernel's second
/// SYN, one second after a first one that was lost while the pod's network was being set up.
const CONNECT: Duration = Duration::from_millis(250);
/// Time limit from the connection to the end of the answer.
pub const ANSWER: Duration = Duration::from_secs(5);

/// Why no complete answer came.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens, or it cannot be reached.
    #[error("could not connect: {0}")]
    Connect(io::Error),
    /// The connection broke.
    #[error("the connection was accepted, but no complete answer came: {0}")]
    Broken(io::Error),
    /// The answer was not complete in time.
    #[error("the connection was accepted, but an answer takes longer than {} s", .0.as_secs())]
    Slow(Duration),
    /// What came is not an answer that can be judged.
    #[error("{0}")]
    Malformed(#[from] Malformed),
}

/// Sends one request and waits for the answer up to [`ANSWER`].
pub fn ask(target: &Target) -> Result<Response, Error> {
    ask_within(target, ANSWER)
}

/// Sends one request and waits for the answer up to `limit`.
pub fn ask_within(target: &Target, limit: Duration) -> Result<Response, Error> {
    let mut stream =
        TcpStream::connect_timeout(&target.address, CONNECT).map_err(Error::Connect)?;
    exchange(&mut stream, target, limit)
}

fn exchange(stream: &mut TcpStream, target: &Target, limit: Duration) -> Result<Response, Error> {
    let deadline = Instant::now() + limit;
    // Nagle's algorithm would wait for nothing here: the request is one write.
    stream.set_nodelay(true).map_err(Error::Broken)?;
    stream
        .set_write_timeout(Some(ANSWER))
        .map_err(Error::Broken)?;
    let request = target.request(Sender::Probe);
    stream.write_all(&request).map_err(Error::Broken)?;

    let mut framing = Framing::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Slow(limit));
        }
        stream.set_read_timeout(Some(left)).map_err(Error::Broken)?;
        let progress = match stream.read(&mut buffer) {
            Ok(0) => framing.end()?,
            Ok(read) => framing.push(&buffer[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Error::Slow(limit));
            }
            Err(error) => return Err(Error::Broken(error)),
        };
        if let Progress::Complete(response) = progress {
            return Ok(response);
        }
    }
}
