//! When a run has ended, and how long it is kept.

use jiff::{SignedDuration, Timestamp};
use wasmbench_api::{BenchmarkRun, conditions};

use crate::config::Limits;

/// Whether a run has finished.
pub fn is_finished(run: &BenchmarkRun) -> bool {
    run.status
        .as_ref()
        .is_some_and(|s| conditions::is_true(&s.conditions, conditions::FINISHED))
}

/// When a finished run is to be deleted: the earlier of the times that its author and the
/// administrator set.
pub fn expires_at(run: &BenchmarkRun, limits: &Limits) -> Option<Timestamp> {
    let (own, longest) = (
        run.spec.ttl_seconds_after_finished,
        limits.ttl_seconds_after_finished,
    );
    let seconds = own.into_iter().chain(longest).min()?;
    let finished = run.status.as_ref()?.completion_time.as_ref()?.0;
    finished
        .checked_add(SignedDuration::from_secs(i64::from(seconds)))
        .ok()
}
