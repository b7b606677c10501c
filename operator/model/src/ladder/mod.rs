//! A ladder of rates: which rungs it has, how long each lasts, when a climb ends, and what it shows of
//! the subject's capacity, the highest rate that meets a target. Pure; the probe climbs, and the
//! results read what it found.

use crate::rounding::round_number;
use crate::wire::document::Rung;
use crate::wire::open_loop::OpenLoopWindow;
use crate::wire::request::Target;

/// Rungs of a ladder that follows from a peak.
const RUNGS: u32 = 8;
/// Its lowest and its highest rate as multiples of the peak. A variant with a third of the baseline's
/// capacity is still on it, and so is the crossing of the baseline itself: on a schedule, the generator
/// needs more CPU time than at the peak, or less.
const ENDS: (f64, f64) = (0.3, 1.3);
/// By how much of a step the next block is shifted, modulo 1: multiples of the golden section fill
/// the step evenly, however many blocks there are.
const SHIFT: f64 = 0.618_033_988_749_895;
/// Requests that a p99 needs: ten beyond it.
const LEAST_REQUESTS: f64 = 1000.0;
/// The longest window of a rung, in seconds.
const LONGEST_SECONDS: u32 = 1200;
/// A climb ends when so many rungs in a row have missed the target: a single one may be chance.
const MISSED_IN_A_ROW: usize = 2;
/// The generator is late if 1 % of requests leave it later than this share of what they have to take,
/// or take. Up to that, what it sends in bursts moves the p99 by about as much, and the rate at which
/// it crosses the target by a few percent, because p99 is steep there.
const LATE: f64 = 0.2;

/// The rungs around a peak, in requests per second and in ascending order: each is the same multiple of
/// the one before.
pub fn around(peak_rps: f64) -> Vec<f64> {
    let (lowest, highest) = ENDS;
    let steps = f64::from(RUNGS - 1);
    let rung = |index: u32| {
        let share = f64::from(index) / steps;
        peak_rps * lowest * libm::pow(highest / lowest, share)
    };
    (0..RUNGS).map(rung).collect()
}

/// The rungs of a block, counted from 1: `rates` in ascending order, all shifted by the same part of
/// the distance to the next rung, at most half of it up or down. Between two rungs, the crossing is
/// interpolated, and the error depends on where it lies: with the same rungs in every block it would be
/// the same in all of them, and no interval would contain it. The first block is not shifted.
pub fn in_block(rates: &[f64], block: u32) -> Vec<f64> {
    let turns = 0.5 + f64::from(block.saturating_sub(1)) * SHIFT;
    let part = turns - libm::floor(turns) - 0.5;
    let shifted = |index: usize| {
        // Towards the next rung up, or down; the outermost go as far as they are from the other one.
        let next = if part < 0.0 {
            index.max(1)
        } else {
            (index + 1).min(rates.len() - 1)
        };
        let step = match (next.checked_sub(1), rates.get(next)) {
            (Some(last), Some(next)) => next / rates[last],
            (None, _) | (_, None) => 1.0,
        };
        round_number(rates[index] * libm::pow(step, part))
    };
    (0..rates.len()).map(shifted).collect()
}

/// Seconds of a rung's window: `least`, or as many as a p99 needs, over so many connections. Depends
/// on nothing else, because above capacity the p99 grows with the window.
pub fn seconds(rps: f64, connections: u32, least: u32) -> u32 {
    // Each connection sends the same number, so that almost one request for each may be left out.
    let requests = LEAST_REQUESTS + f64::from(connections);
    let needed = libm::ceil(requests / rps).clamp(1.0, f64::from(LONGEST_SECONDS));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 1 to 1200"
    )]
    let needed = needed as u32;
    least.max(needed)
}

/// What a rung shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The rate meets the target.
    Met,
    /// It does not: the rate is above capacity.
    Missed,
    /// Nothing, because the load generator itself was late.
    Invalid,
}

