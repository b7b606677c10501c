//! Forwarding: the host connects.

use gateway_http::Request;
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{Fields, IncomingRequest, OutgoingBody, OutgoingRequest, Scheme};

use crate::answer::Answer;
use crate::stream;

/// `HOST:PORT` of the upstream, as for the other gateways.
const UPSTREAM: &str = "WASMBENCH_UPSTREAM";
/// Fields that belong to a connection or are made anew.
const NOT_PASSED_ON: [&str; 4] = ["connection", "content-length", "host", "transfer-encoding"];

/// Returns the upstream's response.
pub fn forward(given: &IncomingRequest, request: &Request) -> Answer {
    let Ok(authority) = std::env::var(UPSTREAM) else {
        return Answer::text(502, "there is no upstream");
    };
    ask(&authority, given, request).unwrap_or_else(|message| Answer::text(502, message))
}

fn ask(
    authority: &str,
    given: &IncomingRequest,
    request: &Request,
) -> Result<Answer, &'static str> {
    let fields = Fields::new();
    for (name, value) in given.headers().entries() {
        if !NOT_PASSED_ON.contains(&name.as_str()) {
            // The host rejects fields that a guest may not set.
            let _ = fields.append(&name, &value);
        }
    }
    let _ = fields.set(
        "content-length",
        &[request.body().len().to_string().into_bytes()],
    );
    let outgoing = OutgoingRequest::new(fields);
    let target = given.path_with_query();
    let refused = |()| "the request cannot be passed on";
    outgoing.set_method(&given.method()).map_err(refused)?;
    outgoing.set_scheme(Some(&Scheme::Http)).map_err(refused)?;
    outgoing.set_authority(Some(authority)).map_err(refused)?;
    outgoing
        .set_path_with_query(target.as_deref())
        .map_err(refused)?;
    let body = outgoing.body().map_err(refused)?;
    let answered = handle(outgoing, None).map_err(|_| "the upstream cannot be reached")?;
    stream::write(&body, request.body()).map_err(|_| "the upstream takes no body")?;
    OutgoingBody::finish(body, None).map_err(|_| "the upstream takes no body")?;
    answered.subscribe().block();
    let response = match answered.get() {
        Some(Ok(Ok(response))) => response,
        _ => return Err("the upstream does not answer"),
    };
    let content_type = response.headers().get("content-type").into_iter().next();
    let body = response
        .consume()
        .map_err(|()| "the upstream's answer cannot be read")?;
    Ok(Answer {
        status: response.status(),
        content_type: content_type.unwrap_or_default(),
        body: stream::read(body)?,
    })
}
