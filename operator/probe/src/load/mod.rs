//! Runs one trial: waits for the right answer, warms up, loads for the timed window, and asks
//! again. A request in, a document out, whatever happens in between.

mod absent;
mod amounts;
mod ceiling;
mod climb;
mod course;
mod mix;
mod part;
mod payload;
pub mod peak;
mod readings;
mod scheduled;
mod settling;
mod timed;
mod window;

use std::time::{Duration, Instant};

use wasmbench_api::run::Expectation;
use wasmbench_model::wire::document::{Answer, LOAD_SCHEMA, LoadDocument};
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::request as wire;
use wasmbench_model::wire::request::{LoadRequest, MeterLevel};

use crate::action::{Action, Endpoint};
use crate::answer::Judged;
use crate::generator::task::{Load, Part};
use crate::meter::{NO_METER, PodMeter};
use crate::output::progress;
use crate::ready::{Patience, Question, readying};
use crate::request;
use crate::settings::Settings;
use crate::target::{Origin, Target};
use crate::{body, cpus, engine, environment, generator};
pub use amounts::Amounts;
use mix::Mix;
use scheduled::ScheduledLoad;
pub use timed::Bench;
use timed::Warm;
use window::Answered;

/// Time for the answer after the load: a healthy subject works off the backlog of the largest load
/// in this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// Failures in a row after the load that count as chance, for a subject that may fail at times.
const FAILURES: u32 = 2;

/// Measures one trial. `request` is the JSON text from the environment.
pub fn run(settings: &Settings, request: Option<&str>) -> LoadDocument {
    let mut document = LoadDocument {
        schema: LOAD_SCHEMA.to_owned(),
        probe_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..LoadDocument::default()
    };
    let before = environment::read(settings);
    let measured = request::parse::<LoadRequest>(request, "a load")
        .and_then(|request| measure(settings, &request, &mut document));
    if let Err(failure) = measured {
        progress(&format!("failed: {}", failure.message));
        document.failure = Some(failure);
    }
    if document.fortio_version.is_empty() {
        document.fortio_version = generator::version(&settings.generator);
    }
    document.environment = environment::read(settings).since(&before);
    document
}

fn measure(
    settings: &Settings,
    request: &LoadRequest,
    document: &mut LoadDocument,
) -> Result<(), Failure> {
    let endpoint = endpoint(settings, request)?;
    let patience = Patience::start(Duration::from_secs(request.ready_timeout_seconds.into()));
    endpoint.initialise(patience)?;
    let target = endpoint.target;
    let ready = readying(origin(request), request.ready.as_ref())?;
    let question = Question {
        ready: ready.as_ref(),
        target: &target,
        expect: &request.expect,
        variant_prefix: &request.body_prefix,
    };

    let (before, answer_time) = wait(&question, patience, document)?;
    let (mix, prefix) = (Mix::read(settings, request)?, &request.body_prefix);
    mix.wait(
        ready.as_ref(),
        prefix,
        patience,
        &mut document.further_answers,
    )?;

    document.cpus = cpus::read(&settings.proc, &request.pod_uid);

    let answered = if let Some(payload) = &request.payload {
        payload::measure(settings, request, payload, document)?;
        Ok(())
    } else {
        let requests = (&target, mix.parts.as_slice());
        let before = (&before, answer_time);
        load(settings, request, requests, before, document)?
    };

    let failures = if request.may_fail { FAILURES } else { 0 };
    let after = question.ask_again(PATIENCE, failures);
    document.answer_after = after.as_ref().ok().map(|judged| judged.answer.clone());
    let engine_path = request.engine_path.as_deref();
    document.engine = engine_path.map(|path| engine::ask(&target, path));
    useful(answered)?;
    unchanged(&request.expect, &before, after)?;
    mix.ask_again(prefix, PATIENCE, failures, &mut document.further_answers)
}

