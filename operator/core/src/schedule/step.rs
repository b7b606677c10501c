//! What a schedule does next: which run starts, which active runs it replaces, and which finished
//! ones are deleted.

use jiff::{SignedDuration, Timestamp};
use wasmbench_api::BenchmarkScheduleSpec;
use wasmbench_api::schedule::{ConcurrencyPolicy, MOST_ACTIVE};

use super::cron::Cron;
use super::observed::{RunOutcome, ScheduledRun};

/// What is known of a schedule.
#[derive(Clone, Copy, Debug)]
pub struct ObservedSchedule<'a> {
    /// When it was created: nothing is due before.
    pub created: Timestamp,
    /// The last scheduled time for which a run was started, according to its status.
    pub last: Option<Timestamp>,
    /// All of its runs.
    pub runs: &'a [ScheduledRun],
}

impl ObservedSchedule<'_> {
    /// The last scheduled time for which a run was started, even if the status does not have that
    /// run yet.
    pub fn last_started(&self) -> Option<Timestamp> {
        let runs = self.runs.iter().map(|run| run.due);
        runs.chain(self.last).max()
    }
}

/// What to do now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The time for which a run starts.
    pub start: Option<Timestamp>,
    /// A time that passes without a run, and why.
    pub left_out: Option<(Timestamp, LeftOut)>,
    /// Names of unfinished runs that are deleted in favour of the one that starts.
    pub replaced: Vec<String>,
    /// Names of finished runs in excess of the history limits, the oldest first.
    pub expired: Vec<String>,
    /// When to look again; `None` while the schedule is suspended, or when nothing is due any more.
    pub next: Option<Timestamp>,
}

/// Why no run starts for a time of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub enum LeftOut {
    /// The time is longer ago than `startingDeadlineSeconds`.
    TooLate,
    /// An earlier run is active, and `concurrencyPolicy` is `Forbid`.
    AlreadyActive,
    /// Runs may be active at the same time, but as many as are allowed already are.
    TooManyActive,
}

/// The next step of a schedule. Of the times that have passed since a run was last started, only
/// the last one counts.
pub fn step(
    spec: &BenchmarkScheduleSpec,
    cron: &Cron,
    observed: ObservedSchedule<'_>,
    now: Timestamp,
) -> Step {
    let mut step = Step {
        expired: expired(spec, observed.runs),
        ..Step::default()
    };
    if spec.suspend {
        return step;
    }
    step.next = cron.after(now);
    let since = observed.last_started().unwrap_or(observed.created);
    let Some(due) = cron.latest(since.max(observed.created), now) else {
        return step;
    };
    let active: Vec<&ScheduledRun> = observed
        .runs
        .iter()
        .filter(|run| run.ended.is_none())
        .collect();
    if let Some(why) = left_out(spec, due, active.len(), now) {
        step.left_out = Some((due, why));
        return step;
    }
    step.start = Some(due);
    if spec.concurrency_policy == ConcurrencyPolicy::Replace {
        step.replaced = active.iter().map(|run| run.name.clone()).collect();
    }
    step
}

/// Why the run that is `due` does not start while this many are active.
fn left_out(
    spec: &BenchmarkScheduleSpec,
    due: Timestamp,
    active: usize,
    now: Timestamp,
) -> Option<LeftOut> {
    if is_late(spec, due, now) {
        return Some(LeftOut::TooLate);
    }
    match spec.concurrency_policy {
        ConcurrencyPolicy::Forbid if active > 0 => Some(LeftOut::AlreadyActive),
        ConcurrencyPolicy::Allow if active >= MOST_ACTIVE => Some(LeftOut::TooManyActive),
        ConcurrencyPolicy::Forbid | ConcurrencyPolicy::Allow | ConcurrencyPolicy::Replace => None,
    }
}

fn is_late(spec: &BenchmarkScheduleSpec, due: Timestamp, now: Timestamp) -> bool {
    let late = now.duration_since(due);
    let deadline = spec.starting_deadline_seconds;
    deadline.is_some_and(|seconds| late > SignedDuration::from_secs(i64::from(seconds)))
}

fn expired(spec: &BenchmarkScheduleSpec, runs: &[ScheduledRun]) -> Vec<String> {
    let limits = [
        (RunOutcome::Well, spec.successful_runs_history_limit),
        (
            RunOutcome::Untrustworthy,
            spec.untrustworthy_runs_history_limit,
        ),
        (RunOutcome::Failed, spec.failed_runs_history_limit),
    ];
    let too_many = |(kind, limit): (RunOutcome, u32)| {
        let mut of_kind: Vec<&ScheduledRun> =
            runs.iter().filter(|run| run.ended == Some(kind)).collect();
        of_kind.sort_by_key(|run| run.due);
        let kept = usize::try_from(limit).unwrap_or(usize::MAX);
        of_kind.truncate(of_kind.len().saturating_sub(kept));
        of_kind
    };
    let mut all: Vec<&ScheduledRun> = limits.into_iter().flat_map(too_many).collect();
    all.sort_by_key(|run| run.due);
    all.into_iter().map(|run| run.name.clone()).collect()
}
