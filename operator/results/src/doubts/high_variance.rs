//! Comparisons that more blocks would decide, and medians of a single variant whose intervals they
//! would narrow.

use wasmbench_api::run::MOST_BLOCKS;
use wasmbench_model::units;

use crate::cells::any::AnyCell;
use crate::cells::capacity::CapacityCell;
use crate::cells::load::LoadCell;
use crate::cells::steady::{self, Scatter};
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed, note};
use crate::judge::comparison::Comparison;
use crate::judge::verdict::Verdict;
use crate::statistics::ratio::{blocks_for, blocks_to_decide};
use crate::vocabulary::measure::Sweep;
use crate::vocabulary::minimum::minimum_effect;

/// Primary comparisons whose interval is so wide that equals would mostly stay undecided. A note:
/// an inconclusive verdict already shows that the data do not decide, and numbers that claim nothing
/// cannot mislead.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let target = minimum_effect(evidence.spec);
    let compared = evidence.comparisons.iter().filter(|one| one.primary);
    let ratios = compared.filter_map(|comparison| {
        let place = place(comparison, target)?;
        let source = source(evidence, comparison).unwrap_or_default();
        Some(place + &source)
    });
    let places = ratios.chain(medians(evidence, target));
    Some(note(
        Reason::HighVariance,
        format!(
            "trials scatter too much to decide, with the blocks that it would take: {}",
            listed(places, MAX_PLACES, ", ")?
        ),
        "raise spec.blocks (or spec.precision.maxBlocks), use a quieter node or longer windows, or raise spec.minimumEffect",
    ))
}

/// Where the scatter of a variant comes from, and thus what would reduce it.
fn source(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<String> {
    let mut loads = evidence.cells.loads.iter();
    let Comparison {
        variant,
        workload,
        point,
        ..
    } = comparison;
    let cell = loads.find(|cell| cell.is_at(variant, workload, *point))?;
    let Scatter {
        between_pods,
        within_pods,
    } = steady::scatter(&cell.detail.trials)?;
    let remedy = if between_pods > within_pods {
        "more blocks"
    } else {
        "longer windows"
    };
    let [between, within] =
        [between_pods, within_pods].map(|deviation| units::excess(1.0 + deviation));
    Some(format!(
        "; its pods scatter by {between}, the window of one by {within}: {remedy}"
    ))
}

/// In a run of a single variant, which compares nothing: points whose median is not known precisely
/// enough.
fn medians(evidence: &Evidence<'_>, target: f64) -> Vec<String> {
    if evidence.spec.variants.len() > 1 {
        return vec![];
    }
    let of_load = |cell: &LoadCell| {
        let (spread, unit): (_, fn(f64) -> String) = match cell.detail.sweep {
            Sweep::Throughput => (cell.detail.rps?, units::rate),
            Sweep::WarmLatency | Sweep::OpenLoop => (cell.detail.p50_microseconds?, units::micros),
        };
        wide(cell.any(), (spread.low, spread.high), unit, target)
    };
    let of_capacity = |cell: &CapacityCell| {
        let ends = cell.detail.rps.low.zip(cell.detail.rps.high)?;
        wide(cell.any(), ends, units::rate, target)
    };
    let capacities = evidence.cells.capacity.iter().filter_map(of_capacity);
    let loads = evidence.cells.loads.iter().filter_map(of_load);
    loads.chain(capacities).collect()
}

/// The cell with the interval of its median and the blocks that it needs, if that is too wide.
fn wide(
    cell: AnyCell<'_>,
    (low, high): (f64, f64),
    unit: fn(f64) -> String,
    target: f64,
) -> Option<String> {
    let half_width = libm::log(high / low) / 2.0;
    let blocks = cell.counts.valid;
    let is_wide = cell.ranked && blocks > 1 && half_width > target;
    is_wide.then(|| {
        let needed = text(blocks_for(half_width, blocks, target, MOST_BLOCKS));
        let (place, low, high) = (cell.place_among_sweeps(), unit(low), unit(high));
        format!("{place} ({low} to {high}: {needed})")
    })
}

/// The number of blocks needed, in words.
fn text(needed: Option<u32>) -> String {
    needed.map_or_else(
        || format!("more than {MOST_BLOCKS} blocks"),
        |blocks| format!("about {blocks} blocks"),
    )
}

/// The comparison with the blocks that it needs. `None` if it is decided, or if more blocks would
/// not decide it: no number of blocks finds or excludes a difference near the smallest that
/// matters.
fn place(comparison: &Comparison, effect: f64) -> Option<String> {
    let blocks = comparison.estimate.blocks;
    let (half_width, effect) = if let Some(found) = comparison.judged_difference() {
        ((found.high? - found.low?) / 2.0, found.smallest)
    } else {
        let (low, high) = comparison.estimate.ends()?;
        (libm::log(high / low) / 2.0, effect)
    };
    let needed = blocks_to_decide(half_width, blocks, effect, MOST_BLOCKS);
    if comparison.verdict != Verdict::Inconclusive || blocks < 2 || needed == Some(blocks) {
        return None;
    }
    let (what, found) = (comparison.subject(), comparison.judged_text());
    Some(format!("{what} ({found}: {})", text(needed)))
}
