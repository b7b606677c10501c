//! Header fields: which ones are hop-by-hop, and what they mean for the body.

use super::Rejection;
use super::body::Framing;
use super::status::Status;
use httparse::Header;

/// Fields that are never forwarded (RFC 9110, 7.6.1), and those that forwarding writes anew.
const NOT_FORWARDED: [&str; 12] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "content-length",
    "expect",
];

/// The elements of all comma-separated fields with this name, trimmed.
pub(crate) fn elements<'a>(
    fields: &'a [Header<'_>],
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    values(fields, name)
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|element| !element.is_empty())
}

/// The values of all fields with this name.
pub(crate) fn values<'a>(
    fields: &'a [Header<'_>],
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    fields
        .iter()
        .filter(move |field| field.name.eq_ignore_ascii_case(name))
        .map(|field| field.value)
}

/// True if the `Connection` field has this option.
pub(crate) fn connection_has(fields: &[Header<'_>], option: &str) -> bool {
    elements(fields, "connection").any(|element| element.eq_ignore_ascii_case(option.as_bytes()))
}

/// Appends the fields that a proxy passes on, as lines.
pub(crate) fn append_end_to_end(fields: &[Header<'_>], lines: &mut Vec<u8>) {
    for field in fields {
        let hop_by_hop = NOT_FORWARDED
            .iter()
            .any(|name| field.name.eq_ignore_ascii_case(name))
            || connection_has(fields, field.name);
        if !hop_by_hop {
            lines.extend_from_slice(field.name.as_bytes());
            lines.extend_from_slice(b": ");
            lines.extend_from_slice(field.value);
            lines.extend_from_slice(b"\r\n");
        }
    }
}

/// Returns how long the body of a message with these fields is. `None` if no field determines it.
///
/// Strict, because another reader of the same bytes could otherwise see a different message
/// (request smuggling): both kinds of length at once, repeated ones and malformed ones are refused.
pub(crate) fn framing(fields: &[Header<'_>]) -> Result<Option<Framing>, Rejection> {
    let mut lengths = values(fields, "content-length");
    let length = lengths.next();
    if lengths.next().is_some() {
        return Err(Rejection::bad("Content-Length is given twice"));
    }
    let mut codings = values(fields, "transfer-encoding");
    match (codings.next(), length) {
        (None, None) => Ok(None),
        (None, Some(digits)) => content_length(digits).map(|length| Some(Framing::Length(length))),
        (Some(_), Some(_)) => Err(Rejection::bad(
            "Content-Length and Transfer-Encoding exclude each other",
        )),
        (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") => {
            if codings.next().is_some() {
                return Err(Rejection::bad("Transfer-Encoding is given twice"));
            }
            Ok(Some(Framing::Chunked))
        }
        (Some(_), None) => Err(Rejection::new(
            Status::NOT_IMPLEMENTED,
            "chunked is the only transfer coding that is understood",
        )),
    }
}

fn content_length(digits: &[u8]) -> Result<usize, Rejection> {
    // `str::parse` would accept a sign.
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Rejection::bad("Content-Length is not a number"));
    }
    let digits = std::str::from_utf8(digits).unwrap_or_default();
    // A number that exceeds a machine word is still a number: too large, which the caller refuses.
    Ok(digits.parse().unwrap_or(usize::MAX))
}
