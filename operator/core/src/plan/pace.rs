//! How long a run will still take, and why it takes longer than planned: estimates for people.
//!
//! Only the measurement shows what the spec does not: windows repeated because the node was noisy or the
//! histogram too coarse, warm-ups extended until the rate settles, image pulls, services slower than the
//! estimate of a trial assumes. So a trial takes as long as those of its cell did, and where there are none,
//! longer than estimated by as much as all trials so far.

use std::collections::BTreeMap;

use wasmbench_model::pace::Noted;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::{Cell, TrialId};

use crate::observed::Observed;
use crate::plan::estimate::expected_trial_seconds;
use crate::validate::ValidatedRun;

/// The pace of all trials starts from this many seconds taken as expected: a single trial shows little
/// about the others.
const PRIOR_SECONDS: u64 = 30;
/// A trial counts for this many times its estimate at most: while a run is suspended, nothing takes
/// longer.
const MOST: u64 = 10;
/// A run is late by this share of what was expected, and by as many seconds: less is no news.
const LATE_SHARE: f64 = 0.25;
const LATE_SECONDS: u64 = 30;
/// A pod starts slowly if its load begins after so many seconds.
const SLOW_START_SECONDS: u64 = 5;

/// Seconds that a run will probably take until its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// For the trials without a record in the blocks that are planned so far.
    pub least: u64,
    /// The same, including all blocks that precision may add.
    pub most: u64,
}

/// The time left of a run.
pub fn remaining(run: &ValidatedRun, observed: &Observed) -> Remaining {
    let pace = Pace::new(&taken(run, observed));
    let seconds = |trials: &[TrialId]| -> u64 {
        let left = trials
            .iter()
            .filter(|trial| !observed.records.contains_key(trial));
        left.map(|trial| pace.seconds(run, trial)).sum()
    };
    Remaining {
        least: seconds(run.planned(observed.blocks)),
        most: seconds(&run.order),
    }
}

/// Why a run takes longer than planned; `None` while it does not.
pub fn delay(run: &ValidatedRun, observed: &Observed) -> Option<String> {
    let taken = taken(run, observed);
    let (seconds, expected) = totals(&taken);
    let late = seconds.saturating_sub(expected);
    if late < LATE_SECONDS || (late as f64) < LATE_SHARE * expected as f64 {
        return None;
    }
    let repeated = taken.iter().map(|one| one.noted.repeated_windows);
    let repeated = repeated.fold(0, u32::saturating_add);
    let extended = taken.iter().filter(|one| one.noted.added_parts > 0).count();
    let start = median(taken.iter().filter_map(Taken::start_seconds).collect());
    let reasons = [
        (repeated > 0).then(|| {
            format!(
                "{repeated} window(s) were measured again, because the node was noisy or the histogram too coarse"
            )
        }),
        (extended > 0).then(|| {
            format!("{extended} warm-up(s) were extended, because the rate still changed")
        }),
        start
            .filter(|seconds| *seconds > SLOW_START_SECONDS)
            .map(|seconds| format!("a pod takes about {seconds} s until its load begins")),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    let why = if reasons.is_empty() {
        "requests take longer than the plan assumes".to_owned()
    } else {
        reasons.join("; ")
    };
    let pace = seconds as f64 / expected as f64;
    Some(format!(
        "trials took {pace:.1} times as long as planned: {why}"
    ))
}

/// A recorded trial that was tried.
struct Taken<'a> {
    cell: &'a Cell,
    noted: Noted,
    /// Seconds since the record before.
    seconds: u64,
    /// Seconds that were expected.
    expected: u64,
}

impl Taken<'_> {
    /// Seconds until its load began.
    fn start_seconds(&self) -> Option<u64> {
        let load = u64::from(self.noted.load_seconds?);
        Some(self.seconds.saturating_sub(load))
    }
}

/// The trials that were tried, by the time of their records. The first record has none before it, and
/// skipped trials took no time.
fn taken<'a>(run: &ValidatedRun, observed: &'a Observed) -> Vec<Taken<'a>> {
    let mut noted: Vec<(&TrialId, &Noted)> = observed.noted.iter().collect();
    noted.sort_by_key(|(_, noted)| noted.recorded_at_seconds);
    let tried = |pair: &[(&'a TrialId, &Noted)]| {
        let [(_, before), (trial, noted)] = pair else {
            return None;
        };
        let ended = observed.records.get(*trial)?;
        let expected = expected_trial_seconds(run, trial);
        let before = before.recorded_at_seconds;
        let seconds = noted.recorded_at_seconds.checked_sub(before)?;
        let taken = Taken {
            cell: &trial.cell,
            noted: **noted,
            seconds: u64::try_from(seconds).ok()?.min(MOST * expected),
            expected,
        };
        matches!(ended, Ended::Measured | Ended::Failed(_)).then_some(taken)
    };
    noted.windows(2).filter_map(tried).collect()
}

fn totals(taken: &[Taken<'_>]) -> (u64, u64) {
    let seconds: u64 = taken.iter().map(|one| one.seconds).sum();
    (seconds, taken.iter().map(|one| one.expected).sum())
}

/// The lower median: of two trials the shorter one, so that a pause in one of them counts for nothing.
fn median(mut seconds: Vec<u64>) -> Option<u64> {
    seconds.sort_unstable();
    seconds.get(seconds.len().saturating_sub(1) / 2).copied()
}

/// How long trials take.
struct Pace<'a> {
    /// Seconds of a trial of these cells.
    cells: BTreeMap<&'a Cell, u64>,
    /// How much longer than estimated all trials took.
    factor: f64,
}

impl<'a> Pace<'a> {
    fn new(taken: &[Taken<'a>]) -> Self {
        let mut cells: BTreeMap<&Cell, Vec<u64>> = BTreeMap::new();
        for one in taken {
            cells.entry(one.cell).or_default().push(one.seconds);
        }
        let cells = cells.into_iter();
        let (seconds, expected) = totals(taken);
        Self {
            cells: cells
                .filter_map(|(cell, seconds)| Some((cell, median(seconds)?)))
                .collect(),
            factor: (seconds + PRIOR_SECONDS) as f64 / (expected + PRIOR_SECONDS) as f64,
        }
    }

    fn seconds(&self, run: &ValidatedRun, trial: &TrialId) -> u64 {
        let known = self.cells.get(&trial.cell).copied();
        known.unwrap_or_else(|| scaled(expected_trial_seconds(run, trial), self.factor))
    }
}

fn scaled(seconds: u64, factor: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and the cast saturates"
    )]
    let scaled = (seconds as f64 * factor).round() as u64;
    scaled
}