/// What each rung shows, in the order of the climb.
pub fn outcomes(rungs: &[Rung], target: Target) -> Vec<Outcome> {
    let mut found: Vec<Outcome> = vec![];
    for rung in rungs {
        let outcome = match rung.open_loop() {
            Some(window) if is_late(window, target) => Outcome::Invalid,
            Some(window) if p99(window, target) <= target.p99_microseconds => Outcome::Met,
            // It has no log, and a generator that was late one rung below is so here.
            None if found.last() == Some(&Outcome::Invalid) => Outcome::Invalid,
            Some(_) | None => Outcome::Missed,
        };
        found.push(outcome);
    }
    found
}

/// Whether nothing is left to climb for.
pub fn is_over(outcomes: &[Outcome]) -> bool {
    let shown = outcomes.iter().rev();
    let shown = shown.filter(|outcome| **outcome != Outcome::Invalid);
    let last = shown.take(MISSED_IN_A_ROW);
    last.filter(|outcome| **outcome == Outcome::Missed).count() == MISSED_IN_A_ROW
}

/// Whether the generator's own delay may have decided the rung.
fn is_late(window: &OpenLoopWindow, target: Target) -> bool {
    let takes = window.from_schedule.p99_microseconds;
    window.generator_delay.p99_microseconds > LATE * target.p99_microseconds.max(takes)
}

/// The p99 in microseconds; endless where more requests failed than may.
fn p99(window: &OpenLoopWindow, target: Target) -> f64 {
    if window.failed as f64 > target.max_error_share * window.requests as f64 {
        return f64::INFINITY;
    }
    window.from_schedule.p99_microseconds
}

/// The capacity that one climb shows, in requests per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Capacity {
    /// The target is crossed here.
    Crossed(f64),
    /// Even this rung, the first one, missed the target.
    Below(f64),
    /// Even this rung, the last one, met the target.
    AtLeast(f64),
}

impl Capacity {
    /// The least and the most that it may be.
    pub const fn ends(self) -> [f64; 2] {
        match self {
            Self::Crossed(rps) => [rps, rps],
            Self::Below(rps) => [0.0, rps],
            Self::AtLeast(rps) => [rps, f64::INFINITY],
        }
    }

    /// The capacity, if the climb crossed the target.
    pub const fn crossed(self) -> Option<f64> {
        match self {
            Self::Crossed(rps) => Some(rps),
            Self::Below(_) | Self::AtLeast(_) => None,
        }
    }
}

/// What the rungs of a climb show of the capacity; `None` without a rung that shows anything.
///
/// A rung counts with the smallest p99 of its own and of all rungs above it. Latency does not fall with
/// the rate, and what disturbs a window makes it longer: a rung that is slower than one above it was
/// disturbed. Between the last rung that meets the target and the next, the logarithm of p99 is taken as
/// linear in the rate. If the latter has no p99, the capacity is the rate of the former.
pub fn capacity(rungs: &[Rung], target: Target) -> Option<Capacity> {
    let outcomes = outcomes(rungs, target);
    let shown = rungs.iter().zip(outcomes);
    let mut rungs: Vec<(f64, f64)> = shown
        .filter(|(_, outcome)| *outcome != Outcome::Invalid)
        .map(|(rung, _)| {
            let p99 = rung.open_loop().map(|window| p99(window, target));
            (rung.requested_rps, p99.unwrap_or(f64::INFINITY))
        })
        .collect();
    let mut smallest = f64::INFINITY;
    for (_, p99) in rungs.iter_mut().rev() {
        smallest = smallest.min(*p99);
        *p99 = smallest;
    }
    let met = rungs.partition_point(|(_, p99)| *p99 <= target.p99_microseconds);
    let (below, above) = (met.checked_sub(1).map(|last| rungs[last]), rungs.get(met));
    Some(match (below, above) {
        (Some(below), Some(above)) => {
            Capacity::Crossed(crossing(below, *above, target.p99_microseconds))
        }
        (Some((rps, _)), None) => Capacity::AtLeast(rps),
        (None, Some((rps, _))) => Capacity::Below(*rps),
        (None, None) => return None,
    })
}

/// The rate between two rungs, each with its p99, at which p99 reaches `target`.
fn crossing(below: (f64, f64), above: (f64, f64), target: f64) -> f64 {
    // No answer takes less than a microsecond.
    let [from, to, at] = [below.1, above.1, target].map(|time| libm::log(time.max(1.0)));
    let share = (at - from) / (to - from);
    below.0 + (above.0 - below.0) * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
