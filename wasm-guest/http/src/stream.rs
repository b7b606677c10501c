//! Bodies, read and written to their ends.

use wasip2::http::types::{IncomingBody, OutgoingBody};
use wasip2::io::streams::StreamError;

/// Longest body, as in the other gateways.
const MAX_BODY_BYTES: usize = 1024 * 1024;
const READ_BYTES: u64 = 16 * 1024;

/// Returns the whole body, or what is wrong with it.
pub fn read(body: IncomingBody) -> Result<Vec<u8>, &'static str> {
    let stream = body.stream().map_err(|()| "the body cannot be read")?;
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(READ_BYTES) {
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(StreamError::LastOperationFailed(_)) => return Err("the body ended early"),
        }
        if bytes.len() > MAX_BODY_BYTES {
            return Err("the body is longer than 1 MiB");
        }
    }
}

/// Hands all bytes to the host, which may send them later: waiting until they are sent would cost
/// each response a turn of the host's loop.
pub fn write(body: &OutgoingBody, bytes: &[u8]) -> Result<(), StreamError> {
    let Ok(stream) = body.write() else {
        return Err(StreamError::Closed);
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        let room = usize::try_from(stream.check_write()?).unwrap_or(usize::MAX);
        if room == 0 {
            stream.subscribe().block();
            continue;
        }
        let (piece, later) = rest.split_at(rest.len().min(room));
        stream.write(piece)?;
        rest = later;
    }
    Ok(())
}
