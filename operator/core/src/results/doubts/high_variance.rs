//! Comparisons that more blocks would decide.

use super::super::compare::{Comparison, minimum_effect};
use super::super::judge::Verdict;
use super::super::statistics::ratio::blocks_for;
use super::super::units;
use super::{Doubt, Evidence, MAX_PLACES, Reason, listed, note};

/// The largest `spec.blocks`.
const MOST_BLOCKS: u32 = 50;

/// Comparisons whose interval is so wide that neither a difference of the minimum effect nor the
/// absence of one could show. A note: an inconclusive verdict already says that the data do not
/// decide, and numbers that claim nothing cannot be believed too much.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let target = minimum_effect(evidence.spec);
    let place = |comparison: &Comparison| {
        let (low, high) = comparison.low.zip(comparison.high)?;
        let half_width = libm::log(high / low) / 2.0;
        if comparison.verdict != Verdict::Inconclusive || half_width <= target {
            return None;
        }
        let needed = blocks_for(half_width, comparison.blocks, target, MOST_BLOCKS);
        let needed = needed.map_or_else(
            || format!("more than {MOST_BLOCKS} blocks"),
            |blocks| format!("about {blocks} blocks"),
        );
        Some(format!(
            "{} of {} on {} ({}-{}: {needed})",
            comparison.metric.noun(),
            comparison.variant,
            comparison.workload,
            units::ratio_number(low),
            units::ratio_number(high),
        ))
    };
    let places = evidence.comparisons.iter().filter_map(place);
    Some(note(
        Reason::HighVariance,
        format!(
            "trials scatter too much to decide, with the blocks that it would take: {}",
            listed(places, MAX_PLACES, ", ")?
        ),
        "raise spec.blocks, use a quieter node or longer windows, or raise spec.minimumEffect",
    ))
}
