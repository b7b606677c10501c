//! When did it change? The history of one measure in, its change points out.
//!
//! After each run the history is divided at every place into runs before and runs after, and each
//! division is tested: by ranks ([`ranks`]) and by sizes ([`sizes`]). Where the least p-value is
//! low enough there is a change, and the history begins anew at the first run after it. That is the
//! change-point model of Hawkins, Qiu and Kang (2003), with ranks as in Hawkins and Deng (2010).
//! Pure and without chance: a history is replayed from its first run, so that what was found after
//! some run is found again, at the same place, whatever comes later.
//!
//! Why not E-divisive, and what is promised: docs/methodology/change-points.md.

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

/// Most runs on either side that are compared: what was long ago says little of now, and costs time
/// at each look.
const WINDOW: usize = 30;

/// A division with a p-value of at most this is a change, where one series is watched. A schedule
/// that stays as it is has 0.6 to 0.8 alarms in 100 runs, under normal noise, heavy tails and
/// outliers (`report/tests/all/change_simulation.rs`): the p-value is the least of up to 28
/// divisions, and there are 100 looks.
const ALARM: f64 = 0.002;

/// A lasting change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first run after it: [`Observed::run`].
    pub first: u64,
    /// The run with which it was found.
    pub found_with: u64,
    /// Natural logarithm of the ratio of what was after it to what was before, by all runs up to
    /// the next change or [`WINDOW`].
    pub size: f64,
    /// Lower end of the 95 % interval of `size`.
    pub low: f64,
    /// Upper end of the same.
    pub high: f64,
    /// The least of both tests when it was found, of this division alone.
    pub p_value: f64,
}

/// The changes in `history`, which is in order of time. `series` is how many such histories the
/// schedule has: the false alarms of all of them together are promised to be few. What no ratio can
/// be is left out.
pub fn changes(history: &[Observed<'_>], series: usize) -> Vec<Change> {
    let runs = runs(history);
    let alarms = alarms(&runs, ALARM / series.max(1) as f64);
    let starts = std::iter::once(0).chain(alarms.iter().map(|alarm| alarm.at));
    let ends = alarms.iter().skip(1).map(|alarm| alarm.at);
    let ends = ends.chain(std::iter::once(runs.len()));
    let segments = alarms.iter().zip(starts.zip(ends));
    segments
        .filter_map(|(alarm, (start, end))| change(&runs, alarm, start, end))
        .collect()
}

/// The change that the last run of `history` shows, where it shows one; `history` begins with the
/// first run after the change before. Asked after each run, it finds what [`changes`] finds.
pub fn latest(history: &[Observed<'_>], series: usize) -> Option<Change> {
    let runs = runs(history);
    let alarm = look(&runs, 0, ALARM / series.max(1) as f64)?;
    change(&runs, &alarm, 0, runs.len())
}

/// The size of a change and its interval, from all runs since the change before; `first` is the
/// first run after it.
pub fn size_of(history: &[Observed<'_>], first: u64) -> Option<(f64, (f64, f64))> {
    let runs = runs(history);
    let at = runs.iter().position(|run| run.run >= first)?;
    let lasting = &runs[at..runs.len().min(at + WINDOW)];
    Some(Split::of(before(&runs, 0, at), lasting)?.size())
}

/// A change as it was found.
struct Alarm {
    /// Where the first run after it is in the history.
    at: usize,
    /// Where the run is with which it was found.
    found: usize,
    p_value: f64,
}

fn alarms(runs: &[Entry], level: f64) -> Vec<Alarm> {
    let (mut alarms, mut start) = (vec![], 0);
    for seen in 1..=runs.len() {
        if let Some(alarm) = look(&runs[..seen], start, level) {
            start = alarm.at;
            alarms.push(alarm);
        }
    }
    alarms
}

/// The most certain division of what was seen so far; runs before `start` belong to what was before
/// an earlier change.
fn look(runs: &[Entry], start: usize, level: f64) -> Option<Alarm> {
    let last = runs.len().checked_sub(FEWEST_AFTER)?;
    let first = (start + FEWEST_BEFORE).max(runs.len().saturating_sub(WINDOW));
    let divided = (first..=last).filter_map(|at| {
        let p_value = Split::of(before(runs, start, at), &runs[at..])?.p_value();
        let found = runs.len() - 1;
        Some(Alarm { at, found, p_value })
    });
    let certain = divided.filter(|alarm| alarm.p_value <= level);
    certain.min_by(|one, other| one.p_value.total_cmp(&other.p_value))
}

fn before(runs: &[Entry], start: usize, at: usize) -> &[Entry] {
    &runs[start.max(at.saturating_sub(WINDOW))..at]
}

/// The change of `alarm`, which is between the changes at `start` and `end`.
fn change(runs: &[Entry], alarm: &Alarm, start: usize, end: usize) -> Option<Change> {
    let before = before(runs, start, alarm.at);
    let lasting = &runs[alarm.at..end.min(alarm.at + WINDOW)];
    // The next change may lie among the runs that this one was found with, and leave too few of a
    // common stratum.
    let split =
        Split::of(before, lasting).or_else(|| Split::of(before, &runs[alarm.at..=alarm.found]))?;
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
