//! What a run can find: before the run from an assumed scatter of trials, from its third block on and
//! after it from its own scatter.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::MOST_BLOCKS;
use wasmbench_model::rounding::round_significant;
use wasmbench_model::{twin, units};

use crate::judge::comparison::{Comparison, factor};
use crate::statistics::ratio::{blocks_for_equals, noise_with_pilot, smallest_found};
use crate::summary::Summary;
use crate::vocabulary::measure::{Judged, Measured as _, Metric};
use crate::vocabulary::minimum::minimum_effect;
use crate::vocabulary::primary;

/// The scatter of equal trials on a typical node. On a small virtual machine it is twice as much.
pub const USUAL_SCATTER: f64 = 0.04;

/// The fewest blocks that show how far trials scatter: two give a single deviation.
pub const FEWEST_BLOCKS: u32 = 3;

/// Significant digits of a scatter.
const DIGITS: usize = 2;

/// What a run is expected to find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The number of primary comparisons, for which verdicts are corrected.
    pub comparisons: usize,
    /// The blocks that the run has in any case.
    pub blocks: u32,
    /// The smallest difference that 80 of 100 such runs find, as a factor above 1; absent with one
    /// block.
    pub smallest: Option<f64>,
    /// The blocks with which 80 of 100 such runs find equals equivalent; absent above
    /// [`MOST_BLOCKS`].
    pub equals: Option<u32>,
}

/// How far the ratios of a run of this spec scatter if equal trials scatter by `scatter`.
pub fn of_ratios(spec: &BenchmarkRunSpec, scatter: f64) -> f64 {
    scatter * ratio_per_trial(twin::is_measured(spec))
}

/// The scatter of a ratio as a multiple of that of a trial: a twin halves the variance of the
/// baseline.
fn ratio_per_trial(has_twin: bool) -> f64 {
    f64::sqrt(if has_twin { 1.5 } else { 2.0 })
}

/// How far equal trials of a run with this summary scatter.
pub fn scatter(summary: &Summary) -> Option<f64> {
    scatter_of(&summary.comparisons, summary.compared.twin.is_some())
}

/// How far equal trials of a run with these comparisons scatter, as a share: those of the primary
/// measure that scatters most. Measures that are judged by their difference do not count; `None`
/// without a ratio of [`FEWEST_BLOCKS`] blocks.
pub fn scatter_of(comparisons: &[Comparison], has_twin: bool) -> Option<f64> {
    let mut variances: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
    for one in comparisons.iter().filter(|one| one.primary) {
        if let Some(noise) = noise(one) {
            variances.entry(one.metric).or_default().push(noise * noise);
        }
    }
    let mean = |all: &Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
    let worst = variances.values().map(mean).reduce(f64::max)?;
    let per_trial = ratio_per_trial(has_twin);
    Some(round_significant(worst.sqrt() / per_trial, DIGITS))
}

/// The scatter of the ratios of a comparison, on the log scale.
fn noise(one: &Comparison) -> Option<f64> {
    let is_ratio = match one.metric.measure().judged {
        Judged::Ratio | Judged::RatioOrDifference => true,
        Judged::Difference => false,
    };
    let blocks = one.estimate.blocks;
    let (low, high) = one
        .estimate
        .ends()
        .filter(|_| is_ratio && blocks >= FEWEST_BLOCKS)?;
    let half_width = libm::log(high / low) / 2.0;
    let noise = noise_with_pilot(half_width, blocks, one.estimate.pilot_blocks);
    noise.filter(|noise| noise.is_finite())
}

/// What a run of this spec finds if equal trials scatter by `scatter`; `None` if it compares
/// nothing.
pub fn expected(spec: &BenchmarkRunSpec, scatter: f64) -> Option<Expected> {
    let comparisons = primary::planned(spec);
    let blocks = spec.fewest_blocks();
    let (noise, matters) = (of_ratios(spec, scatter), minimum_effect(spec));
    (comparisons > 0).then(|| Expected {
        comparisons,
        blocks,
        smallest: smallest_found(noise, blocks, comparisons, matters).map(factor),
        equals: blocks_for_equals(matters, noise, MOST_BLOCKS),
    })
}

