//! The series of a schedule: its runs and its status in, samples out. Pure.

use jiff::Timestamp;
use wasmbench_api::{BenchmarkScheduleStatus, conditions};
use wasmbench_core::schedule::{RunOutcome, ScheduledRun};

use super::family::{Family, Sample};
use super::numbers::Owner;

/// How the last finished runs of a schedule ended. Outlives the runs: only one untrustworthy run is
/// kept by default, so three in a row would never be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRuns {
    /// When the last of them ended.
    ended: Timestamp,
    /// How many of them in a row were untrustworthy.
    untrustworthy: u32,
    /// Whether the last one failed.
    failed: bool,
}

impl LastRuns {
    /// `before`, updated with the runs that have ended since; `None` if no run has ever ended.
    pub fn after(before: Option<Self>, runs: &[ScheduledRun]) -> Option<Self> {
        let mut newer: Vec<(Timestamp, RunOutcome)> = runs.iter().filter_map(finished).collect();
        newer.retain(|(time, _)| before.is_none_or(|before| *time > before.ended));
        newer.sort_unstable();
        newer.into_iter().fold(before, |before, (ended, how)| {
            let row = before.map_or(0, |before| before.untrustworthy);
            Some(Self {
                ended,
                untrustworthy: match how {
                    RunOutcome::Untrustworthy => row.saturating_add(1),
                    RunOutcome::Well | RunOutcome::Failed => 0,
                },
                failed: how == RunOutcome::Failed,
            })
        })
    }

    /// The last finished run, while it exists.
    pub fn latest(self, runs: &[ScheduledRun]) -> Option<&ScheduledRun> {
        let is_last =
            |run: &&ScheduledRun| finished(run).is_some_and(|(time, _)| time == self.ended);
        runs.iter().find(is_last)
    }
}

/// When and how a run ended; `None` until then.
fn finished(run: &ScheduledRun) -> Option<(Timestamp, RunOutcome)> {
    Some((run.completed.unwrap_or(run.due), run.ended?))
}

/// The samples of the schedule itself.
pub fn samples(
    owner: &Owner,
    last: Option<LastRuns>,
    status: &BenchmarkScheduleStatus,
) -> Vec<Sample> {
    let succeeded = status.last_successful_time.as_ref();
    let regressed = conditions::is_true(&status.conditions, conditions::REGRESSED);
    let values = [
        (
            Family::LastSuccess,
            succeeded.map(|time| time.0.as_millisecond() as f64 / 1e3),
        ),
        (Family::Regressed, Some(f64::from(regressed))),
        (
            Family::UntrustworthyRuns,
            last.map(|last| f64::from(last.untrustworthy)),
        ),
        (
            Family::LastRunFailed,
            last.map(|last| f64::from(last.failed)),
        ),
    ];
    values
        .into_iter()
        .filter_map(|(family, value)| Some(owner.sample(family, [], value?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(minute: i64, ended: Option<RunOutcome>) -> ScheduledRun {
        let time = Timestamp::from_second(minute * 60).unwrap();
        ScheduledRun {
            name: format!("nightly-{minute}"),
            uid: minute.to_string(),
            due: time,
            started: time,
            ended,
            completed: ended.map(|_| time),
        }
    }

    fn change_and_runs(last: Option<LastRuns>) -> (u32, bool) {
        last.map(|last| (last.untrustworthy, last.failed)).unwrap()
    }

    #[test]
    fn a_row_of_untrustworthy_runs_is_counted_beyond_those_that_are_kept() {
        let untrustworthy = |minute| run(minute, Some(RunOutcome::Untrustworthy));
        let mut last = LastRuns::after(None, &[untrustworthy(1), run(0, Some(RunOutcome::Well))]);
        assert_eq!(change_and_runs(last), (1, false));
        for minute in 2..4 {
            last = LastRuns::after(last, &[untrustworthy(minute), run(9, None)]);
            last = LastRuns::after(last, &[untrustworthy(minute)]);
        }
        assert_eq!(change_and_runs(last), (3, false));
        last = LastRuns::after(last, &[untrustworthy(3), run(4, Some(RunOutcome::Well))]);
        assert_eq!(change_and_runs(last), (0, false));
    }

    #[test]
    fn a_failed_run_that_is_removed_at_once_stays_the_last_one() {
        let well = run(1, Some(RunOutcome::Well));
        let last = LastRuns::after(None, &[well.clone(), run(2, Some(RunOutcome::Failed))]);
        let last = LastRuns::after(last, std::slice::from_ref(&well));
        assert_eq!(change_and_runs(last), (0, true));
        assert_eq!(last.unwrap().latest(&[well]), None);
    }

    #[test]
    fn a_schedule_without_a_finished_run_exports_nothing_of_its_runs() {
        assert_eq!(LastRuns::after(None, &[run(1, None)]), None);
    }
}
