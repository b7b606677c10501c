//! Looks at one variant before anything is measured: requests each workload twice, reads the node's
//! CPU time in a second of silence, and measures the peaks if rates follow from them. A request in,
//! a document out, whatever happens in between.

mod idle;
mod look;
mod peaks;

use std::time::Duration;

use wasmbench_model::wire::failure::Failure;
use wasmbench_model::wire::scout::{
    SCOUT_SCHEMA, ScoutDocument, ScoutRequest, ScoutWorkload, Scouted,
};

use crate::action::{Action, Endpoint};
use crate::body;
use crate::environment;
use crate::output::progress;
use crate::ready::{Patience, Question, readying};
use crate::request;
use crate::settings::Settings;
use crate::target::Origin;
use look::Looked;

/// Looks at one variant. `request` is the JSON text from the environment.
pub fn run(settings: &Settings, request: Option<&str>) -> ScoutDocument {
    let before = environment::read(settings);
    let mut document = ScoutDocument {
        schema: SCOUT_SCHEMA.to_owned(),
        probe_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..ScoutDocument::default()
    };
    let looked = request::parse::<ScoutRequest>(request, "a scout")
        .and_then(|request| look(settings, &request, &mut document));
    if let Err(failure) = looked {
        progress(&format!("failed: {}", failure.message));
        document.failure = Some(failure);
    }
    document.environment = environment::read(settings).since(&before);
    document
}

fn look(
    settings: &Settings,
    request: &ScoutRequest,
    document: &mut ScoutDocument,
) -> Result<(), Failure> {
    let patience = Patience::start(Duration::from_secs(request.ready_timeout_seconds.into()));
    let ready = readying(origin(request), request.ready.as_ref())?;
    let mut code: Option<&str> = None;
    let mut was_ready = false;
    for workload in &request.workloads {
        let call = workload.action.as_ref();
        if let (Some(code), Some(call)) = (code, call)
            && code != call.code
        {
            let why = format!("the pod was initialised with {code}, and takes no second function");
            document.workloads.push(not_asked(workload, why));
            continue;
        }
        let endpoint = endpoint(settings, request, workload)?;
        if code.is_none() {
            endpoint.initialise(patience)?;
        }
        code = code.or(call.map(|call| call.code.as_str()));
        let question = Question {
            ready: ready.as_ref(),
            target: &endpoint.target,
            expect: &workload.expect,
            variant_prefix: &request.body_prefix,
        };
        progress(&format!(
            "asking {} for {}",
            endpoint.target.url(),
            workload.name
        ));
        let Looked {
            readiness,
            was_right,
            scouted,
        } = look::look(&question, workload, patience);
        if !was_ready {
            document.readiness.waited_microseconds += readiness.waited_microseconds;
            document.readiness.attempts += readiness.attempts;
        }
        was_ready |= was_right;
        document.workloads.push(scouted);
    }
    document.idle = idle::read(settings, request);
    any_answer(&document.workloads)?;
    peaks::add(settings, request, &mut document.workloads);
    Ok(())
}

/// Whether the subject answered anything, right or wrong. If not, the first reason is that of all.
fn any_answer(workloads: &[Scouted]) -> Result<(), Failure> {
    if workloads.iter().any(|one| !one.answers.is_empty()) {
        return Ok(());
    }
    let mut failures = workloads.iter().filter_map(|one| one.failure.as_ref());
    failures
        .next()
        .map_or(Ok(()), |failure| Err(failure.clone()))
}

fn not_asked(workload: &ScoutWorkload, why: String) -> Scouted {
    Scouted {
        workload: workload.name.clone(),
        answers: vec![],
        failure: None,
        not_asked: Some(why),
        peak: None,
        no_peak: None,
    }
}

/// Where the subject receives requests of a workload, and what initialises it.
fn endpoint(
    settings: &Settings,
    request: &ScoutRequest,
    workload: &ScoutWorkload,
) -> Result<Endpoint, Failure> {
    let called = workload
        .action
        .as_ref()
        .map(|call| Action::read(call, &settings.actions))
        .transpose()?;
    let action = called.as_ref().map(|action| (action, None));
    let sent = (
        &workload.sent,
        body::bytes(&workload.sent, &settings.bodies)?,
    );
    Endpoint::new(origin(request), sent, action).map_err(|error| request::bad(error.to_string()))
}

/// Where the subject is.
fn origin(request: &ScoutRequest) -> Origin {
    Origin::new(request.address, request.port, request.scheme)
}
