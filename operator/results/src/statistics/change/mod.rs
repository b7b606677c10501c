//! When did a measure change? Its history in, its change points out.
//!
//! After each run the history is divided at every place into runs before and runs after, and each
//! division is tested: by ranks ([`ranks`]) and by sizes ([`sizes`]). If the least p-value is low
//! enough there is a change, and the history restarts at the first run after it. This is the
//! change-point model of Hawkins, Qiu and Kang (2003), with ranks as in Hawkins and Deng (2010).
//! Pure and deterministic: a history is replayed from its first run, so that a change found after
//! some run is found again at the same place, whatever comes later.
//!
//! E-divisive (Matteson and James, 2014; Fleming et al., *Hunter*, 2023) tests one history once: how often it
//! is wrong over many looks would have to be found for each kind of noise. What is promised instead:
//! docs/methodology/change-points.md.

mod entry;
mod group;
mod interval;
mod ranks;
mod sizes;
mod split;
#[cfg(test)]
mod tests;

pub use entry::Observed;
pub use split::{FEWEST_AFTER, FEWEST_BEFORE};

use entry::{Entry, runs};
use split::Split;

/// The most runs that are compared on either side: old runs say little about the present, and cost
/// time at each look.
const WINDOW: usize = 30;

/// The largest p-value at which a division is a change, if one series is watched. A schedule in
/// which nothing changes has 0.6 to 0.8 alarms in 100 runs, under normal noise, heavy tails and
/// outliers (`report/tests/all/change_simulation.rs`): the p-value is the least of up to 28
/// divisions, and there are 100 looks.
const ALARM: f64 = 0.002;

/// A lasting change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first run after the change: [`Observed::run`].
    pub first: u64,
    /// The run with which the change was found.
    pub found_with: u64,
    /// The level after the change minus the level before, on the scale of the numbers, from all runs
    /// up to the next change, at most [`WINDOW`].
    pub size: f64,
    /// Lower end of the 95 % interval of `size`.
    pub low: f64,
    /// Upper end of the 95 % interval of `size`.
    pub high: f64,
    /// The smaller p-value of both tests when the change was found, for only this division.
    pub p_value: f64,
}

/// The changes in `history`, which is in chronological order. `series` is the number of such
/// histories that the schedule has: few false alarms are promised for all of them together.
/// Impossible numbers are left out.
pub fn changes(history: &[Observed<'_>], series: usize) -> Vec<Change> {
    let runs = runs(history);
    let alarms = alarms(&runs, ALARM / series.max(1) as f64);
    let starts = std::iter::once(0).chain(alarms.iter().map(|alarm| alarm.at));
    let ends = alarms
        .iter()
        .skip(1)
        .map(|alarm| alarm.at)
        .chain(std::iter::once(runs.len()));
    let segments = alarms.iter().zip(starts.zip(ends));
    segments
        .filter_map(|(alarm, (start, end))| change(&runs, alarm, start, end))
        .collect()
}

/// The change that the last run of `history` reveals, if any; `history` begins with the first run
/// after the previous change. Called after each run, this finds what [`changes`] finds.
pub fn latest(history: &[Observed<'_>], series: usize) -> Option<Change> {
    let runs = runs(history);
    let alarm = look(&runs, 0, ALARM / series.max(1) as f64)?;
    change(&runs, &alarm, 0, runs.len())
}

/// The size of a change and its interval. `history` begins with the first run after the previous
/// change; `first` is the first run after the change in question.
pub fn size_of(history: &[Observed<'_>], first: u64) -> Option<(f64, (f64, f64))> {
    let runs = runs(history);
    let at = runs.iter().position(|run| run.run >= first)?;
    let lasting = &runs[at..runs.len().min(at + WINDOW)];
    Some(Split::new(before(&runs, 0, at), lasting)?.size())
}

/// A change when it was found.
struct Alarm {
    /// Index of the first run after the change.
    at: usize,
    /// Index of the run with which the change was found.
    found: usize,
    p_value: f64,
}

fn alarms(runs: &[Entry], level: f64) -> Vec<Alarm> {
    let (mut alarms, mut start) = (vec![], 0);
    for count in 1..=runs.len() {
        if let Some(alarm) = look(&runs[..count], start, level) {
            start = alarm.at;
            alarms.push(alarm);
        }
    }
    alarms
}

/// The most certain division of the runs so far; runs before `start` precede an earlier change.
fn look(runs: &[Entry], start: usize, level: f64) -> Option<Alarm> {
    let last = runs.len().checked_sub(FEWEST_AFTER)?;
    let first = (start + FEWEST_BEFORE).max(runs.len().saturating_sub(WINDOW));
    let divided = (first..=last).filter_map(|at| {
        let p_value = Split::new(before(runs, start, at), &runs[at..])?.p_value();
        let found = runs.len() - 1;
        Some(Alarm { at, found, p_value })
    });
    let certain = divided.filter(|alarm| alarm.p_value <= level);
    certain.min_by(|one, other| one.p_value.total_cmp(&other.p_value))
}

fn before(runs: &[Entry], start: usize, at: usize) -> &[Entry] {
    &runs[start.max(at.saturating_sub(WINDOW))..at]
}

/// The change of `alarm`, which lies between the changes at `start` and `end`.
fn change(runs: &[Entry], alarm: &Alarm, start: usize, end: usize) -> Option<Change> {
    let before = before(runs, start, alarm.at);
    let lasting = &runs[alarm.at..end.min(alarm.at + WINDOW)];
    // The next change may lie among the runs with which this one was found, and leave too few runs
    // of a common stratum.
    let split = Split::new(before, lasting)
        .or_else(|| Split::new(before, &runs[alarm.at..=alarm.found]))?;
    let (size, (low, high)) = split.size();
    Some(Change {
        first: runs[alarm.at].run,
        found_with: runs[alarm.found].run,
        size,
        low,
        high,
        p_value: alarm.p_value,
    })
}
