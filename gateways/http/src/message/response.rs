//! A response, written as bytes.
//!
//! A response made here has no `Date` field: formatting the time would be a cost that the measured
//! workloads do not have. A forwarded response keeps the upstream's.

use super::{Rejection, Status};
use std::io::Write as _;

/// Field lines of the responses made here.
pub(crate) const TEXT: &[u8] = b"Content-Type: text/plain\r\n";
pub(crate) const JSON: &[u8] = b"Content-Type: application/json\r\n";
const TEXT_AND_METHODS: &[u8] = b"Content-Type: text/plain\r\nAllow: GET, HEAD, POST\r\n";

/// A response. `fields` are complete lines without length and connection options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub status: Status,
    pub fields: &'a [u8],
    pub body: &'a [u8],
}

/// How to write a response on a certain connection, for a certain request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Announce that the connection ends.
    pub close: bool,
    /// Do not send the body of a HEAD request's response, only its length.
    pub head_only: bool,
    /// Omit the length, which is unknown for a forwarded HEAD.
    pub length_unknown: bool,
}

/// Appends the response.
pub(crate) fn write(answer: Answer<'_>, manner: Manner, output: &mut Vec<u8>) {
    output.extend_from_slice(b"HTTP/1.1 ");
    write_number(usize::from(answer.status.code()), output);
    output.push(b' ');
    output.extend_from_slice(answer.status.phrase().as_bytes());
    output.extend_from_slice(b"\r\n");
    output.extend_from_slice(answer.fields);
    let bodiless = answer.status.forbids_body();
    if !bodiless && !manner.length_unknown {
        output.extend_from_slice(b"Content-Length: ");
        write_number(answer.body.len(), output);
        output.extend_from_slice(b"\r\n");
    }
    if manner.close {
        output.extend_from_slice(b"Connection: close\r\n");
    }
    output.extend_from_slice(b"\r\n");
    if !bodiless && !manner.head_only {
        output.extend_from_slice(answer.body);
    }
}

/// Appends a rejection; the connection ends with it.
pub(crate) fn write_rejection(rejection: Rejection, output: &mut Vec<u8>) {
    let allow = rejection.status == Status::METHOD_NOT_ALLOWED;
    let fields = if allow { TEXT_AND_METHODS } else { TEXT };
    let body = rejection.message.as_bytes();
    let manner = Manner {
        close: true,
        head_only: false,
        length_unknown: false,
    };
    write(
        Answer {
            status: rejection.status,
            fields,
            body,
        },
        manner,
        output,
    );
}

fn write_number(number: usize, output: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = write!(output, "{number}");
}
