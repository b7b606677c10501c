//! Comparison of runs: each cell of a run as a multiple of the same cell of one or several earlier
//! runs, or minus it, where differences are what is judged. An interval from a single run cannot
//! account for what shifts a whole run. So two runs are judged by their ratios or differences to the
//! baseline, in which such a shift cancels; how far a variant shifts on its own is stated
//! ([`RunScatter`]). Absolute numbers are judged only by five or more earlier runs, or where the
//! history of their schedule shows how far runs scatter ([`scatter`]). Blocks of different runs are
//! not paired: the intervals are those of [`Contrast`](crate::statistics::Contrast).
//!
//! Reading order: [`differences`] with [`variant_facts`] (whether the runs may be compared at all,
//! and how they differ), [`numbers`] (what is compared), [`judged`] (by which interval), [`ratios`]
//! (the judged ratios and differences), [`lost_points`] (points that no longer have a number).

mod cell_ratio;
mod difference;
mod differences;
mod judged;
mod lost_points;
mod numbers;
mod ratios;
mod scatter;
mod variant_facts;

pub use cell_ratio::{CellRatio, Unjudged, VersusBaseline};

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::RunScatter;
use wasmbench_model::rounding::round_number;

use crate::judge::verdict::Verdict;
use crate::runs::across::judged::Judging;
use crate::runs::history::History;
use crate::summary::{RunName, Summary};
use crate::vocabulary::minimum::minimum_effect;

/// Name and version of the schema.
pub const ACROSS_SCHEMA: &str = "wasmbench.dev/across/v4";

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
    /// How far a variant is said to shift on its own from run to run, as a share; absent where no
    /// number is judged with it.
    pub run_scatter: Option<f64>,
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

    /// The same without lost points of which the later run, which is not finished, has no record yet.
    #[must_use]
    pub fn without_open_points(mut self, later: &Summary) -> Self {
        self.lost
            .retain(|lost| lost_points::is_recorded(lost, later));
        self
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

/// Compares `after` with the runs `before`, the latest of them first. `schedule` is the schedule of
/// the later run, and `scatter` how far runs are said to scatter where nothing shows it. If a
/// difference forbids the comparison, the differences are listed and nothing is compared, unless
/// `forced`.
pub fn across(
    before: &[Side<'_>],
    after: Side<'_>,
    schedule: Option<Schedule<'_>>,
    scatter: RunScatter,
    forced: bool,
) -> Across {
    let differences = differences::of_all(before, after);
    let forbidden = differences.iter().any(|d| d.weight == Weight::Forbids);
    let numbers = if forbidden && !forced {
        Numbers::default()
    } else {
        compared(before, after, schedule, scatter)
    };
    Across {
        schema: ACROSS_SCHEMA.to_owned(),
        before: before.iter().map(|run| run.summary.run.clone()).collect(),
        after: after.summary.run.clone(),
        schedule: schedule.map(|schedule| schedule.name.to_owned()),
        forced: forbidden && forced,
        run_scatter: is_stated(&numbers.ratios).then(|| scatter.share()),
        minimum_effect: round_number(libm::exp(minimum_effect(after.spec))),
        differences,
        ratios: numbers.ratios,
        only_in_one: numbers.only_in_one,
        lost: numbers.lost,
    }
}

/// What the numbers of the runs say.
#[derive(Default)]
struct Numbers {
    ratios: Vec<CellRatio>,
    only_in_one: u32,
    lost: Vec<Lost>,
}

fn compared(
    before: &[Side<'_>],
    after: Side<'_>,
    schedule: Option<Schedule<'_>>,
    scatter: RunScatter,
) -> Numbers {
    let latest = before.first().copied().unwrap_or(after);
    let earlier: Vec<_> = before
        .iter()
        .map(|run| numbers::samples(*run, latest.summary))
        .collect();
    let mut later = numbers::samples(after, latest.summary);
    if let Some(schedule) = schedule {
        scatter::learn(&mut later, schedule, &[latest, after]);
    }
    let how = Judging {
        baseline_changed: differences::is_another_baseline(before, after),
        scatter,
    };
    let (ratios, only_in_one) = ratios::ratios(&earlier, &later, how, after.spec);
    let of_last = earlier.first();
    let lost = of_last.map(|earlier| lost_points::lost(after.summary, earlier, &later));
    Numbers {
        ratios,
        only_in_one,
        lost: lost.unwrap_or_default(),
    }
}

/// Whether a number is judged with the stated scatter.
fn is_stated(ratios: &[CellRatio]) -> bool {
    let mut judged = ratios.iter().filter(|ratio| ratio.verdict.is_some());
    judged.any(|ratio| ratio.runs.is_none())
}