/// Measures the ceiling of the load generator if requested, warms up, and loads for one window or a
/// ladder of them. `requests` are the target and the parts of a mix; `before` is the first correct
/// answer, and how long it took.
fn load(
    settings: &Settings,
    request: &LoadRequest,
    requests: (&Target, &[Part]),
    before: (&Answer, Duration),
    document: &mut LoadDocument,
) -> Result<Answered, Failure> {
    let amounts = Amounts::from_load(request.load);
    let mut bench = bench(settings, request, requests, before.0);
    bench.deadline = Instant::now() + amounts.budget;
    if request.calibrate_generator {
        let own = document
            .cpus
            .as_ref()
            .and_then(|cpus| cpus.generator.as_deref());
        match ceiling::measure(&bench, own) {
            Ok(ceiling) => document.generator_ceiling = Some(ceiling),
            Err(why) => drop(document.absent.insert("generatorCeiling".to_owned(), why)),
        }
        bench.deadline = Instant::now() + amounts.budget;
    }
    let warm = bench.warm_up(&amounts, before.1)?;
    document.warmup = Some(warm.warmup);
    document.fortio_version.clone_from(&warm.version);
    match &request.ladder {
        Some(ladder) => climb::climb(&bench, ladder, &warm, document),
        None => load_once(&bench, request.load, &amounts, &warm, document),
    }
}

/// Loads for one timed window.
fn load_once(
    bench: &Bench<'_>,
    load: wire::Load,
    amounts: &Amounts,
    warm: &Warm,
    document: &mut LoadDocument,
) -> Result<Answered, Failure> {
    let (window, answered) = match scheduled_of(load) {
        Some(load) => bench.scheduled(load, warm)?,
        None => bench.timed(amounts, warm)?,
    };
    let missing = absent::reasons(&window, document.cpus.as_ref(), bench);
    document.absent.extend(missing);
    document.timed = Some(window);
    Ok(answered)
}

/// Returns where the subject receives requests, and what initialises it.
fn endpoint(settings: &Settings, request: &LoadRequest) -> Result<Endpoint, Failure> {
    let called = request
        .action
        .as_ref()
        .map(|call| Action::read(call, &settings.actions))
        .transpose()?;
    let action = called.as_ref().map(|action| (action, None));
    let sent = (&request.sent, body::bytes(&request.sent, &settings.bodies)?);
    Endpoint::new(origin(request), sent, action).map_err(|error| request::bad(error.to_string()))
}

/// Where the subject is.
fn origin(request: &LoadRequest) -> Origin {
    Origin::new(request.address, request.port, request.scheme)
}

/// Names the request of a mix in a failure.
fn wrong_part(name: &str, failure: Failure) -> Failure {
    let message = format!("request {name} of the mix: {}", failure.message);
    Failure { message, ..failure }
}

/// Returns what loads the pod at `target`, with the parts of a mix, if it is one.
fn bench<'a>(
    settings: &'a Settings,
    request: &'a LoadRequest,
    (target, parts): (&'a Target, &'a [Part]),
    answer: &Answer,
) -> Bench<'a> {
    let meter = find_meter(settings, request.meter, &request.pod_uid);
    let found = meter.as_ref().ok();
    let containers = found.map(|meter| meter.containers(&request.containers));
    Bench {
        generator: &settings.generator,
        load: Load {
            target,
            parts,
            status: request.expect.status,
            connections: request.connections,
            reuse: request.connection_reuse,
            answer_bytes: answer.body_bytes,
        },
        meter,
        containers: containers.unwrap_or_default(),
        upstream: request
            .upstream_uid
            .as_ref()
            .map(|uid| counters(settings, request.meter, uid)),
        companions: request
            .companion_uids
            .as_ref()
            .map(|uids| companions(settings, request.meter, uids)),
        proc: &settings.proc,
        sys: &settings.sys,
        instances: request
            .engine_path
            .as_deref()
            .filter(|_| request.counts_instances),
        cpus: environment::cpus(settings),
        noise: request.noise,
        deadline: Instant::now(),
    }
}

fn useful(answered: Answered) -> Result<(), Failure> {
    answered.map_err(|codes| {
        let message = format!("no request of the timed window was answered as expected: {codes}");
        failure(FailureReason::NoSuccessfulRequest, message)
    })
}

