//! Whether the numbers of a schedule are worse for good: its condition `Regressed`.

use jiff::Timestamp;
use wasmbench_api::conditions::{self, Draft};

use crate::history::History;
use crate::history::found::Found;
use crate::statistics::change::{FEWEST_AFTER, FEWEST_BEFORE};

/// Changes that the message tells.
const TOLD: usize = 3;

impl History {
    /// Changes for the worse that are larger than what matters (a logarithm), begin at `accepted` or later, and have not
    /// been followed by another change. What is not measured any more has none.
    pub fn regressions(&self, minimum_effect: f64, accepted: Option<Timestamp>) -> Vec<&Found> {
        let is_last = |found: &&Found| {
            let mut of_series = self
                .changes
                .iter()
                .rev()
                .filter(|other| other.series == found.series);
            of_series.next() == Some(*found)
        };
        let last = self.changes.iter().filter(is_last);
        let stands = last.filter(|found| {
            let measured = self
                .runs
                .last()
                .is_some_and(|line| line.number(found.series).is_some());
            let is_new = accepted.is_none_or(|accepted| found.since >= accepted);
            let is_worse = found.is_worse(&self.series[found.series]);
            measured && is_new && is_worse && !found.is_small(minimum_effect)
        });
        stands.collect()
    }

    /// The condition; `None` where there is no run.
    pub fn condition(&self, minimum_effect: f64, accepted: Option<Timestamp>) -> Option<Draft> {
        let runs = self.run_count();
        if runs == 0 {
            return None;
        }
        let regressions = self.regressions(minimum_effect, accepted);
        if regressions.is_empty() {
            let fewest = FEWEST_BEFORE + FEWEST_AFTER;
            return Some(if self.runs.len() < fewest {
                let message =
                    format!("{runs} of the {fewest} runs that a change shows in at the earliest");
                conditions::no(conditions::REGRESSED, "TooFewRuns", message)
            } else {
                let message = format!("no lasting change for the worse in {runs} runs");
                conditions::no(conditions::REGRESSED, "NoChange", message)
            });
        }
        let told = regressions.iter().take(TOLD);
        let told: Vec<String> = told
            .map(|found| found.words(&self.series[found.series]))
            .collect();
        let more = match regressions.len().saturating_sub(TOLD) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let message = format!(
            "{}{more}. What is accepted is named by spec.acceptChangesBefore",
            told.join("; ")
        );
        Some(conditions::yes(conditions::REGRESSED, "Changed", message))
    }
}
