//! Climbs to cells: what they show of the capacity, over all blocks.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::ladder::{self, Capacity, Outcome};
use wasmbench_model::noise::Noise;
use wasmbench_model::points::target_of;
use wasmbench_model::rounding::round_number;
use wasmbench_model::wire::document::{Meter, Rung, TimedWindow};
use wasmbench_model::wire::record::Point;
use wasmbench_model::wire::request::Target;

use crate::cells::capacity::limits::Limits;
use crate::cells::capacity::{CapacityBlock, CapacityCell, CapacityDetail, rungs};
use crate::cells::recorded::Recorded;
use crate::cells::variant_validity::VariantValidity;
use crate::read::climb_trial::{
    ClimbTrial, cpu_microseconds_per_request, memory_bytes, throttled_share_of_periods,
};
use crate::read::observation::Observation;
use crate::statistics::{BoundedSpread, OneSided, Spread, median};
use crate::vocabulary::cell::CellSummary;
use crate::vocabulary::doubt::Reason;

/// The cell of capacity; `None` for a point of another sweep. A climb whose generator was late on every
/// rung is not valid. Failed requests are part of the answer, and make no climb invalid.
pub fn cell(
    spec: &BenchmarkRunSpec,
    recorded: &Recorded<'_>,
    validity: VariantValidity<'_>,
) -> Option<CapacityCell> {
    if recorded.cell.point != Point::Capacity {
        return None;
    }
    let sweep = spec.sweeps.open_loop.as_ref()?;
    let mut workloads = spec.workloads.iter();
    let workload = workloads.find(|one| one.name == recorded.cell.workload)?;
    let target = target_of(sweep, workload)?;
    let cell = recorded.cell.clone();
    let wrong = validity.of_every_trial(&cell.variant, &cell.workload);
    let all: BTreeMap<u32, &ClimbTrial> = recorded.measured(Observation::climb);
    let has_capacity = |climb: &ClimbTrial| ladder::capacity(&climb.rungs, target).is_some();
    let (counts, shown) = recorded.shown(&all, |climb| wrong.is_none() && has_capacity(climb));
    let detail = CapacityDetail {
        connections: sweep.connections,
        ..summarise(&shown, target)
    };
    let sets_limit = spec.sets_cpu_limit(&cell.variant);
    let is_throttled = detail.limits.is_throttled() && !sets_limit;
    let is_late = counts.invalid > 0 && all.values().copied().any(|climb| !has_capacity(climb));
    let own = [
        (Reason::Throttled, is_throttled),
        (Reason::LoadGeneratorLate, is_late),
    ];
    let invalid = validity.invalid_because(&cell, counts, own);
    Some(CellSummary::new(cell, counts, detail, invalid))
}

fn summarise(climbs: &BTreeMap<u32, &ClimbTrial>, target: Target) -> CapacityDetail {
    let found: Vec<(&ClimbTrial, Capacity)> = climbs
        .values()
        .filter_map(|climb| Some((*climb, ladder::capacity(&climb.rungs, target)?)))
        .collect();
    let ends: Vec<[f64; 2]> = found.iter().map(|(_, capacity)| capacity.ends()).collect();
    let at_capacity = |number: fn(&TimedWindow) -> Option<f64>| {
        let numbers = found
            .iter()
            .filter_map(|(climb, _)| number(met(climb, target)?));
        Spread::from_values(numbers).map(|spread| spread.map(round_number))
    };
    let is_noisy = |(climb, _): &&(&ClimbTrial, Capacity)| {
        let noises = around(climb, target).map(|rung| climb.noise(rung));
        noises.fold(Noise::default(), Noise::worst).is_over_limit()
    };
    let is_unknown = |(climb, _): &&(&ClimbTrial, Capacity)| {
        let mut finished = around(climb, target).filter(|rung| rung.window.is_some());
        finished.any(|rung| climb.noise(rung).others.is_none())
    };
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    CapacityDetail {
        target_p99_microseconds: target.p99_microseconds,
        connections: 0,
        rps: BoundedSpread::from_ends(&ends).map(round_number),
        cpu_microseconds_per_request: at_capacity(cpu_microseconds_per_request),
        memory_bytes: at_capacity(memory_bytes),
        limits: limits(&found, target),
        noisy_blocks: count(found.iter().filter(is_noisy).count()),
        noise_unknown_blocks: count(found.iter().filter(is_unknown).count()),
        rungs: rungs::of_all(climbs, target),
        blocks: climbs
            .iter()
            .map(|(block, climb)| block_of(*block, climb, target))
            .collect(),
    }
}

