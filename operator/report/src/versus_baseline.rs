//! A cell as a multiple of the baseline's, in words: the same for all sweeps and tables. For the
//! baseline's twin this is the noise floor.

use wasmbench_api::run::TWIN;
use wasmbench_core::units;
use wasmbench_results::cell::AnyCell;
use wasmbench_results::comparison::{Comparison, Estimate, NoiseFloor};
use wasmbench_results::measure::Metric;
use wasmbench_results::summary::Summary;

/// Why a ratio differs from the quotient of the medians beside it.
pub const PAIRED: &str =
    "Ratios are paired within blocks: they need not be the quotients of the medians.";

/// The ratio with its interval and its verdict.
pub fn words(summary: &Summary, cell: &AnyCell, metric: Metric) -> Option<String> {
    if cell.variant == TWIN {
        summary.noise_floor(cell, metric).map(NoiseFloor::words)
    } else {
        summary.comparison(cell, metric).map(Comparison::words)
    }
}

/// The ratio of each block.
pub fn each_block(summary: &Summary, cell: &AnyCell, metric: Metric) -> Option<String> {
    let each = estimate(summary, cell, metric)?.per_block.iter();
    let each: Vec<String> = each.map(|ratio| units::ratio_number(*ratio)).collect();
    Some(each.join(" "))
}

fn estimate<'a>(summary: &'a Summary, cell: &AnyCell, metric: Metric) -> Option<&'a Estimate> {
    if cell.variant == TWIN {
        Some(&summary.noise_floor(cell, metric)?.estimate)
    } else {
        Some(&summary.comparison(cell, metric)?.estimate)
    }
}
