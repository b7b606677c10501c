//! Requests in, responses out.

use std::io::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use crate::executor::{Ended, Executor, Limits};
use crate::functions::{Functions, Refused};
use crate::protocol::{self, END_MARKER};

/// The platform's own limit for code, plus a third for base64.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
/// The name of the unnamed function.
const DEFAULT: &str = "";
/// Longest name of a function.
const MAX_NAME_CHARS: usize = 40;
/// Bytes logged per stream and call.
const MAX_LOG_BYTES: usize = 4096;
/// How this process was compiled, and with it whatever executes functions.
const PROFILE: &str = if cfg!(debug_assertions) {
    "debug"
} else {
    "release"
};

/// State shared by all requests.
pub struct Host<E: Executor> {
    functions: Functions<E>,
    limits: Limits,
}

type Shared<E> = State<Arc<Host<E>>>;

/// The routes of a process.
pub fn routes<E: Executor>(executor: E, limits: Limits) -> Router {
    let host = Host {
        functions: Functions::new(executor),
        limits,
    };
    let mut router = Router::new()
        .route(
            "/init",
            post(|host: Shared<E>, body: Bytes| init(host, DEFAULT.into(), body)),
        )
        .route(
            "/run",
            post(|host: Shared<E>, body: Bytes| run(host, DEFAULT.into(), body)),
        )
        .route("/engine", get(engine::<E>));
    if E::IS_SHARED {
        router = router
            .route(
                "/{function}/init",
                post(|host: Shared<E>, Path(name), body: Bytes| init(host, name, body)),
            )
            .route(
                "/{function}/run",
                post(|host: Shared<E>, Path(name), body: Bytes| run(host, name, body)),
            )
            .route("/{function}/destroy", post(destroy::<E>));
    }
    router
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .with_state(Arc::new(host))
}

async fn init<E: Executor>(State(host): Shared<E>, name: String, body: Bytes) -> Response {
    if !is_name(&name) {
        let message = "the name of a function has at most 40 lower-case letters, digits and dashes";
        return refused(StatusCode::BAD_REQUEST, message);
    }
    let done = spawn_blocking(move || {
        let code = protocol::code(&body).map_err(Refused::Code)?;
        host.functions.init(&name, &code)
    });
    match done.await {
        Ok(Ok(())) => json(StatusCode::OK, b"{\"ok\":true}".to_vec()),
        Ok(Err(why)) => unwilling(why),
        Err(_) => refused(StatusCode::BAD_GATEWAY, "the code could not be made ready"),
    }
}

async fn run<E: Executor>(State(host): Shared<E>, name: String, body: Bytes) -> Response {
    let code = match host.functions.find(&name) {
        Ok(code) => code,
        Err(why) => return unwilling(why),
    };
    let parameters = match protocol::parameters(&body) {
        Ok(parameters) => parameters,
        Err(why) => return refused(StatusCode::BAD_REQUEST, &why),
    };
    let ended = spawn_blocking(move || {
        let ended = host
            .functions
            .executor()
            .call(&code, parameters, host.limits);
        log(&ended);
        ended
    });
    match ended.await {
        Ok(Ended {
            failure: Some(why), ..
        }) => refused(StatusCode::BAD_GATEWAY, &why),
        Ok(Ended { output, .. }) => match protocol::answer(&output) {
            Ok(answer) => json(StatusCode::OK, answer),
            Err(why) => refused(StatusCode::BAD_GATEWAY, &why),
        },
        Err(_) => refused(StatusCode::BAD_GATEWAY, "the function could not be called"),
    }
}

async fn destroy<E: Executor>(State(host): Shared<E>, Path(name): Path<String>) -> Response {
    match host.functions.destroy(&name) {
        Ok(()) => json(StatusCode::OK, b"{\"ok\":true}".to_vec()),
        Err(why) => unwilling(why),
    }
}

async fn engine<E: Executor>(State(host): Shared<E>) -> Response {
    let facts = spawn_blocking(move || {
        let executor = host.functions.executor();
        let facts = executor.facts().into_iter();
        let mut facts: Map<String, Value> = facts
            .map(|(member, value)| (member.to_owned(), value.into()))
            .collect();
        facts.insert("profile".into(), PROFILE.into());
        if let Some(chain) = executor.chain() {
            let nanoseconds = u64::try_from(chain.as_nanos()).unwrap_or(u64::MAX);
            facts.insert("chainNanoseconds".into(), nanoseconds.into());
        }
        Value::Object(facts).to_string().into_bytes()
    });
    match facts.await {
        Ok(facts) => json(StatusCode::OK, facts),
        Err(_) => refused(StatusCode::BAD_GATEWAY, "the engine reports nothing"),
    }
}

/// Logs the beginning of what a function wrote to each stream, followed by the end marker. A log
/// that nobody reads must not end the service.
fn log(ended: &Ended) {
    let (before, _) = protocol::log_and_answer(&ended.output);
    let _ = std::io::stdout().lock().write_all(&logged(before));
    let _ = std::io::stderr().lock().write_all(&logged(&ended.message));
}

/// Ends the text with a newline, and appends the marker.
fn logged(text: &[u8]) -> Vec<u8> {
    let text = text[..text.len().min(MAX_LOG_BYTES)].trim_ascii_end();
    let newline: &[u8] = if text.is_empty() { b"" } else { b"\n" };
    [text, newline, END_MARKER.as_bytes(), b"\n"].concat()
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= MAX_NAME_CHARS
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn unwilling(why: Refused) -> Response {
    match why {
        Refused::Twice => refused(
            StatusCode::FORBIDDEN,
            "the function is initialised already, which is done once",
        ),
        Refused::Unknown => refused(
            StatusCode::NOT_FOUND,
            "there is no such function: initialise it first",
        ),
        Refused::Loading => refused(
            StatusCode::CONFLICT,
            "the function is still being initialised: wait for the answer to that",
        ),
        Refused::Full => refused(
            StatusCode::INSUFFICIENT_STORAGE,
            "the process has as many functions as it takes: destroy one",
        ),
        Refused::Code(why) => refused(StatusCode::BAD_REQUEST, &why),
    }
}

fn refused(status: StatusCode, message: &str) -> Response {
    json(status, protocol::error(message))
}

fn json(status: StatusCode, body: Vec<u8>) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
