//! What CPU time and memory at the target are as multiples of the baseline's, block by block. A run with
//! a target judges capacities, so that these ratios have no verdict. Summary in, estimate out. Pure.

use wasmbench_api::run::TWIN;

use crate::cells::capacity::CapacityBlock;
use crate::judge::comparison::Estimate;
use crate::judge::ratios::pooled;
use crate::statistics::ratio::pairs_with_both;
use crate::statistics::{Interval, Scale, paired_ratios};
use crate::summary::Summary;
use crate::vocabulary::cell::{ByBlock, ranked};

/// A number of a variant at the highest rung that met the target, as a multiple of the baseline's;
/// `None` for the baseline, and where one of the two has none.
pub fn ratio(
    summary: &Summary,
    (variant, workload): (&str, &str),
    number: impl Fn(&CapacityBlock) -> Option<f64>,
) -> Option<Estimate> {
    let by_block = |variant: &str| -> Option<ByBlock> {
        let cell = ranked(&summary.capacity, variant, workload).next()?;
        let blocks = cell.detail.blocks.iter();
        let numbers = blocks.filter_map(|block| Some((block.block, number(block)?)));
        Some(numbers.collect())
    };
    if variant == summary.baseline {
        return None;
    }
    let (value, base) = (by_block(variant)?, by_block(&summary.baseline)?);
    let twin = by_block(TWIN).unwrap_or_default();
    let pairs = pairs_with_both(&value, &base, &twin, Scale::Ratio);
    let interval = Interval::from_pairs(&pairs, Scale::Ratio)?;
    let per_block = paired_ratios(&value, &pooled(&base, Some(&twin)));
    Some(Estimate::new(&interval, &per_block))
}
