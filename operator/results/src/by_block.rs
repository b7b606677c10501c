//! What sweeps that are no loads (cold starts, density) have in common: the measured trials of a cell by
//! block, how its trials ended, and ratios to the baseline on their way to a verdict.

use std::collections::BTreeMap;

use wasmbench_core::rounding::{P_DIGITS, SUMMARY_DIGITS, round_significant};
use wasmbench_core::wire::record::{Cell, TrialId};

use crate::counts::TrialCounts;
use crate::judge::{Thresholds, Verdict, judge};
use crate::measure::Metric;
use crate::observation::{Ended, Observation};
use crate::statistics::LogInterval;

/// The measured trials of a cell by block, as far as they have the `numbers` that are asked for.
pub fn measured<'a, T: 'a>(
    cell: &Cell,
    blocks: u32,
    observations: &'a BTreeMap<TrialId, Observation>,
    numbers: fn(&Observation) -> Option<&T>,
) -> impl Iterator<Item = (u32, &'a T)> {
    let trial = move |block| {
        let cell = cell.clone();
        let seen = observations.get(&TrialId { cell, block })?;
        Some((block, numbers(seen).filter(|_| seen.is_measured())?))
    };
    (1..=blocks).filter_map(trial)
}

/// How the trials of a cell ended. Those that were measured and are not among the `valid` are invalid.
pub fn counts<T>(
    cell: &Cell,
    blocks: u32,
    observations: &BTreeMap<TrialId, Observation>,
    valid: &BTreeMap<u32, T>,
) -> TrialCounts {
    let mut counts = TrialCounts {
        planned: blocks,
        valid: u32::try_from(valid.len()).unwrap_or(u32::MAX),
        missing: blocks,
        ..TrialCounts::default()
    };
    for block in 1..=blocks {
        let cell = cell.clone();
        let Some(seen) = observations.get(&TrialId { cell, block }) else {
            continue;
        };
        counts.missing -= 1;
        match &seen.ended {
            Ended::Measured => counts.invalid += u32::from(!valid.contains_key(&block)),
            Ended::Failed { .. } => counts.failed += 1,
            Ended::Skipped { .. } => counts.skipped += 1,
        }
    }
    counts
}

/// A ratio to the baseline that has no verdict yet.
#[derive(Clone, Debug)]
pub struct Unjudged {
    /// Index of the variant's cell.
    pub cell: usize,
    /// Whether the variant is the baseline's twin, which is never judged.
    pub is_twin: bool,
    /// What is compared.
    pub metric: Metric,
    /// The ratio of each block.
    pub ratios: Vec<f64>,
    /// What they come to.
    pub interval: LogInterval,
}

/// A ratio with its verdict, if it gets one, in the digits of a summary.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Index of the variant's cell.
    pub cell: usize,
    /// What is compared.
    pub metric: Metric,
    /// The ratio.
    pub ratio: f64,
    /// The ends of its 95 % interval; absent with one block.
    pub ends: Option<(f64, f64)>,
    /// What it comes to; absent for the twin.
    pub verdict: Option<Verdict>,
    /// The chance of a ratio at least this far from 1 between equals; absent for the twin.
    pub p_value: Option<f64>,
    /// The same, adjusted among all comparisons of the run.
    pub adjusted_p_value: Option<f64>,
    /// The factor above 1 that the twin may differ by; absent without a twin.
    pub noise_floor: Option<f64>,
    /// The ratio of each block.
    pub per_block: Vec<f64>,
}

/// The p-values of what gets a verdict: all but the twin's.
pub fn p_values(found: &[Unjudged]) -> Vec<f64> {
    let competitors = found.iter().filter(|one| !one.is_twin);
    competitors.map(|one| one.interval.p_value).collect()
}

/// All that was `found` with its verdicts. `adjusted` are the [`p_values`], adjusted among all of the run,
/// `minimum_effect` is a logarithm, and `same_point` tells whether two cells differ in their variant only.
pub fn judged(
    found: &[Unjudged],
    adjusted: &[f64],
    minimum_effect: f64,
    same_point: impl Fn(usize, usize) -> bool,
) -> Vec<Judged> {
    let mut adjusted = adjusted.iter();
    let one = |one: &Unjudged| {
        let is_floor = |twin: &&Unjudged| {
            twin.is_twin && twin.metric == one.metric && same_point(twin.cell, one.cell)
        };
        let floor = found.iter().find(is_floor);
        let thresholds = Thresholds {
            minimum_effect,
            noise_floor: floor.and_then(|twin| twin.interval.farthest()),
        };
        let adjusted = if one.is_twin {
            None
        } else {
            adjusted.next().copied()
        };
        one.judged(adjusted, thresholds)
    };
    found.iter().map(one).collect()
}

impl Unjudged {
    fn judged(&self, adjusted_p: Option<f64>, thresholds: Thresholds) -> Judged {
        let interval = &self.interval;
        let ratio = |log: f64| round(libm::exp(log));
        Judged {
            cell: self.cell,
            metric: self.metric,
            ratio: ratio(interval.estimate),
            ends: interval.low().map(ratio).zip(interval.high().map(ratio)),
            verdict: adjusted_p.map(|adjusted| judge(self.metric, interval, adjusted, thresholds)),
            p_value: adjusted_p.map(|_| round_significant(interval.p_value, P_DIGITS)),
            adjusted_p_value: adjusted_p.map(|adjusted| round_significant(adjusted, P_DIGITS)),
            noise_floor: thresholds.noise_floor.map(ratio),
            per_block: self.ratios.iter().copied().map(round).collect(),
        }
    }
}

/// A number as a summary has it.
pub fn round(value: f64) -> f64 {
    round_significant(value, SUMMARY_DIGITS)
}
