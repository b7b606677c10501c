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
            let before = self.value_before(found);
            let smallest = smallest_on_scale(spec, &series.workload, series.metric, before);
            let matters = found.is_worse(series) && !found.is_small(series, smallest);
            last.is_some() && is_new && matters
        });
        stands.collect()
    }

    /// The measure itself in the last trusted run before a change; 0 if that run is forgotten.
    fn value_before(&self, found: &LastingChange) -> f64 {
        let first = self.runs.iter().position(|line| line.name == found.run);
        let mut earlier = self.runs[..first.unwrap_or_default()].iter().rev();
        let value = earlier.find_map(|line| {
            let number = line.number(found.series)?;
            number.value.filter(|_| number.trusted)
        });
        value.map_or(0.0, |value| value.0)
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
            .map(|found| found.text(&self.series[found.series]))
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

#[cfg(test)]
mod tests {
    use wasmbench_api::run::Metric;
    use wasmbench_model::wire::record::Point;

    use super::*;
    use crate::runs::history::line::{Ends, Line, Number, Series};

    /// An instance takes 2048 KiB in five runs, and since the sixth `size` times as much.
    fn grown(size: Ends) -> History {
        let line = |run: u32| {
            let times = if run < 5 { 1.0 } else { size.0 };
            let ends = |number: f64| Some(Ends(number, 0.99 * number, 1.01 * number));
            Line {
                name: format!("nightly-{run}"),
                ended: Timestamp::UNIX_EPOCH,
                runs: 1,
                setting: 0,
                numbers: vec![Number {
                    series: 0,
                    versus_baseline: ends(times),
                    blocks: 10,
                    value: ends(2048.0 * 1024.0 * times),
                    trusted: true,
                    pilot: None,
                }],
            }
        };
        History {
            series: vec![Series {
                variant: "embedded".into(),
                workload: "hello".into(),
                metric: Metric::MemoryPerInstance,
                point: Point::Density,
            }],
            runs: (0..8).map(line).collect(),
            changes: vec![LastingChange {
                series: 0,
                run: "nightly-5".into(),
                since: Timestamp::UNIX_EPOCH,
                last_before: "nightly-4".into(),
                found_with: "nightly-7".into(),
                image_before: String::new(),
                image_after: String::new(),
                size,
                p_value: 0.0001,
            }],
            ..History::default()
        }
    }

    #[test]
    fn a_growth_is_judged_as_a_share_of_the_number_before_the_change() {
        let spec: BenchmarkRunSpec = serde_json::from_value(serde_json::json!({
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello", "path": "/"}],
            "sweeps": {"density": {}},
        }))
        .unwrap();
        let reason = |size| grown(size).condition(&spec, None).unwrap().reason;
        // 512 of 2048 KiB are 25 %, and of the 2508 KiB since then 20 %.
        assert_eq!(reason(Ends(1.225, 1.215, 1.235)), "NoChange");
        assert_eq!(reason(Ends(1.255, 1.245, 1.265)), "Changed");
    }
}
