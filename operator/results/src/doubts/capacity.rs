//! What speaks against capacities. Failed requests and a subject that is behind its schedule do not: they
//! are the answer.

use wasmbench_model::units;

use crate::cells::capacity::{CapacityCell, RungOutcome};
use crate::doubts::{Doubt, NOISY_REMEDY, Reason, doubt, note, places, throttled};
use crate::read::cpu_limit::CpuLimits;
use crate::statistics::OneSided;

/// The prefix of places.
const OF: &str = "capacity of ";

/// All that speaks against the numbers, or limits them.
pub(super) fn doubts(limits: &CpuLimits<'_>, cells: &[CapacityCell]) -> Vec<Doubt> {
    let found = [
        memory(cells),
        noisy(cells),
        beyond_ladder(cells),
        late(cells),
    ];
    let stopped = stopped(limits, cells).into_iter();
    stopped.chain(found.into_iter().flatten()).collect()
}

fn stopped(limits: &CpuLimits<'_>, cells: &[CapacityCell]) -> Vec<Doubt> {
    let places = cells.iter().filter_map(|cell| {
        let share = cell.detail.limits.throttled_share_of_periods;
        let share = units::percent(share.filter(|share| *share > 0.0)?);
        let place = format!("{OF}{} (in {share} of its periods)", cell.place());
        Some((cell.variant.clone(), place))
    });
    throttled::of_places(limits, "", places)
}

/// Memory at its limit is part of the question, like a CPU limit: the numbers stand.
fn memory(cells: &[CapacityCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let limits = &cell.detail.limits;
        let is_at_limit = limits.memory_limit_blocks > 0 || limits.oom_kills > 0;
        let text = limits.text()?;
        is_at_limit.then(|| format!("{OF}{} ({text})", cell.place()))
    })?;
    Some(note(
        Reason::MemoryAtLimit,
        places,
        "nothing, if subjects under this limit are what you want to measure; otherwise raise resources.limits.memory",
    ))
}

fn noisy(cells: &[CapacityCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let (noisy, blocks) = (cell.detail.noisy_blocks, cell.detail.blocks.len());
        let text = || format!("{OF}{} ({noisy} of {blocks})", cell.place());
        cell.detail.is_noisy().then(text)
    })?;
    let message = format!("the node was noisy next to the crossing: {places}");
    Some(doubt(Reason::NodeNoisy, message, NOISY_REMEDY))
}

/// Cells that have a bound only in some blocks.
fn beyond_ladder(cells: &[CapacityCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let [above, below] =
            [OneSided::AtLeast, OneSided::AtMost].map(|end| cell.detail.beyond(end));
        let text = |trials: u32, what: &str| {
            let blocks = cell.detail.blocks.len();
            (trials > 0).then(|| format!("{what} rung in {trials} of {blocks}"))
        };
        let both = [
            text(above, "above the last"),
            text(below, "below the first"),
        ];
        let ends: Vec<String> = both.into_iter().flatten().collect();
        (!ends.is_empty()).then(|| format!("{} ({})", cell.place(), ends.join(", ")))
    })?;
    Some(note(
        Reason::BeyondLadder,
        format!("capacities beyond an end of the ladder, of which only a bound is known: {places}"),
        "to know more than a bound, state spec.sweeps.openLoop.rates that reach farther, or raise connections where even \
         the last rung met the target",
    ))
}

/// Cells with rungs that show nothing.
fn late(cells: &[CapacityCell]) -> Option<Doubt> {
    let places = places(cells, |cell| {
        let blocks = cell.detail.blocks.iter();
        let rungs = blocks.flat_map(|block| &block.rungs);
        let invalid = rungs.filter(|rung| rung.outcome == RungOutcome::Invalid);
        let lowest = invalid.map(|rung| rung.requested_rps).reduce(f64::min)?;
        let rate = units::rate(lowest);
        Some(format!("{OF}{} (from {rate}/s on)", cell.place()))
    })?;
    Some(note(
        Reason::LoadGeneratorLate,
        places,
        "these rungs do not count: give the generator CPUs of its own, or a node with more of them, or use heavier requests",
    ))
}
