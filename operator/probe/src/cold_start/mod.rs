//! Runs a trial of cold starts: one sample after the other, each a number of pods that are created
//! at once, waited for, and removed. A request in, a document out, whatever happens in between.
//!
//! Reading order: [`sample`] (one sample) and [`ending`] (its end), [`host`] (pods on the node's
//! network), [`shared`] (functions in a pod that stays), [`scaled`] (pods that an object makes; [`scaler`]: the object), [`watch`] (what the API reports, stamped
//! on arrival), [`timeline`] (moments of one pod), [`log`] (containerd's timestamp of the line that
//! reports that the service listens), [`prepare`], [`removal`], [`pull`] and [`class`] (what the
//! node already had), [`runtime`] (the connection to containerd) and [`runtime_events`] (its
//! events), [`trouble`] (pods not worth waiting for), [`unanswered`] (pods that were waited for in
//! vain) and [`late`] (when these end the trial).

mod class;
mod ending;
mod host;
mod late;
mod log;
mod prepare;
mod pull;
mod removal;
mod runtime;
mod runtime_events;
mod sample;
mod scaled;
mod scaler;
mod shared;
mod timeline;
mod trouble;
mod unanswered;
mod watch;

use std::time::Duration;

use kube::{Api, Client};
use runtime::{Runtime, patiently};
use wasmbench_model::wire::cold_start::{
    COLD_START_SCHEMA, ColdSample, ColdStartDocument, ColdStartRequest, with_refills,
};
use wasmbench_model::wire::document::Answer;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use crate::environment;
use crate::output::progress;
use crate::ready::readying;
use crate::request;
use crate::settings::Settings;
use crate::target::{Origin, Target};
pub use sample::{Course, Pods};
pub use timeline::Timeline;

/// Timeout for connecting to the API server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Measures one trial. `request` is the JSON text from the environment.
pub fn run(settings: &Settings, request: Option<&str>) -> ColdStartDocument {
    let mut document = ColdStartDocument {
        schema: COLD_START_SCHEMA.to_owned(),
        probe_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..ColdStartDocument::default()
    };
    let before = environment::read(settings);
    document.failure = block_on(measure(settings, request, &mut document)).err();
    document.environment = environment::read(settings).since(&before);
    document
}

/// Runs a measurement on one thread for everything that waits: the other CPUs are left to what is
/// measured.
pub fn block_on(measurement: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| unavailable(format!("no runtime: {error}")))?
        .block_on(measurement)
}

async fn measure(
    settings: &Settings,
    request: Option<&str>,
    document: &mut ColdStartDocument,
) -> Result<(), Failure> {
    let request: ColdStartRequest = request::parse(request, "cold starts")?;
    check_sent(&request)?;
    take(connect().await?, settings, &request, document).await
}

/// Takes all samples, up to the first that fails.
async fn take(
    client: Client,
    settings: &Settings,
    request: &ColdStartRequest,
    document: &mut ColdStartDocument,
) -> Result<(), Failure> {
    let namespace = request.pod.metadata.namespace.clone().unwrap_or_default();
    let api = Api::namespaced(client, &namespace);
    let mut course = Course::begin(api, request).await?;
    course.proc = Some(settings.proc.clone());
    course.read_bodies(settings)?;
    if request.containerd {
        let connected = patiently(async || Runtime::connect(&settings.containerd).await).await;
        course.runtime = Some(connected?);
    }
    let outcome = match course.begin_hosting().await {
        Ok(()) => take_samples(&mut course, request, document).await,
        Err(failure) => Err(failure),
    };
    outcome.and(course.end_hosting().await)
}

async fn take_samples<'a>(
    course: &mut Course<'a>,
    request: &'a ColdStartRequest,
    document: &mut ColdStartDocument,
) -> Result<(), Failure> {
    let mut right = 0;
    for number in 0..=with_refills(request.samples) {
        let (sample, answers, outcome) = course.sample(number).await;
        let is_right = outcome.is_ok() && sample.counts();
        for late in sample.late() {
            progress(&format!("late: {}", late.failure.message));
        }
        document.samples.push(sample);
        document.added.clone_from(&course.added);
        for answer in answers {
            let before = document.answer.replace(answer.clone());
            same(request, before.as_ref(), &answer)?;
        }
        outcome?;
        late::give_up(&document.samples, request)?;
        right += u32::from(is_right);
        progress(&format!("{right} of {} samples", request.samples));
        if right == request.samples {
            break;
        }
    }
    document.image = course.image_parts().await;
    if let Some(floor) = &request.floor {
        course.turn_to(floor);
        document.floor_failure = take_floor(course, floor, &mut document.floor).await;
    }
    Ok(())
}

/// Takes the samples of the floor, a subject that does nothing but listen. A failure here
/// proves nothing about the measured subject.
async fn take_floor(
    course: &mut Course<'_>,
    request: &ColdStartRequest,
    samples: &mut Vec<ColdSample>,
) -> Option<Failure> {
    for number in 0..=request.samples {
        let (sample, _, outcome) = course.sample(number).await;
        let late = sample.late().next().map(|late| late.failure.clone());
        samples.push(sample);
        if let Some(failure) = outcome.err().or(late) {
            progress(&format!("no floor: {}", failure.message));
            return Some(failure);
        }
    }
    None
}

/// Returns a client that uses the pod's token.
pub async fn connect() -> Result<Client, Failure> {
    let mut config = kube::Config::infer()
        .await
        .map_err(|error| unavailable(format!("no way to the API server: {error}")))?;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    Client::try_from(config).map_err(|error| unavailable(format!("no API client: {error}")))
}

/// Checks what is sent once, before the first pod.
pub fn check_sent(request: &ColdStartRequest) -> Result<(), Failure> {
    let origin = Origin::new([0, 0, 0, 0].into(), request.port, request.scheme);
    readying(origin, request.ready.as_ref())?;
    Target::from_sent(origin, &request.sent, None)
        .map(drop)
        .map_err(|error| request::bad(error.to_string()))
}

/// Checks that a variant's answers are the same if all variants must give the same answer.
pub fn same(
    request: &ColdStartRequest,
    before: Option<&Answer>,
    answer: &Answer,
) -> Result<(), Failure> {
    let differs = before.is_some_and(|before| !before.is_same(answer));
    if !request.expect.same_across_variants || !differs {
        return Ok(());
    }
    let message = format!(
        "two pods of one variant answer differently, the last one '{}', and \
         expect.sameAcrossVariants asks for one answer",
        answer.excerpt
    );
    Err(failure(FailureReason::AnswerChanged, message))
}

/// Returns a failure with this reason and message.
pub fn failure(reason: FailureReason, message: String) -> Failure {
    Failure { reason, message }
}

/// Returns a failure of the API server or of the connection to it.
pub fn unavailable(message: String) -> Failure {
    failure(FailureReason::ClusterUnavailable, message)
}

#[cfg(test)]
mod tests;
