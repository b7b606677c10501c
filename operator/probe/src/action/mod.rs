//! A function called by the action protocol: the probe sends its code once and then calls it. The
//! code is a file in the probe's image, so sending it is part of the start, as on a platform that
//! stores code elsewhere.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use wasmbench_model::wire::action::ActionCall;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::sent::Sent;

use crate::clock::unix_nanoseconds;
use crate::http::{self, Error, Malformed};
use crate::ready::Patience;
use crate::target::{self, Origin, Target};

/// Gap between attempts to reach a pod that does not listen yet; the same as between attempts to
/// get its first answer.
const GAP: Duration = Duration::from_micros(600);
/// Timeout for sending the code: a large module takes seconds to compile, longer if others compile
/// at the same time.
const INIT: Duration = Duration::from_mins(1);
/// Characters quoted from a response that refuses the code.
const EXCERPT: usize = 200;

/// The request bodies sent to a function.
#[derive(Clone, Debug)]
pub struct Action {
    init: Arc<[u8]>,
    run: Arc<[u8]>,
}

/// Where a subject receives requests, and what initialises it first.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The request that sends a function's code; `None` if the subject is not a function.
    pub init: Option<Target>,
    /// The request sent after that.
    pub target: Target,
}

/// When a function's code was sent and when the function was ready, in nanoseconds since the Unix
/// epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initialised {
    /// When the request that was answered began.
    pub sent: i64,
    /// When its answer was complete.
    pub answered: i64,
}

impl Action {
    /// Reads the code of `call` from `folder`.
    pub fn read(call: &ActionCall, folder: &Path) -> Result<Self, Failure> {
        let ending = if call.shares_pod() { ".wasm" } else { "" };
        let file = folder.join(format!("{}{ending}", call.code));
        let code = std::fs::read(&file).map_err(|error| {
            let message = format!("the probe has no code {}: {error}", file.display());
            failure(FailureReason::BadRequest, message)
        })?;
        Ok(Self::new(&code, &call.parameters))
    }

    fn new(code: &[u8], parameters: &BTreeMap<String, String>) -> Self {
        let code = BASE64_STANDARD.encode(code);
        let init =
            json!({"value": {"name": "wasmbench", "main": "main", "binary": true, "code": code}});
        let bytes = |value: serde_json::Value| value.to_string().into_bytes().into();
        Self {
            init: bytes(init),
            run: bytes(json!({ "value": parameters })),
        }
    }
}

impl Endpoint {
    /// Returns the endpoint of a service that is `sent` this, with this body, or of its function,
    /// which has a name if it shares its pod.
    pub fn new(
        origin: Origin,
        (sent, body): (&Sent, Option<Arc<[u8]>>),
        action: Option<(&Action, Option<&str>)>,
    ) -> Result<Self, target::Error> {
        let Some((action, function)) = action else {
            let target = Target::from_sent(origin, sent, body)?;
            return Ok(Self { init: None, target });
        };
        let to = |what, body: &Arc<[u8]>| {
            let target = Target::new(origin, &path_of(function, what))?;
            Ok(target.posting(Arc::clone(body)))
        };
        Ok(Self {
            init: Some(to("init", &action.init)?),
            target: to("run", &action.run)?,
        })
    }

    /// Sends the code, as soon as something listens.
    pub fn initialise(&self, patience: Patience) -> Result<Option<Initialised>, Failure> {
        let Some(init) = &self.init else {
            return Ok(None);
        };
        loop {
            let (attempt, sent) = (Instant::now(), unix_nanoseconds());
            match http::ask_within(init, INIT) {
                Ok(response) if response.status == 200 => {
                    let answered = unix_nanoseconds();
                    return Ok(Some(Initialised { sent, answered }));
                }
                Ok(response) => return Err(refused(init, response.status, &response.body)),
                Err(Error::Connect(_)) if !patience.is_over() => {
                    std::thread::sleep(GAP.saturating_sub(attempt.elapsed()));
                }
                Err(error) => return Err(unanswered(init, &error)),
            }
        }
    }
}

/// Makes the pod at this address forget a function.
pub fn destroy(address: IpAddr, port: u16, function: &str) -> Result<(), String> {
    let origin = SocketAddr::new(address, port);
    let target = Target::new(origin, &path_of(Some(function), "destroy"))
        .map_err(|error| error.to_string())?
        .posting(Arc::from(*b"{}"));
    match http::ask_within(&target, http::ANSWER) {
        Ok(response) if response.status == 200 => Ok(()),
        Ok(response) => Err(format!("status {}", response.status)),
        Err(error) => Err(error.to_string()),
    }
}

fn path_of(function: Option<&str>, what: &str) -> String {
    match function {
        Some(function) => format!("/{function}/{what}"),
        None => format!("/{what}"),
    }
}

fn refused(init: &Target, status: u16, body: &[u8]) -> Failure {
    let message: String = String::from_utf8_lossy(body)
        .chars()
        .take(EXCERPT)
        .collect();
    let message = format!(
        "POST {} was refused with status {status}: {message}",
        init.path
    );
    failure(FailureReason::WrongAnswer, message)
}

fn unanswered(init: &Target, error: &Error) -> Failure {
    let reason = match error {
        Error::Connect(_) => FailureReason::NeverListened,
        Error::Slow(_) => FailureReason::AnswerTooSlow,
        Error::Tls(_) | Error::Malformed(Malformed::Tls) => FailureReason::TlsMismatch,
        Error::Broken(_) | Error::Malformed(_) => FailureReason::SubjectCrashed,
    };
    failure(reason, format!("POST {}: {error}", init.path))
}

fn failure(reason: FailureReason, message: String) -> Failure {
    Failure { reason, message }
}

#[cfg(test)]
mod tests;