/// The settings of a load on a schedule; `None` for other loads.
fn scheduled_of(load: wire::Load) -> Option<ScheduledLoad> {
    match load {
        wire::Load::OpenLoop {
            requested_rps,
            seconds,
            ..
        } => Some(ScheduledLoad {
            rps: requested_rps,
            seconds,
        }),
        wire::Load::Requests { .. } | wire::Load::Duration { .. } => None,
    }
}

/// Waits for the first correct answer; returns it and the time it took by itself.
fn wait(
    question: &Question<'_>,
    patience: Patience,
    document: &mut LoadDocument,
) -> Result<(Answer, Duration), Failure> {
    progress(&format!("waiting for {}", question.target.url()));
    let waited = question.wait(patience);
    document.readiness = waited.readiness;
    document.answer_before = waited
        .outcome
        .as_ref()
        .ok()
        .cloned()
        .or(waited.wrong_answer);
    let answer = waited.outcome?;
    progress(&format!(
        "correct answer after {} us",
        waited.readiness.waited_microseconds
    ));
    Ok((answer, waited.answer_time))
}

/// The subject's counters, or why there are none.
fn find_meter(settings: &Settings, level: MeterLevel, pod_uid: &str) -> Result<PodMeter, String> {
    let meter = counters(settings, level, pod_uid);
    progress(&match &meter {
        Ok(meter) => format!("counters at {}", meter.place()),
        Err(why) => format!("no resources: {why}"),
    });
    meter
}

/// The counters of the companions, or why they are not read.
fn companions(
    settings: &Settings,
    level: MeterLevel,
    uids: &[String],
) -> Result<Vec<PodMeter>, String> {
    if uids.is_empty() {
        return Err("no pod on the node has the labels of spec.companions".to_owned());
    }
    let found = uids.iter().map(|uid| counters(settings, level, uid));
    found.collect()
}

/// The counters of a pod, or why they are not read.
fn counters(settings: &Settings, level: MeterLevel, pod_uid: &str) -> Result<PodMeter, String> {
    match level {
        MeterLevel::None => Err(NO_METER.to_owned()),
        MeterLevel::Cgroup => {
            let below = settings.cgroup.display();
            let meter = PodMeter::find(&settings.cgroup, &settings.proc, pod_uid);
            meter.ok_or_else(|| format!("pod {pod_uid} has no cgroup below {below}"))
        }
    }
}

/// Checks that the answer after the load is right, and is the one before it if all answers must be
/// the same. Otherwise it may differ: a counter that counts is no error.
fn unchanged(
    expect: &Expectation,
    before: &Answer,
    after: Result<Judged, String>,
) -> Result<(), Failure> {
    let after = after.map_err(|why| changed(format!("no answer after the load: {why}")))?;
    if let Some(why) = after.wrong {
        return Err(changed(format!(
            "the answer after the load is wrong: {why}"
        )));
    }
    if !expect.same_across_variants || before.is_same(&after.answer) {
        return Ok(());
    }
    Err(changed(format!(
        "the answer changed: '{}' before the load, '{}' after it, and expect.sameAcrossVariants asks \
         for one answer",
        before.excerpt, after.answer.excerpt
    )))
}

fn changed(message: String) -> Failure {
    failure(FailureReason::AnswerChanged, message)
}

fn failure(reason: FailureReason, message: String) -> Failure {
    Failure { reason, message }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use wasmbench_model::wire::request::REQUEST_ENV;

    use super::*;

    fn refused(request: Option<&str>) -> Failure {
        let nowhere = PathBuf::from("/nowhere");
        let settings = Settings {
            generator: nowhere.clone(),
            actions: nowhere.clone(),
            bodies: nowhere.clone(),
            cgroup: nowhere.clone(),
            proc: nowhere.clone(),
            containerd: nowhere.clone(),
            sys: nowhere,
        };
        run(&settings, request).failure.unwrap()
    }

    #[test]
    fn a_request_that_cannot_be_understood_is_a_failure_with_a_reason() {
        for request in [
            None,
            Some(""),
            Some("{}"),
            Some("{\"address\":\"not one\"}"),
        ] {
            let failure = refused(request);
            assert_eq!(failure.reason, FailureReason::BadRequest);
            assert!(failure.message.contains(REQUEST_ENV));
        }
    }
}