/// The rungs that show anything, with what they show.
fn shown(climb: &ClimbTrial, target: Target) -> Vec<(&Rung, Outcome)> {
    let outcomes = ladder::outcomes(&climb.rungs, target);
    let rungs = climb.rungs.iter().zip(outcomes);
    rungs
        .filter(|(_, outcome)| *outcome != Outcome::Invalid)
        .collect()
}

/// The window of the highest rung that met the target.
fn met(climb: &ClimbTrial, target: Target) -> Option<&TimedWindow> {
    let shown = shown(climb, target);
    let mut downwards = shown.iter().rev();
    let (rung, _) = downwards.find(|(_, outcome)| *outcome == Outcome::Met)?;
    rung.window.as_ref()
}

/// The rungs next to the crossing: the highest that met the target, and the next that shows anything.
fn around(climb: &ClimbTrial, target: Target) -> impl Iterator<Item = &Rung> {
    let shown = shown(climb, target);
    let mut outcomes = shown.iter().map(|(_, outcome)| *outcome);
    let met = outcomes.rposition(|outcome| outcome == Outcome::Met);
    let above = met.map_or(0, |met| met + 1);
    let both = met.into_iter().chain([above]);
    both.filter_map(move |at| Some(shown.get(at)?.0))
}

/// The windows of these rungs.
fn windows(climb: &ClimbTrial, target: Target) -> impl Iterator<Item = &TimedWindow> {
    around(climb, target).filter_map(|rung| rung.window.as_ref())
}

/// What a counter of the subject adds up to in them.
fn counted(climb: &ClimbTrial, target: Target, counter: fn(&Meter) -> Option<u64>) -> u64 {
    windows(climb, target)
        .filter_map(|window| counter(window.subject.as_ref()?))
        .sum()
}

fn limits(found: &[(&ClimbTrial, Capacity)], target: Target) -> Limits {
    let throttled = found.iter().filter_map(|(climb, _)| {
        windows(climb, target)
            .filter_map(throttled_share_of_periods)
            .reduce(f64::max)
    });
    let at_limit = found
        .iter()
        .filter(|(climb, _)| counted(climb, target, |meter| meter.memory_limit_hits) > 0);
    let killed = found
        .iter()
        .map(|(climb, _)| counted(climb, target, |meter| meter.oom_kills));
    Limits {
        throttled_share_of_periods: median(throttled).map(round_number),
        memory_limit_blocks: u32::try_from(at_limit.count()).unwrap_or(u32::MAX),
        oom_kills: killed.sum(),
    }
}

fn block_of(block: u32, climb: &ClimbTrial, target: Target) -> CapacityBlock {
    let (rps, bound) = match ladder::capacity(&climb.rungs, target) {
        Some(Capacity::Crossed(rps)) => (Some(rps), None),
        Some(Capacity::AtLeast(rps)) => (Some(rps), Some(OneSided::AtLeast)),
        Some(Capacity::Below(rps)) => (Some(rps), Some(OneSided::AtMost)),
        None => (None, None),
    };
    let at_capacity = met(climb, target);
    let number = |of: fn(&TimedWindow) -> Option<f64>| at_capacity.and_then(of).map(round_number);
    CapacityBlock {
        block,
        rps: rps.map(round_number),
        bound,
        cpu_microseconds_per_request: number(cpu_microseconds_per_request),
        memory_bytes: number(memory_bytes),
        rungs: rungs::of_block(climb, target),
    }
}
