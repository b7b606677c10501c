//! The ladder: instances are added and never removed until the end.

use kube::{Api, Client};
use wasmbench_model::wire::cold_start::templates;
use wasmbench_model::wire::density::{DensityDocument, DensityRequest, DensityStopped};
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::{step, stop};
use crate::cold_start::{Course, Pods, Timeline, failure};
use crate::output::progress;
use crate::settings::Settings;
use crate::target::Target;

/// Climbs until the last step, a reason to stop, or a failure. The instances are removed whatever
/// happens.
pub async fn climb(
    client: Client,
    settings: &Settings,
    request: &DensityRequest,
    document: &mut DensityDocument,
) -> Result<(), Failure> {
    let namespace = request.start.pod.metadata.namespace.clone();
    let api = Api::namespaced(client, &namespace.unwrap_or_default());
    let mut course = Course::begin(api, &request.start).await?;
    course.read_bodies(settings)?;
    let mut pods = course.none();
    let outcome = match course.begin_hosting().await {
        Ok(()) => steps(&mut course, &mut pods, settings, request, document).await,
        Err(failure) => Err(failure),
    };
    document.image_id = pods
        .timelines
        .iter()
        .rev()
        .find_map(|pod| pod.image_id().map(ToOwned::to_owned));
    document.template = templates(pods.timelines.iter().map(Timeline::pod));
    document.added.clone_from(&course.added);
    let removed = course.remove(&mut pods).await;
    outcome.and(removed).and(course.end_hosting().await)
}

async fn steps(
    course: &mut Course<'_>,
    pods: &mut Pods,
    settings: &Settings,
    request: &DensityRequest,
    document: &mut DensityDocument,
) -> Result<(), Failure> {
    for &instances in &request.instances {
        if let Some(stopped) = no_memory(settings, request, instances) {
            return stopped_at(stopped, document);
        }
        let from = pods.timelines.len();
        course.grow(pods, instances);
        let up = match course.create(pods, from).await {
            Ok(()) => course.come_up(pods).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = up {
            return match stop::full(&failure, instances) {
                // Without a single step there is nothing to show.
                Some(stopped) if !document.steps.is_empty() => stopped_at(stopped, document),
                Some(_) | None => Err(failure),
            };
        }
        take_answers(pods, request, document)?;
        let bytes = document
            .answer
            .as_ref()
            .map_or(0, |answer| answer.body_bytes);
        let target = first_target(course, pods)?;
        let (measured, version) = step::measure(settings, request, pods, from, (&target, bytes))?;
        document.fortio_version = version;
        document.steps.push(measured);
        progress(&format!("{instances} instances"));
    }
    Ok(())
}

/// Returns the target of requests to the first instance.
fn first_target(course: &Course<'_>, pods: &Pods) -> Result<Target, Failure> {
    let first = pods.timelines.first();
    let known = first.and_then(|first| Some((first, first.address()?)));
    let (first, address) =
        known.ok_or_else(|| failure(FailureReason::LoadFailed, "no first instance".into()))?;
    Ok(course.endpoint(first.name(), address)?.target)
}

fn no_memory(
    settings: &Settings,
    request: &DensityRequest,
    instances: u32,
) -> Option<DensityStopped> {
    let memory = stop::node_memory(&settings.proc)?;
    stop::low(memory, request.available_memory_percent, instances)
}

fn stopped_at(stopped: DensityStopped, document: &mut DensityDocument) -> Result<(), Failure> {
    progress(&format!(
        "stopped at {} instances: {}",
        stopped.at, stopped.message
    ));
    if document.steps.is_empty() {
        return Err(failure(
            FailureReason::Unschedulable,
            format!("not even the first step fits: {}", stopped.message),
        ));
    }
    document.stopped = Some(stopped);
    Ok(())
}

/// Checks that the answers of all instances are the same if all answers must be.
fn take_answers(
    pods: &mut Pods,
    request: &DensityRequest,
    document: &mut DensityDocument,
) -> Result<(), Failure> {
    for answer in pods.take_answers() {
        let before = document.answer.replace(answer.clone());
        crate::cold_start::same(&request.start, before.as_ref(), &answer)?;
    }
    Ok(())
}
