//! A blocking HTTP/1.1 client that reports exactly what happened: one request over a connection of
//! its own, or several over one that is kept. An answer is read to its end, up to 16 MiB, within one
//! deadline.

mod response;
mod socket;
mod tls;

use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use response::{Framing, Progress};
pub use response::{MAX_BODY, Malformed, Response};
use socket::Socket;
use tls::Fault;
use wasmbench_api::run::ConnectionReuse;
use wasmbench_model::wire::scout::{AfterAnswer, BodyFraming};

use crate::target::{Sender, Target};

/// On the same node, connecting takes microseconds. A longer wait would be for the kernel's second
/// SYN, one second after a first one that was lost while the pod's network was being set up.
const CONNECT: Duration = Duration::from_millis(250);
/// Time limit from the connection to the end of the answer.
pub const ANSWER: Duration = Duration::from_secs(5);
/// The largest request that is written before its answer is read, in bytes: the kernels keep as much
/// for a service that answers while it still reads.
const AT_ONCE: usize = 64 * 1024;
/// How long a connection is watched after an answer. A server that ends it does so at once; one that
/// ends it later is seen at the next request.
const SETTLES: Duration = Duration::from_millis(50);

/// Why no complete answer came.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing listens, or it cannot be reached.
    #[error("could not connect: {0}")]
    Connect(io::Error),
    /// Nothing can be sent, because the two sides do not agree on TLS.
    #[error("{0}")]
    Tls(Fault),
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

/// Sends one request over a connection of its own and waits for the answer up to [`ANSWER`].
pub fn ask(target: &Target) -> Result<Response, Error> {
    ask_within(target, ANSWER)
}

/// Sends one request over a connection of its own and waits for the answer up to `limit`.
pub fn ask_within(target: &Target, limit: Duration) -> Result<Response, Error> {
    let mut socket = Socket::open(target)?;
    let request = target.request(Sender::Probe(ConnectionReuse::PerRequest));
    exchange(
        &mut socket,
        &request,
        limit,
        &mut Framing::new(target.method),
    )
}

/// A connection that carries several requests, as far as the other end keeps it.
#[derive(Debug)]
pub struct KeptConnection<'a> {
    target: &'a Target,
    socket: Socket,
    has_answered: bool,
}

/// An answer over a connection that was to be kept.
#[derive(Debug)]
pub struct Answered {
    /// What came.
    pub response: Response,
    /// How its end was marked.
    pub framing: BodyFraming,
    /// What became of the connection.
    pub connection: AfterAnswer,
}

impl<'a> KeptConnection<'a> {
    /// Connects.
    pub fn open(target: &'a Target) -> Result<Self, Error> {
        Ok(Self {
            target,
            socket: Socket::open(target)?,
            has_answered: false,
        })
    }

    /// Sends one request, waits for the answer up to [`ANSWER`], and watches what becomes of the
    /// connection. `None` if the other end closed it after an earlier answer: the request has to be
    /// sent again, over another one.
    pub fn ask(&mut self) -> Result<Option<Answered>, Error> {
        let sender = Sender::Probe(ConnectionReuse::KeepAlive);
        let request = self.target.request(sender);
        let mut framing = Framing::new(self.target.method);
        let response = match exchange(&mut self.socket, &request, ANSWER, &mut framing) {
            Ok(response) => response,
            Err(Error::Broken(_) | Error::Malformed(Malformed::Truncated))
                if self.has_answered && !framing.has_begun() =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.has_answered = true;
        Ok(Some(Answered {
            response,
            framing: framing.framing().unwrap_or(BodyFraming::UntilClose),
            connection: self.after(framing),
        }))
    }

    /// What becomes of the connection within [`SETTLES`] of a complete answer.
    fn after(&mut self, mut framing: Framing) -> AfterAnswer {
        let ended = if framing.closes() {
            AfterAnswer::CloseAnnounced
        } else {
            AfterAnswer::Closed
        };
        let until = Instant::now() + SETTLES;
        let mut buffer = [0; 4096];
        loop {
            if framing.has_more() {
                return AfterAnswer::MoreBytes;
            }
            let left = until.saturating_duration_since(Instant::now());
            let waits = !left.is_zero() && self.socket.set_read_timeout(left).is_ok();
            if !waits {
                break;
            }
            match self.socket.read(&mut buffer) {
                Ok(0) => return ended,
                Ok(read) => framing.push_after(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return ended,
            }
        }
        if framing.closes() {
            AfterAnswer::CloseAnnounced
        } else {
            AfterAnswer::Kept
        }
    }
}

/// Sends one request and waits for the answer up to `limit`; `framing` takes it.
fn exchange(
    socket: &mut Socket,
    request: &[u8],
    limit: Duration,
    framing: &mut Framing,
) -> Result<Response, Error> {
    let deadline = Instant::now() + limit;
    let request = socket.sealed(request).map_err(Error::Broken)?;
    if request.len() <= AT_ONCE {
        socket.write(&request).map_err(Error::Broken)?;
        return receive(socket, deadline, limit, framing);
    }
    let mut writing = socket.writing().map_err(Error::Broken)?;
    thread::scope(|scope| {
        let writer = scope.spawn(move || writing.write_all(&request));
        let answer = receive(socket, deadline, limit, framing);
        if answer.is_err() {
            // Nobody takes the rest.
            socket.shut_down();
        }
        // A service that answers before it has read all either reads the rest or ends the connection,
        // which the next request shows.
        let _ = writer.join();
        answer
    })
}

/// Waits for an answer until `deadline`.
fn receive(
    socket: &mut Socket,
    deadline: Instant,
    limit: Duration,
    framing: &mut Framing,
) -> Result<Response, Error> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Slow(limit));
        }
        socket.set_read_timeout(left).map_err(Error::Broken)?;
        let progress = match socket.read(&mut buffer) {
            Ok(0) => framing.end()?,
            Ok(read) => framing.push(&buffer[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Error::Slow(limit));
            }
            Err(error) => return Err(tls::fault(error).map_or_else(Error::Broken, Error::Tls)),
        };
        if let Progress::Complete(response) = progress {
            return Ok(response);
        }
    }
}

#[cfg(test)]
mod tests;
