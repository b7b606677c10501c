//! What is known of the runs of a schedule.

use jiff::Timestamp;
use kube::ResourceExt as _;
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, conditions, labels};

/// A run of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledRun {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The scheduled time that it was started for.
    pub due: Timestamp,
    /// When it was started.
    pub started: Timestamp,
    /// How it ended; `None` while it is active.
    pub ended: Option<RunOutcome>,
    /// When it ended.
    pub completed: Option<Timestamp>,
}

/// How a finished run counts towards the history limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunOutcome {
    /// Measured, and its numbers can be believed.
    Well,
    /// Measured, but there is reason to doubt its numbers.
    Untrustworthy,
    /// Refused, or not measured.
    Failed,
}

/// What is known of a run of the schedule with this uid; `None` if it belongs to somebody else,
/// whatever its labels are.
pub fn observed(run: &BenchmarkRun, schedule_uid: &str) -> Option<ScheduledRun> {
    if !belongs_to::<BenchmarkSchedule>(&run.metadata, schedule_uid) {
        return None;
    }
    let created = run.creation_timestamp().map(|time| time.0);
    // Users may change annotations, so this may not be a time.
    let written = run.annotations().get(labels::SCHEDULED_TIME);
    let due = written.and_then(|time| time.parse().ok()).or(created)?;
    let completed = run
        .status
        .as_ref()
        .and_then(|status| status.completion_time.as_ref());
    Some(ScheduledRun {
        name: run.name_any(),
        uid: run.uid().unwrap_or_default(),
        due,
        started: created.unwrap_or(due),
        ended: run.is_finished().then(|| ended(run)),
        completed: completed.map(|time| time.0),
    })
}

fn ended(run: &BenchmarkRun) -> RunOutcome {
    let conditions = run
        .status
        .as_ref()
        .map(|status| status.conditions.as_slice());
    let is = |type_| conditions::is_true(conditions.unwrap_or_default(), type_);
    match (is(conditions::SUCCEEDED), is(conditions::TRUSTWORTHY)) {
        (true, true) => RunOutcome::Well,
        (true, false) => RunOutcome::Untrustworthy,
        (false, _) => RunOutcome::Failed,
    }
}
