//! Comparison of runs: each cell of a run as a multiple of the same cell of one or several earlier
//! runs. An interval from a single run cannot account for what shifts a whole run. So two runs are
//! judged by their ratios to the baseline, in which such a shift cancels. Absolute numbers are
//! judged only by five or more earlier runs, or where the history of their schedule shows how
//! far runs scatter ([`scatter`]). Blocks of different runs are not paired: the intervals are
//! [`Interval::unpaired`](crate::statistics::Interval::unpaired),
//! [`Interval::from_two_runs`](crate::statistics::Interval::from_two_runs) and
//! [`Interval::among`](crate::statistics::Interval::among).
//!
//! Reading order: [`differences`] with [`variant_facts`] (whether the runs may be compared at all,
//! and how they differ), [`ratios`] (the numbers), [`lost_points`] (points that no longer have a
//! number).

mod difference;
mod differences;
mod lost_points;
mod ratios;
mod scatter;
mod variant_facts;

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::rounding::round_number;

use crate::judge::verdict::Verdict;
use crate::runs::history::History;
use crate::summary::{RunName, Summary};
use crate::vocabulary::measure::Metric;
use crate::vocabulary::minimum::minimum_effect;

/// Name and version of the schema.
pub const ACROSS_SCHEMA: &str = "wasmbench.dev/across/v3";

/// A run and its results.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What was requested.
    pub spec: &'a BenchmarkRunSpec,
    /// What was found.
    pub summary: &'a Summary,
}

/// A schedule and what it has measured: how far its runs scatter decides whether two runs differ.
#[derive(Clone, Copy, Debug)]
pub struct Schedule<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its history.
    pub history: &'a History,
}

/// What a difference between two runs means for their comparison.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
pub enum Weight {
    /// Numbers of the two runs do not mean the same: nothing is compared unless the user insists.
    Forbids,
    /// It may explain part of the result.
    Warns,
    /// It is the subject of the comparison: another image, another engine.
    Compared,
}

/// Something that is not the same in both runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// What it means.
    pub weight: Weight,
    /// What differs.
    pub what: String,
    /// What it is in the earlier run.
    pub before: String,
    /// What it is in the later run.
    pub after: String,
}

/// Why a number has no verdict.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// More connections than at the knee of the earlier run's baseline: they mostly queue.
    BeyondKnee,
    /// It belongs to the baseline itself or has no baseline number to be a multiple of, and there
    /// are too few earlier runs to show how far runs scatter.
    TooFewRuns,
    /// The runs do not all have the same baseline.
    BaselineChanged,
    /// The schedule's history shows how far runs scatter for other numbers, but not for this one.
    NotFollowed,
    /// One of the runs does not trust it, or does not trust the baseline's number in its ratio.
    Untrusted,
}

/// A number as a multiple of the baseline's within the same run.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct VersusBaseline {
    /// In the earlier runs.
    pub before: f64,
    /// In the later run.
    pub after: f64,
}

/// One metric of one cell as a multiple of what it was in the earlier runs.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CellRatio {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The point, as in names of records: `warm`, `throughput-c50`, `open-p90`, `cold-c1`,
    /// `density`.
    pub point: String,
    /// The metric that is compared.
    pub metric: Metric,
    /// The trimmed mean of the earlier runs, in the unit of the metric.
    pub before: f64,
    /// The trimmed mean of the later run.
    pub after: f64,
    /// Both numbers as multiples of the baseline; absent for the baseline itself, and where the
    /// baseline has no number.
    pub versus_baseline: Option<VersusBaseline>,
    /// Whether `ratio` and the fields after it describe the change in the ratio to the baseline,
    /// rather than in the number itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_baseline: bool,
    /// The number of other runs of the same thing that show how far runs scatter; absent where the
    /// interval accounts only for the scatter of trials.
    pub runs: Option<u32>,
    /// After as a multiple of before.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent when a side has a single trial. Without a verdict it
    /// accounts only for the scatter of trials.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// The probability of a ratio at least this far from 1 between equals; absent without a
    /// verdict.
    pub p_value: Option<f64>,
    /// The p-value adjusted for the number of comparisons (Benjamini and Hochberg); absent without
    /// a verdict.
    pub adjusted_p_value: Option<f64>,
    /// The verdict.
    pub verdict: Option<Verdict>,
    /// Why there is no verdict.
    pub unjudged: Option<Unjudged>,
    /// The number of valid trials in the earlier runs.
    pub trials_before: u32,
    /// The number of valid trials in the later run.
    pub trials_after: u32,
}

