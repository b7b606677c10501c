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
/// Requests that a p99 needs: ten beyond it.
const LEAST_REQUESTS: f64 = 1000.0;
/// The longest window of a rung, in seconds.
const LONGEST_SECONDS: u32 = 1200;
/// A climb ends when so many rungs in a row have missed the target: a single one may be chance.
const MISSED_IN_A_ROW: usize = 2;
/// How many rates are tried between the two rungs next to the crossing, each in the middle of what is left: of
/// 23 % remain 1.3 %.
pub const BETWEEN: u32 = 4;
/// Rungs this close to each other need none between them.
const CLOSE: f64 = 1.012;
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
/// Between the last rung that meets the target and the next, the logarithm of p99 is taken as linear in
/// the rate.
pub fn capacity(rungs: &[Rung], target: Target) -> Option<Capacity> {
    match ends(rungs, target) {
        [Some(below), Some(above)] => {
            let rps = crossing(below, above, target.p99_microseconds);
            Some(Capacity::Crossed(rps))
        }
        [Some((rps, _)), None] => Some(Capacity::AtLeast(rps)),
        [None, Some((rps, _))] => Some(Capacity::Below(rps)),
        [None, None] => None,
    }
}

/// The rate to try next, after the climb, between the two rungs next to the crossing; `None` if they are
/// close, or if there is no crossing. Curves of different shapes cross the target at different places
/// between two rungs, which no interpolation knows.
pub fn between(rungs: &[Rung], target: Target) -> Option<f64> {
    let [Some((below, _)), Some((above, _))] = ends(rungs, target) else {
        return None;
    };
    (above > CLOSE * below).then(|| round_number(libm::sqrt(below * above)))
}

/// The last rung that meets the target and the next one, each with its rate and p99.
///
/// A rung counts with the smallest p99 of its own and of all rungs above it. Latency does not fall with
/// the rate, and what disturbs a window makes it longer: a rung that is slower than one above it was
/// disturbed.
fn ends(rungs: &[Rung], target: Target) -> [Option<(f64, f64)>; 2] {
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
    let below = met.checked_sub(1).map(|last| rungs[last]);
    [below, rungs.get(met).copied()]
}

/// The rate between two rungs, each with its p99, at which p99 reaches `target`; their middle if the one
/// above has no p99.
fn crossing(below: (f64, f64), above: (f64, f64), target: f64) -> f64 {
    if above.1.is_infinite() {
        return libm::sqrt(below.0 * above.0);
    }
    // No answer takes less than a microsecond.
    let [from, to, at] = [below.1, above.1, target].map(|time| libm::log(time.max(1.0)));
    let share = (at - from) / (to - from);
    below.0 + (above.0 - below.0) * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
