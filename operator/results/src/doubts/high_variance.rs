//! Comparisons that more blocks would decide, and medians of a single variant that they would narrow.

use wasmbench_core::units;

use crate::cell::CellSummary;
use crate::coldstart::{ColdStartCell, ColdTime};
use crate::compare::minimum_effect;
use crate::comparison::Comparison;
use crate::density::DensityCell;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed, note};
use crate::judge::Verdict;
use crate::measure::{Metric, Sweep};
use crate::statistics::ratio::{blocks_for, blocks_to_decide};

/// The largest `spec.blocks`.
const MOST_BLOCKS: u32 = 50;

/// Comparisons whose interval is so wide that equals would mostly stay undecided. A note: an inconclusive verdict already says that the data do not
/// decide, and numbers that claim nothing cannot be believed too much.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let target = minimum_effect(evidence.spec);
    let loads = evidence.comparisons.iter().filter_map(of_load);
    let cold = evidence.cold_starts.iter().flat_map(of_cold_start);
    let density = evidence.density.iter().filter_map(of_density);
    let all = loads.chain(cold).chain(density);
    let places = all.filter_map(|wide| wide.place(target));
    let places = places.chain(medians(evidence, target));
    Some(note(
        Reason::HighVariance,
        format!(
            "trials scatter too much to decide, with the blocks that it would take: {}",
            listed(places, MAX_PLACES, ", ")?
        ),
        "raise spec.blocks (or spec.precision.maxBlocks), use a quieter node or longer windows, or raise spec.minimumEffect",
    ))
}

/// Points of a run of a single variant, which compares nothing, whose median is not known well enough.
fn medians(evidence: &Evidence<'_>, target: f64) -> Vec<String> {
    if evidence.spec.variants.len() > 1 {
        return vec![];
    }
    let place = |cell: &CellSummary| {
        let (spread, unit): (_, fn(f64) -> String) = match cell.sweep {
            Sweep::Throughput => (cell.rps?, units::rate),
            Sweep::WarmLatency | Sweep::OpenLoop => (cell.p50_microseconds?, units::micros),
        };
        let half_width = libm::log(spread.high / spread.low) / 2.0;
        let blocks = cell.counts.valid;
        let is_wide = cell.ranked && blocks > 1 && half_width > target;
        let needed = words(blocks_for(half_width, blocks, target, MOST_BLOCKS));
        let (low, high) = (unit(spread.low), unit(spread.high));
        is_wide.then(|| format!("{} ({low} to {high}: {needed})", cell.place()))
    };
    evidence.cells.iter().filter_map(place).collect()
}

/// The blocks that it takes, in words.
fn words(needed: Option<u32>) -> String {
    needed.map_or_else(
        || format!("more than {MOST_BLOCKS} blocks"),
        |blocks| format!("about {blocks} blocks"),
    )
}

/// A comparison that may be too wide.
struct Wide {
    /// What is compared, of which variant, where.
    what: String,
    low: f64,
    high: f64,
    verdict: Verdict,
    blocks: u32,
}

fn of_load(comparison: &Comparison) -> Option<Wide> {
    let (low, high) = comparison.low.zip(comparison.high)?;
    Some(Wide {
        what: format!(
            "{} of {} on {}",
            comparison.what(),
            comparison.variant,
            comparison.workload
        ),
        low,
        high,
        verdict: comparison.verdict,
        blocks: comparison.blocks,
    })
}

fn of_cold_start(cell: &ColdStartCell) -> Vec<Wide> {
    let times = [
        (
            Metric::ColdStartListening,
            cell.create_to_listening.as_ref(),
        ),
        (Metric::ColdStartAnswer, cell.create_to_answer.as_ref()),
    ];
    let wide = |(metric, time): (Metric, Option<&ColdTime>)| {
        let found = time?.versus_baseline.as_ref()?;
        Some(Wide {
            what: format!("{} of {}", metric.noun(), cell.place()),
            low: found.ratio.low,
            high: found.ratio.high,
            verdict: found.verdict?,
            blocks: u32::try_from(found.per_block.len()).unwrap_or(u32::MAX),
        })
    };
    times.into_iter().filter_map(wide).collect()
}

fn of_density(cell: &DensityCell) -> Option<Wide> {
    let found = cell.versus_baseline.as_ref()?;
    let (low, high) = found.low.zip(found.high)?;
    Some(Wide {
        what: format!("density of {}", cell.place()),
        low,
        high,
        verdict: found.verdict?,
        blocks: u32::try_from(found.per_block.len()).unwrap_or(u32::MAX),
    })
}

impl Wide {
    /// The comparison with the blocks that it needs; `None` when it is decided, or when more blocks would decide no
    /// more: a difference near the smallest that matters is neither found nor excluded by any number of them.
    fn place(self, effect: f64) -> Option<String> {
        let Self {
            what, low, high, ..
        } = self;
        let half_width = libm::log(high / low) / 2.0;
        let needed = blocks_to_decide(half_width, self.blocks, effect, MOST_BLOCKS);
        if self.verdict != Verdict::Inconclusive || self.blocks < 2 || needed == Some(self.blocks) {
            return None;
        }
        let needed = words(needed);
        let (low, high) = (units::ratio_number(low), units::ratio_number(high));
        Some(format!("{what} ({low}-{high}: {needed})"))
    }
}
