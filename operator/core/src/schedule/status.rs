//! What a schedule reports about itself.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt as _;
use wasmbench_api::conditions::{self, Draft};
use wasmbench_api::schedule::LeftOutTime;
use wasmbench_api::{BenchmarkSchedule, BenchmarkScheduleStatus};
use wasmbench_model::units::truncate;

use super::observed::{RunOutcome, ScheduledRun};
use super::run::run_name;
use super::step::{LeftOut, Step};
use crate::validate::Invalid;

/// Most names of active runs that are listed.
const NAMES: usize = 64;
/// Longest message of a condition, in characters.
const MESSAGE: usize = 1024;

/// Reason of the conditions of a schedule that cannot be carried out.
pub const INVALID: &str = "Invalid";

/// The conditions of a schedule whose step was carried out.
pub fn accepted() -> Vec<Draft> {
    vec![conditions::yes(
        conditions::ACCEPTED,
        "Valid",
        "the schedule and its template were understood",
    )]
}

/// The conditions of a schedule that starts no runs until it is changed.
pub fn refused(invalid: &Invalid) -> Vec<Draft> {
    let message = truncated(&invalid.to_string());
    vec![
        conditions::no(conditions::ACCEPTED, INVALID, message.clone()),
        conditions::yes(conditions::STALLED, INVALID, message),
    ]
}

/// The conditions of a schedule whose run could not be started, which will be retried.
pub fn stalled(reason: &str, message: &str) -> Vec<Draft> {
    let mut drafts = accepted();
    drafts.push(conditions::yes(
        conditions::STALLED,
        reason,
        truncated(message),
    ));
    drafts
}

/// The status after `step`.
pub fn status_of(
    schedule: &BenchmarkSchedule,
    runs: &[ScheduledRun],
    step: &Step,
    drafts: Vec<Draft>,
    now: Timestamp,
) -> BenchmarkScheduleStatus {
    let old = schedule.status.clone().unwrap_or_default();
    let generation = schedule.metadata.generation;
    let active = active(schedule, runs, step);
    let started = runs.iter().map(|run| run.due).chain(step.start);
    let last = started
        .chain(old.last_schedule_time.map(|time| time.0))
        .max();
    let succeeded = runs
        .iter()
        .filter(|run| run.ended == Some(RunOutcome::Well))
        .filter_map(|run| run.completed)
        .chain(old.last_successful_time.map(|time| time.0));
    let left_out = step.left_out.map(left_out);
    let passed = |left_out: &LeftOutTime| last.is_none_or(|last| left_out.time.0 > last);
    BenchmarkScheduleStatus {
        observed_generation: generation,
        conditions: conditions::merge(&old.conditions, drafts, generation, now),
        active_runs: u32::try_from(active.len()).unwrap_or(u32::MAX),
        active: active.into_iter().take(NAMES).collect(),
        last_schedule_time: last.map(Time),
        last_successful_time: succeeded.max().map(Time),
        next_schedule_time: step.next.map(Time),
        left_out: left_out.or(old.left_out).filter(passed),
    }
}

/// Names of the runs that are active after `step`.
fn active(schedule: &BenchmarkSchedule, runs: &[ScheduledRun], step: &Step) -> Vec<String> {
    let started = step.start.map(|due| run_name(&schedule.name_any(), due));
    let goes_on = |run: &&ScheduledRun| run.ended.is_none() && !step.replaced.contains(&run.name);
    let kept = runs.iter().filter(goes_on).map(|run| run.name.clone());
    let mut names: Vec<String> = kept.chain(started).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn left_out((time, why): (Timestamp, LeftOut)) -> LeftOutTime {
    let reason: &'static str = why.into();
    LeftOutTime {
        time: Time(time),
        reason: reason.to_owned(),
    }
}

/// The text, truncated to the longest message that a condition may have.
pub fn truncated(text: &str) -> String {
    truncate(text, MESSAGE)
}