impl Expected {
    /// The expectation in a sentence, with a remedy if equals would stay undecided. `measured` is the
    /// number of the run's blocks that `scatter` is from; without it, `scatter` is assumed.
    pub fn text(&self, spec: &BenchmarkRunSpec, scatter: f64, measured: Option<u32>) -> String {
        let Some(smallest) = self.smallest else {
            return "one block cannot distinguish a difference from chance: raise spec.blocks"
                .to_owned();
        };
        let (least, most) = (self.blocks, spec.most_blocks());
        let blocks = if most > least {
            format!("{least} to {most}")
        } else {
            least.to_string()
        };
        let scatter = match measured {
            Some(first) => format!("{} as in the first {first}", scatter_text(scatter)),
            None => scatter_text(scatter),
        };
        let found = format!(
            "expected: with {blocks} blocks, where trials scatter by {scatter}, 80 of 100 runs find a difference of {}",
            units::excess(smallest),
        );
        let takes = match self.equals {
            Some(equals) if equals <= most => return found,
            Some(equals) => format!("{equals} blocks"),
            None => format!("more than {MOST_BLOCKS} blocks"),
        };
        let remedy = if spec.precision.is_some() {
            "spec.precision.maxBlocks"
        } else {
            "spec.blocks"
        };
        format!(
            "{found}; equals take {takes} to be called equivalent, and mostly stay undecided: raise {remedy} or \
             spec.minimumEffect"
        )
    }
}

/// A scatter in percent, with its significant digits: `4 %`, `3.4 %`.
pub fn scatter_text(scatter: f64) -> String {
    format!("{} %", round_significant(scatter * 100.0, DIGITS))
}

/// The smallest differences that a run with the scatter of this one finds under a workload, by
/// measure, as a factor above 1; the largest over the variants. `primary` selects primary or
/// secondary comparisons.
pub fn found(summary: &Summary, workload: &str, primary: bool) -> BTreeMap<Metric, f64> {
    let mut worst = BTreeMap::new();
    for one in &summary.comparisons {
        if one.workload == workload
            && one.primary == primary
            && let Some(found) = one.smallest_found
        {
            let known = worst.entry(one.metric).or_insert(found);
            *known = found.max(*known);
        }
    }
    worst
}

/// The same in words, `throughput 4.5 %, cold start to listening 18 ms`; empty if nothing was
/// compared. For measures that are judged by their difference, the difference is shown.
pub fn found_text(summary: &Summary, workload: &str, primary: bool) -> String {
    let text = |(metric, factor): (Metric, f64)| {
        let of_metric = |one: &&Comparison| {
            (one.metric, one.primary, one.workload.as_str()) == (metric, primary, workload)
        };
        let all = summary.comparisons.iter().filter(of_metric);
        let differences = all.filter_map(|one| one.judged_difference()?.smallest_found);
        let found = differences.reduce(f64::max).map_or_else(
            || units::excess(factor),
            |difference| metric.measure().unit.shown(difference),
        );
        format!("{} {found}", metric.noun())
    };
    let found = found(summary, workload, primary).into_iter();
    found.map(text).collect::<Vec<String>>().join(", ")
}

/// What a run with the scatter of this one finds, by workload, in a sentence; `None` if nothing was
/// compared.
pub fn found_message(summary: &Summary) -> Option<String> {
    let workloads = summary.compared.workloads.iter();
    let texts: Vec<String> = workloads
        .filter_map(|one| {
            let text = found_text(summary, &one.name, true);
            (!text.is_empty()).then(|| format!("{}: {text}", one.name))
        })
        .collect();
    (!texts.is_empty()).then(|| {
        format!(
            "80 of 100 runs with the scatter of this one find a difference of this size; {}",
            texts.join("; ")
        )
    })
}
