//! What a run can find: before the run from an assumed scatter of trials, after it from its own
//! scatter.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::MOST_BLOCKS;
use wasmbench_model::units;

use crate::judge::comparison::{Comparison, factor};
use crate::statistics::ratio::{blocks_for_equals, smallest_found};
use crate::summary::Summary;
use crate::vocabulary::measure::{Measured as _, Metric};
use crate::vocabulary::minimum::minimum_effect;
use crate::vocabulary::primary;

/// The scatter of equal trials on a typical node. On a quiet machine it is half as much, and on a
/// small virtual one twice as much.
pub const USUAL_SCATTER: f64 = 0.04;

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

/// The scatter of a ratio of two trials that scatter by `scatter` each.
pub fn of_ratios(scatter: f64) -> f64 {
    scatter * f64::sqrt(2.0)
}

/// What a run of this spec finds if equal trials scatter by `scatter`; `None` if it compares
/// nothing.
pub fn expected(spec: &BenchmarkRunSpec, scatter: f64) -> Option<Expected> {
    let comparisons = primary::planned(spec);
    let blocks = spec.fewest_blocks();
    let (noise, matters) = (of_ratios(scatter), minimum_effect(spec));
    (comparisons > 0).then(|| Expected {
        comparisons,
        blocks,
        smallest: smallest_found(noise, blocks, comparisons, matters).map(factor),
        equals: blocks_for_equals(matters, noise, MOST_BLOCKS),
    })
}

impl Expected {
    /// The expectation in a sentence, with a remedy if equals would stay undecided.
    pub fn words(&self, spec: &BenchmarkRunSpec, scatter: f64) -> String {
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
        let found = format!(
            "expected: with {blocks} blocks, where trials scatter by {}, 80 of 100 runs find a difference of {}",
            units::percent(scatter),
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
pub fn found_words(summary: &Summary, workload: &str, primary: bool) -> String {
    let words = |(metric, factor): (Metric, f64)| {
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
    found.map(words).collect::<Vec<String>>().join(", ")
}

/// What a run with the scatter of this one finds, by workload, in a sentence; `None` if nothing was
/// compared.
pub fn found_message(summary: &Summary) -> Option<String> {
    let workloads = summary.compared.workloads.iter();
    let words: Vec<String> = workloads
        .filter_map(|one| {
            let words = found_words(summary, &one.name, true);
            (!words.is_empty()).then(|| format!("{}: {words}", one.name))
        })
        .collect();
    (!words.is_empty()).then(|| {
        format!(
            "80 of 100 runs with the scatter of this one find a difference of this size; {}",
            words.join("; ")
        )
    })
}
