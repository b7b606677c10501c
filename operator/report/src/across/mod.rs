//! Runs compared: what each cell of a run is as a multiple of the same cell of an earlier run, or
//! of several. What shifts a whole run is in no interval that one run can give. So two runs are
//! judged by their ratios to the baseline, in which such a shift cancels, and absolute numbers only
//! among five earlier runs or more, or where the history of their schedule tells how far runs
//! scatter ([`scatter`]). Blocks of different runs are not paired: intervals are those of
//! [`Interval::unpaired`](wasmbench_results::statistics::Interval::unpaired),
//! [`Interval::of_two_runs`](wasmbench_results::statistics::Interval::of_two_runs) and
//! [`Interval::among`](wasmbench_results::statistics::Interval::among).
//!
//! Reading order: [`differences`] with [`variant_facts`] (may the runs be compared at all, and what
//! is it that differs), [`ratios`] (the numbers), [`lost_points`] (what has none any more),
//! [`words`] (what people see).

mod difference;
mod differences;
mod lost_points;
mod ratios;
mod scatter;
mod variant_facts;
mod versus;
mod words;

use serde::{Deserialize, Serialize};

pub use versus::{VERSUS_RUN_TXT, Versus, earlier};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_core::rounding::round_number;
use wasmbench_results::history::History;
use wasmbench_results::judge::Verdict;
use wasmbench_results::measure::Metric;
use wasmbench_results::ratios::minimum_effect;
use wasmbench_results::summary::{RunName, Summary};

/// Name and version of the schema.
pub const ACROSS_SCHEMA: &str = "wasmbench.dev/across/v3";

/// A run with what it found.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What was asked for.
    pub spec: &'a BenchmarkRunSpec,
    /// What was found.
    pub summary: &'a Summary,
}

/// A schedule with what it has measured: how far its runs scatter decides between two of them.
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
    /// Numbers of the two runs do not mean the same: nothing is compared unless someone insists.
    Forbids,
    /// It may explain a part of what is found.
    Warns,
    /// It is what is compared: another image, another engine.
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
    /// It is the baseline's own, or has none to be a multiple of, and too few earlier runs say how
    /// far runs scatter.
    TooFewRuns,
    /// Not the same baseline ran in all runs.
    BaselineChanged,
    /// Other numbers of the schedule's history tell how far runs scatter, and this one is not among
    /// them.
    NotFollowed,
    /// One of the runs does not trust it, or the baseline's number that it is a multiple of.
    Untrusted,
}

/// A number as a multiple of the baseline's, within each run.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct VersusBaseline {
    /// In the earlier runs.
    pub before: f64,
    /// In the later run.
    pub after: f64,
}

/// One metric of one cell as a multiple of what it was in the earlier runs.
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
    /// What is compared.
    pub metric: Metric,
    /// The trimmed mean of the earlier runs, in the unit of the metric.
    pub before: f64,
    /// The trimmed mean of the later run.
    pub after: f64,
    /// The same as multiples of the baseline; absent for the baseline itself, and where it has no
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versus_baseline: Option<VersusBaseline>,
    /// Whether `ratio` and what follows is the change of the ratio to the baseline, and not that of
    /// the number.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_baseline: bool,
    /// How many other runs of the same thing tell how far runs scatter; absent where the interval
    /// knows that of trials alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
    /// After as a multiple of before.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent when a side has a single trial. Where nothing is
    /// judged it knows the scatter of trials alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The chance of a ratio at least this far from 1 between equals; absent without a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// The same, adjusted for the number of comparisons (Benjamini and Hochberg); absent without a
    /// verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_p_value: Option<f64>,
    /// What it comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why it comes to nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<Unjudged>,
    /// Valid trials of the earlier runs.
    pub trials_before: u32,
    /// Valid trials of the later run.
    pub trials_after: u32,
}

/// A point of the earlier run of which the later one, which was to measure it too, has no valid
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
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Across {
    /// [`ACROSS_SCHEMA`].
    pub schema: String,
    /// The earlier runs, the last one first.
    pub before: Vec<RunName>,
    /// The later run.
    pub after: RunName,
    /// The schedule of the later run, where its history was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Whether the runs were compared although something forbids it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// The smallest difference that matters, as a factor above 1: that of the later run.
    pub minimum_effect: f64,
    /// What is not the same in all, the gravest first.
    pub differences: Vec<Difference>,
    /// Every cell that the later run and an earlier one have, by workload, variant and point in the
    /// order of the later run's spec. Empty when the runs may not be compared.
    pub ratios: Vec<CellRatio>,
    /// Cells and metrics of one run that the other does not have, or not validly.
    pub only_in_one: u32,
    /// Points that the later run lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<Lost>,
}

impl Across {
    /// What forbids the comparison.
    pub fn obstacles(&self) -> impl Iterator<Item = &Difference> {
        let all = self.differences.iter();
        all.filter(|difference| difference.weight == Weight::Forbids)
    }

    /// Ratios that are worse than before.
    pub fn worse(&self) -> usize {
        let is_worse = |ratio: &CellRatio, verdict: Verdict| verdict.is_worse(ratio.metric);
        let worse = |ratio: &&CellRatio| ratio.verdict.is_some_and(|found| is_worse(ratio, found));
        self.ratios.iter().filter(worse).count()
    }

    /// Ratios that are better than before.
    pub fn better(&self) -> usize {
        let is_different = |ratio: &&CellRatio| ratio.verdict.is_some_and(Verdict::is_difference);
        self.ratios.iter().filter(is_different).count() - self.worse()
    }

    /// Ratios that have a verdict.
    pub fn judged(&self) -> usize {
        let judged = |ratio: &&CellRatio| ratio.verdict.is_some();
        self.ratios.iter().filter(judged).count()
    }
}

/// `after` as a multiple of what the runs `before` had, the last of them first; `schedule` is that
/// of the later run. When something forbids it, the differences are listed and nothing is compared,
/// unless it is to be `forced`.
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
        let earlier = before.iter();
        let earlier: Vec<_> = earlier
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
