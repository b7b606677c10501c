//! Slopes as multiples of the baseline's: ratios within blocks, judged together with all other
//! comparisons of the run, by the same rules ([`by_block`]).

use std::collections::BTreeMap;

use wasmbench_api::run::TWIN;

use crate::by_block::{self, Judged, Unjudged};
use crate::density::{DensityCell, DensityRatio};
use crate::measure::Metric;
use crate::statistics::{LogInterval, paired_ratios};

/// The ratios of all `cells` to those of the baseline, in the order of the cells. What is invalid on
/// either side is not compared.
pub fn unjudged(cells: &[DensityCell], baseline: &str) -> Vec<Unjudged> {
    let ratio = |(index, cell): (usize, &DensityCell)| {
        let is_compared = cell.is_ranked() && cell.variant != baseline;
        let mut bases = cells.iter().filter(|base| is_compared && base.is_ranked());
        let base = bases.find(|base| base.variant == baseline && base.workload == cell.workload)?;
        let ratios = paired_ratios(&slopes(cell), &slopes(base));
        Some(Unjudged {
            cell: index,
            is_twin: cell.variant == TWIN,
            metric: Metric::Memory,
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

/// `cells` with their ratios and verdicts. `adjusted` are their p-values, adjusted among all of the run,
/// and `minimum_effect` is a logarithm.
pub fn judged(
    mut cells: Vec<DensityCell>,
    found: &[Unjudged],
    adjusted: &[f64],
    minimum_effect: f64,
) -> Vec<DensityCell> {
    let same = |one: usize, other: usize| cells[one].workload == cells[other].workload;
    for one in by_block::judged(found, adjusted, minimum_effect, same) {
        let cell = one.cell;
        cells[cell].versus_baseline = Some(ratio(one));
    }
    cells
}

fn ratio(judged: Judged) -> DensityRatio {
    DensityRatio {
        ratio: judged.ratio,
        low: judged.ends.map(|(low, _)| low),
        high: judged.ends.map(|(_, high)| high),
        adjusted_p_value: judged.adjusted_p_value,
        verdict: judged.verdict,
        per_block: judged.per_block,
    }
}
