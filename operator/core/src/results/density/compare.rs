//! Slopes as multiples of the baseline's: ratios within blocks, judged together with all other
//! comparisons of the run, by the same rules ([`judge`]).

use std::collections::BTreeMap;

use wasmbench_api::run::TWIN;

use super::super::compare::{Metric, P_DIGITS};
use super::super::judge::{Thresholds, judge};
use super::super::statistics::{LogInterval, paired_ratios, round_significant};
use super::super::trial::SUMMARY_DIGITS;
use super::{DensityCell, DensityRatio};

/// A ratio that has no verdict yet.
#[derive(Clone, Debug)]
pub struct Unjudged {
    /// Index of the variant's cell.
    cell: usize,
    /// Whether the variant is the baseline's twin.
    is_twin: bool,
    /// The ratio of each block.
    ratios: Vec<f64>,
    /// What they come to.
    interval: LogInterval,
}

/// The ratios of all `cells` to those of the baseline, in the order of the cells.
pub fn unjudged(cells: &[DensityCell], baseline: &str) -> Vec<Unjudged> {
    let ratio = |(index, cell): (usize, &DensityCell)| {
        let mut bases = cells.iter().filter(|_| cell.variant != baseline);
        let base = bases.find(|base| base.variant == baseline && base.workload == cell.workload)?;
        let ratios = paired_ratios(&slopes(cell), &slopes(base));
        Some(Unjudged {
            cell: index,
            is_twin: cell.variant == TWIN,
            interval: LogInterval::of(&ratios)?,
            ratios,
        })
    };
    cells.iter().enumerate().filter_map(ratio).collect()
}

fn slopes(cell: &DensityCell) -> BTreeMap<u32, f64> {
    let blocks = cell.blocks.iter();
    blocks
        .filter_map(|block| Some((block.block, block.bytes_per_instance?)))
        .collect()
}

/// The p-values of what gets a verdict: all but the twin's.
pub fn p_values(found: &[Unjudged]) -> Vec<f64> {
    let competitors = found.iter().filter(|one| !one.is_twin);
    competitors.map(|one| one.interval.p_value).collect()
}

/// `cells` with their ratios and verdicts. `adjusted` are the [`p_values`], adjusted among all of the
/// run, and `minimum_effect` is a logarithm.
pub fn judged(
    mut cells: Vec<DensityCell>,
    found: &[Unjudged],
    adjusted: &[f64],
    minimum_effect: f64,
) -> Vec<DensityCell> {
    let mut adjusted = adjusted.iter();
    for one in found {
        let is_floor = |twin: &&Unjudged| {
            twin.is_twin && cells[twin.cell].workload == cells[one.cell].workload
        };
        let floor = found.iter().find(is_floor);
        let thresholds = Thresholds {
            minimum_effect,
            noise_floor: floor.and_then(|twin| twin.interval.farthest()),
        };
        let adjusted = if one.is_twin {
            None
        } else {
            adjusted.next().copied()
        };
        cells[one.cell].versus_baseline = Some(one.ratio(adjusted, thresholds));
    }
    cells
}

impl Unjudged {
    /// The ratio; one without an adjusted p-value has no verdict.
    fn ratio(&self, adjusted_p: Option<f64>, thresholds: Thresholds) -> DensityRatio {
        let round = |value| round_significant(value, SUMMARY_DIGITS);
        let ratio = |log: f64| round(libm::exp(log));
        let interval = &self.interval;
        DensityRatio {
            ratio: ratio(interval.estimate),
            low: interval.low().map(ratio),
            high: interval.high().map(ratio),
            adjusted_p_value: adjusted_p.map(|p| round_significant(p, P_DIGITS)),
            verdict: adjusted_p.map(|p| judge(Metric::Memory, interval, p, thresholds)),
            per_block: self.ratios.iter().copied().map(round).collect(),
        }
    }
}
