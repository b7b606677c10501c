//! The rungs of one block, and of all blocks together: rungs at the same place in their ladders.

use std::collections::BTreeMap;

use wasmbench_model::ladder::{self, Outcome};
use wasmbench_model::rounding::{round_number, round_time};
use wasmbench_model::wire::document::Rung;
use wasmbench_model::wire::open_loop::OpenLoopWindow;
use wasmbench_model::wire::request::Target;

use crate::cells::capacity::{BlockRung, RungOutcome, RungSummary};
use crate::read::climb_trial::{ClimbTrial, throttled_share_of_periods};
use crate::statistics::{Spread, median};

/// The rungs of a block.
pub(super) fn of_block(climb: &ClimbTrial, target: Target) -> Vec<BlockRung> {
    let outcomes = ladder::outcomes(&climb.rungs, target);
    let rungs = climb.rungs.iter().zip(outcomes);
    rungs
        .map(|(rung, outcome)| block_rung(rung, outcome))
        .collect()
}

fn block_rung(rung: &Rung, outcome: Outcome) -> BlockRung {
    let window = rung.open_loop();
    let time = |number: fn(&OpenLoopWindow) -> f64| window.map(number).map(round_time);
    // Latencies are those of right answers.
    let is_answered = window.is_some_and(|found| found.failed < found.requests);
    let latency = |number: fn(&OpenLoopWindow) -> f64| time(number).filter(|_| is_answered);
    BlockRung {
        requested_rps: rung.requested_rps,
        outcome: outcome.into(),
        sent_rps: window.map(|found| round_number(rung.requested_rps * found.achieved_share)),
        p50_microseconds: latency(|found| found.from_schedule.p50_microseconds),
        p99_microseconds: latency(|found| found.from_schedule.p99_microseconds),
        failed: window.map(|found| found.failed),
        generator_p99_microseconds: time(|found| found.generator_delay.p99_microseconds),
    }
}

/// The rungs of all blocks, by their place in the ladder. What was tried between two of them has none.
pub(super) fn of_all(climbs: &BTreeMap<u32, &ClimbTrial>, target: Target) -> Vec<RungSummary> {
    let mut places: BTreeMap<usize, Vec<(&Rung, BlockRung)>> = BTreeMap::new();
    for climb in climbs.values() {
        let rungs = climb.rungs.iter().zip(of_block(climb, target));
        let rungs = rungs.filter(|(rung, _)| !rung.between);
        for (place, rung) in rungs.enumerate() {
            places.entry(place).or_default().push(rung);
        }
    }
    places
        .into_values()
        .filter_map(|rungs| summary(&rungs))
        .collect()
}

fn summary(rungs: &[(&Rung, BlockRung)]) -> Option<RungSummary> {
    let shown = || {
        let all = rungs.iter();
        all.filter(|(_, rung)| rung.outcome != RungOutcome::Invalid)
    };
    let spread = |number: fn(&BlockRung) -> Option<f64>| {
        let numbers = shown().filter_map(|(_, rung)| number(rung));
        Spread::from_values(numbers).map(|spread| spread.map(round_number))
    };
    let count = |outcome: RungOutcome| {
        let all = rungs.iter().filter(|(_, rung)| rung.outcome == outcome);
        u32::try_from(all.count()).unwrap_or(u32::MAX)
    };
    let throttled =
        shown().filter_map(|(rung, _)| throttled_share_of_periods(rung.window.as_ref()?));
    let failed = shown().filter_map(|(rung, _)| {
        let window = rung.open_loop()?;
        (window.requests > 0).then(|| window.failed as f64 / window.requests as f64)
    });
    Some(RungSummary {
        requested_rps: round_number(median(rungs.iter().map(|(rung, _)| rung.requested_rps))?),
        trials: u32::try_from(rungs.len()).unwrap_or(u32::MAX),
        met: count(RungOutcome::Met),
        invalid: count(RungOutcome::Invalid),
        sent_rps: spread(|rung| rung.sent_rps),
        p50_microseconds: spread(|rung| rung.p50_microseconds),
        p99_microseconds: spread(|rung| rung.p99_microseconds),
        failed_share_max: failed.reduce(f64::max).map(round_number),
        throttled_share_of_periods: median(throttled).map(round_number),
    })
}
