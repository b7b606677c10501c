//! Two runs compared: what each cell of a run is as a multiple of the same cell of an earlier one.
//! Blocks of different runs are not paired, so that the intervals are those of
//! [`LogInterval::unpaired`](wasmbench_results::statistics::LogInterval::unpaired); verdicts are judged as within a run.
//!
//! Reading order: [`differences`] with [`ran`] (may the runs be compared at all, and what is it that differs),
//! [`ratios`] (the numbers), [`lost`] (what has none any more), [`words`] (what people see).

mod difference;
mod differences;
mod lost;
mod ran;
mod ratios;
mod versus;
mod words;

use serde::{Deserialize, Serialize};

pub use versus::{VERSUS_RUN_TXT, Versus, earlier};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_core::rounding::{SUMMARY_DIGITS, round_significant};
use wasmbench_results::compare::minimum_effect;
use wasmbench_results::judge::Verdict;
use wasmbench_results::measure::Metric;
use wasmbench_results::summary::{RunName, Summary};

/// Name and version of the schema.
pub const ACROSS_SCHEMA: &str = "wasmbench.dev/across/v1";

/// A run with what it found.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What was asked for.
    pub spec: &'a BenchmarkRunSpec,
    /// What was found.
    pub summary: &'a Summary,
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

/// One metric of one cell as a multiple of what it was in the earlier run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CellRatio {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The point: `warm`, `c50` for 50 connections, `p90` for 90 % of the peak, `cold` or `cold-c4` for
    /// four pods at once, `density` for the memory of one more instance.
    pub point: String,
    /// What is compared.
    pub metric: Metric,
    /// The trimmed mean of the earlier run, in the unit of the metric.
    pub before: f64,
    /// The trimmed mean of the later run.
    pub after: f64,
    /// `after` as a multiple of `before`.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent when a side has a single trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The chance of a ratio at least this far from 1 between equals.
    pub p_value: f64,
    /// The same, adjusted for the number of comparisons (Benjamini and Hochberg); absent without a
    /// verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_p_value: Option<f64>,
    /// What it comes to; absent beyond the knee of the earlier run's baseline, where nothing is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Valid trials of the earlier run.
    pub trials_before: u32,
    /// Valid trials of the later run.
    pub trials_after: u32,
}

/// A point of the earlier run of which the later one, which was to measure it too, has no valid number.
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
    /// The earlier run.
    pub before: RunName,
    /// The later run.
    pub after: RunName,
    /// Whether the runs were compared although something forbids it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// The smallest difference that matters, as a factor above 1: that of the later run.
    pub minimum_effect: f64,
    /// What is not the same in both, the gravest first.
    pub differences: Vec<Difference>,
    /// Every cell that both runs have, by workload, variant and point in the order of the later run's
    /// spec. Empty when the runs may not be compared.
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

    /// Ratios that are worse than before: slower or larger.
    pub fn worse(&self) -> usize {
        let worse =
            |ratio: &&CellRatio| matches!(ratio.verdict, Some(Verdict::Slower | Verdict::Larger));
        self.ratios.iter().filter(worse).count()
    }

    /// Ratios that are better than before: faster or smaller.
    pub fn better(&self) -> usize {
        let better =
            |ratio: &&CellRatio| matches!(ratio.verdict, Some(Verdict::Faster | Verdict::Smaller));
        self.ratios.iter().filter(better).count()
    }

    /// Ratios that have a verdict.
    pub fn judged(&self) -> usize {
        let judged = |ratio: &&CellRatio| ratio.verdict.is_some();
        self.ratios.iter().filter(judged).count()
    }
}

/// `after` as a multiple of `before`. When something forbids it, the differences are listed and
/// nothing is compared, unless it is to be `forced`.
pub fn across(before: Side<'_>, after: Side<'_>, forced: bool) -> Across {
    let differences = differences::differences(before, after);
    let forbidden = differences.iter().any(|d| d.weight == Weight::Forbids);
    let effect = minimum_effect(after.spec);
    let (ratios, only_in_one, lost) = if forbidden && !forced {
        (vec![], 0, vec![])
    } else {
        let earlier = ratios::samples(before.summary, before.summary);
        let later = ratios::samples(after.summary, before.summary);
        let (ratios, only_in_one) = ratios::ratios(&earlier, &later, effect);
        let lost = lost::lost(after.summary, &earlier, &later);
        (ratios, only_in_one, lost)
    };
    Across {
        schema: ACROSS_SCHEMA.to_owned(),
        before: before.summary.run.clone(),
        after: after.summary.run.clone(),
        forced: forbidden && forced,
        minimum_effect: round_significant(libm::exp(effect), SUMMARY_DIGITS),
        differences,
        ratios,
        only_in_one,
        lost,
    }
}
