//! Whether the numbers of a schedule have become lastingly worse: its condition `Regressed`.

use jiff::Timestamp;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::conditions::{self, Draft};

use crate::runs::history::document::History;
use crate::runs::history::lasting_change::LastingChange;
use crate::statistics::change::{FEWEST_AFTER, FEWEST_BEFORE};
use crate::vocabulary::minimum::smallest_on_scale;

/// The most changes that the message describes.
const MOST_DESCRIBED: usize = 3;

impl History {
    /// Changes for the worse that may exceed the smallest change that matters to the author of
    /// `spec`, begin at `accepted` or later, and have not been followed by another change. Series
    /// that are no longer measured have none.
    pub fn regressions(
        &self,
        spec: &BenchmarkRunSpec,
        accepted: Option<Timestamp>,
    ) -> Vec<&LastingChange> {
        let is_last = |found: &&LastingChange| {
            let mut of_series = self
                .changes
                .iter()
                .rev()
                .filter(|other| other.series == found.series);
            of_series.next() == Some(*found)
        };
        let last = self.changes.iter().filter(is_last);
        let stands = last.filter(|found| {
            let last = self.runs.last().and_then(|line| line.number(found.series));
            let is_new = accepted.is_none_or(|accepted| found.since >= accepted);
            let series = &self.series[found.series];
            last.is_some_and(|last| {
                let value = last.value.map_or(0.0, |value| value.0);
                let smallest = smallest_on_scale(spec, &series.workload, series.metric, value);
                is_new && found.is_worse(series) && !found.is_small(series, smallest)
            })
        });
        stands.collect()
    }

    /// The condition; `None` if there is no run.
    pub fn condition(&self, spec: &BenchmarkRunSpec, accepted: Option<Timestamp>) -> Option<Draft> {
        let runs = self.run_count();
        if runs == 0 {
            return None;
        }
        let regressions = self.regressions(spec, accepted);
        if regressions.is_empty() {
            return Some(self.nothing_found(runs));
        }
        let described: Vec<String> = regressions
            .iter()
            .take(MOST_DESCRIBED)
            .map(|found| found.words(&self.series[found.series]))
            .collect();
        let more = match regressions.len().saturating_sub(MOST_DESCRIBED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let message = format!(
            "{}{more}. What is accepted is named by spec.acceptChangesBefore",
            described.join("; ")
        );
        Some(conditions::yes(conditions::REGRESSED, "Changed", message))
    }
    /// The condition without a regression. A history with few comparable runs has not shown that
    /// nothing changed.
    fn nothing_found(&self, runs: u32) -> Draft {
        let compared = self.comparable();
        let left_out = match runs.saturating_sub(compared) {
            0 => String::new(),
            more => format!(" (and {more} whose numbers are not trusted)"),
        };
        let fewest = FEWEST_BEFORE + FEWEST_AFTER;
        if (compared as usize) < fewest {
            let message = format!(
                "{compared} of the {fewest} runs that a change shows in at the earliest{left_out}"
            );
            conditions::no(conditions::REGRESSED, "TooFewRuns", message)
        } else {
            let message = format!("no lasting change for the worse in {compared} runs{left_out}");
            conditions::no(conditions::REGRESSED, "NoChange", message)
        }
    }

    /// The number of runs with a trusted comparison, in the series that has the most of them.
    fn comparable(&self) -> u32 {
        let of_series = |series: usize| {
            let trusted = self.runs.iter().filter(|line| {
                let number = line.number(series);
                number.is_some_and(|number| number.trusted && number.versus_baseline.is_some())
            });
            trusted.map(|line| line.runs).sum()
        };
        (0..self.series.len())
            .map(of_series)
            .max()
            .unwrap_or_default()
    }
}