/// A point of the earlier run for which the later run, which was to measure it too, has no valid
/// number.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Lost {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The point, as in [`CellRatio::point`].
    pub point: String,
}

/// A run compared with an earlier one.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Across {
    /// [`ACROSS_SCHEMA`].
    pub schema: String,
    /// The earlier runs, the latest first.
    pub before: Vec<RunName>,
    /// The later run.
    pub after: RunName,
    /// The schedule of the later run, if its history was read.
    pub schedule: Option<String>,
    /// Whether the runs were compared although a difference forbids it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// The smallest difference that matters, as a factor above 1, from the later run.
    pub minimum_effect: f64,
    /// What is not the same in all runs, the most serious first.
    pub differences: Vec<Difference>,
    /// Every cell that both the later run and an earlier one have, by workload, variant and point
    /// in the order of the later run's spec. Empty when the runs may not be compared.
    pub ratios: Vec<CellRatio>,
    /// The number of metrics of cells that one side lacks or has no valid number for.
    pub only_in_one: u32,
    /// Points that the later run lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
}

impl Across {
    /// The differences that forbid the comparison.
    pub fn obstacles(&self) -> impl Iterator<Item = &Difference> {
        let all = self.differences.iter();
        all.filter(|difference| difference.weight == Weight::Forbids)
    }

    /// The number of ratios that are worse than before.
    pub fn worse(&self) -> usize {
        let is_worse = |ratio: &CellRatio, verdict: Verdict| verdict.is_worse(ratio.metric);
        let worse = |ratio: &&CellRatio| ratio.verdict.is_some_and(|found| is_worse(ratio, found));
        self.ratios.iter().filter(worse).count()
    }

    /// The number of ratios that are better than before.
    pub fn better(&self) -> usize {
        let is_different = |ratio: &&CellRatio| ratio.verdict.is_some_and(Verdict::is_difference);
        self.ratios.iter().filter(is_different).count() - self.worse()
    }

    /// The number of ratios that have a verdict.
    pub fn judged(&self) -> usize {
        let judged = |ratio: &&CellRatio| ratio.verdict.is_some();
        self.ratios.iter().filter(judged).count()
    }
}

/// Compares `after` with the runs `before`, the latest of them first; `schedule` is the schedule of
/// the later run. If a difference forbids the comparison, the differences are listed and nothing is
/// compared, unless `forced`.
pub fn across(
    before: &[Side<'_>],
    after: Side<'_>,
    schedule: Option<Schedule<'_>>,
    forced: bool,
) -> Across {
    let differences = differences::of_all(before, after);
    let forbidden = differences.iter().any(|d| d.weight == Weight::Forbids);
    let effect = minimum_effect(after.spec);
    let latest = before.first().copied().unwrap_or(after);
    let (ratios, only_in_one, lost) = if forbidden && !forced {
        (vec![], 0, vec![])
    } else {
        let earlier: Vec<_> = before
            .iter()
            .map(|run| ratios::samples(*run, latest.summary))
            .collect();
        let mut later = ratios::samples(after, latest.summary);
        if let Some(schedule) = schedule {
            scatter::learn(&mut later, schedule, &[latest, after]);
        }
        let changed = differences::is_another_baseline(before, after);
        let (ratios, only_in_one) = ratios::ratios(&earlier, &later, changed, after.spec);
        let of_last = earlier.first();
        let gone = of_last.map(|earlier| lost_points::lost(after.summary, earlier, &later));
        (ratios, only_in_one, gone.unwrap_or_default())
    };
    Across {
        schema: ACROSS_SCHEMA.to_owned(),
        before: before.iter().map(|run| run.summary.run.clone()).collect(),
        after: after.summary.run.clone(),
        schedule: schedule.map(|schedule| schedule.name.to_owned()),
        forced: forbidden && forced,
        minimum_effect: round_number(libm::exp(effect)),
        differences,
        ratios,
        only_in_one,
        lost,
    }
}
