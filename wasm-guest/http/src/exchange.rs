//! One request to its end.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use gateway_http::{Failed, Method, Outcome, Request, Service, Transform, Workloads, guest_facts};
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::exports::http::incoming_handler::Guest;
use wasip2::http::types::{
    Fields, IncomingRequest, Method as WasiMethod, OutgoingBody, OutgoingResponse, ResponseOutparam,
};

use crate::answer::{Answer, JSON, TEXT};
use crate::{stream, upstream};

/// The status of a response for which none was set.
const USUAL_STATUS: u16 = 200;

wasip2::http::proxy::export!(Handler);

struct Handler;

/// Leaves responses as they are, and reports what the guest can observe of its execution.
struct Unchanged;

impl Transform for Unchanged {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Ok(())
    }

    fn describe(&self) -> String {
        guest_facts()
    }
}

impl Guest for Handler {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let method = request.method();
        let head = matches!(method, WasiMethod::Head);
        send(answer(&request, &method), head, out);
    }
}

fn answer(given: &IncomingRequest, method: &WasiMethod) -> Answer {
    let method = match method {
        WasiMethod::Get => Method::Get,
        WasiMethod::Head => Method::Head,
        WasiMethod::Post => Method::Post,
        _ => return Answer::text(405, "the methods here are GET, HEAD and POST"),
    };
    let target = given.path_with_query().unwrap_or_else(|| "/".to_owned());
    let sent = match method {
        Method::Post => given.consume().map_or(Ok(Vec::new()), stream::read),
        Method::Get | Method::Head => Ok(Vec::new()),
    };
    let sent = match sent {
        Ok(bytes) => bytes,
        Err(message) => return Answer::text(400, message),
    };
    let request = Request::new(method, target, sent);
    let mut body = Vec::new();
    let text = |status: u16, body| Answer {
        status,
        content_type: TEXT.to_vec(),
        body,
    };
    match workloads().handle(&request, &mut body) {
        Outcome::Text(status) => text(status.code(), body),
        Outcome::Json(status) => Answer {
            content_type: JSON.to_vec(),
            ..text(status.code(), body)
        },
        Outcome::Later(status, time) => {
            // The host serves other requests meanwhile: each has its own instance.
            let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            subscribe_duration(nanoseconds).block();
            text(status.code(), body)
        }
        Outcome::Forward => upstream::forward(given, &request),
        // Only for transforms that name a program, which `Unchanged` does not.
        Outcome::Child(..) => text(500, b"a component starts no process".to_vec()),
    }
}

/// The workloads of one request. Nothing is kept from the last request, so what `/mixed` does is
/// chosen at random.
fn workloads() -> Workloads<Unchanged> {
    let random = RandomState::new().build_hasher().finish();
    Workloads::new(Unchanged).drawing_from(random)
}

fn send(answer: Answer, head: bool, out: ResponseOutparam) {
    let length = answer.body.len().to_string().into_bytes();
    let fields = [
        ("content-type".to_owned(), answer.content_type),
        ("content-length".to_owned(), length),
    ];
    // Neither name is forbidden, and both values are plain. Each call to the host adds to a
    // request's cost.
    let response =
        OutgoingResponse::new(Fields::from_list(&fields).unwrap_or_else(|_| Fields::new()));
    if answer.status != USUAL_STATUS {
        let _ = response.set_status_code(answer.status);
    }
    let body = response.body();
    ResponseOutparam::set(out, Ok(response));
    // A client that is gone does not need the rest of its response.
    if let Ok(body) = body {
        if !head {
            let _ = stream::write(&body, &answer.body);
        }
        let _ = OutgoingBody::finish(body, None);
    }
}
