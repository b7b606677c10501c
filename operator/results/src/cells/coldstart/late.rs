//! Starts that were not up in time. How long they would have taken is unknown, except that it is
//! longer than the limit, and thus than every start that was in time.

use serde::{Deserialize, Serialize};
use wasmbench_model::rounding::round_number;
use wasmbench_model::units::truncate;
use wasmbench_model::wire::cold_start::ColdStep;

use crate::read::cold_trial::ColdTrial;

/// The most characters of what was seen of a late pod.
const MAX_SEEN_CHARS: usize = 300;

/// Pods that gave no correct answer in time, and how long the others took.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LateStarts {
    /// How many pods.
    pub starts: u32,
    /// Samples with at least one of them.
    pub samples: u32,
    /// Seconds that each pod had.
    pub limit_seconds: u32,
    /// What was seen of the first of them.
    pub last_seen: Option<String>,
    /// From the request that creates a pod to its first correct answer, over the pods that gave one.
    pub in_time: Option<InTime>,
}

/// How the times of pods are distributed, in microseconds.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct InTime {
    /// The shortest.
    pub min: f64,
    /// A quarter of them are at most as long as this.
    pub p25: f64,
    /// Half of them are.
    pub p50: f64,
    /// Three quarters of them are.
    pub p75: f64,
    /// Nine of ten are.
    pub p90: f64,
    /// The longest.
    pub max: f64,
}

/// The late pods of `trials`, in which each had `limit_seconds`; `None` if all were in time.
pub fn starts<'a>(
    trials: impl Iterator<Item = &'a ColdTrial> + Clone,
    limit_seconds: u32,
) -> Option<LateStarts> {
    const ANSWER: ColdStep = ColdStep::FirstCorrectAnswer;
    let starts: usize = trials
        .clone()
        .map(|trial| trial.given_up_before(ANSWER))
        .sum();
    if starts == 0 {
        return None;
    }
    let mut answers: Vec<f64> = trials
        .clone()
        .filter_map(|trial| trial.steps.get(&ANSWER))
        .flatten()
        .copied()
        .collect();
    answers.sort_by(f64::total_cmp);
    let mut observed = trials
        .clone()
        .filter_map(|trial| trial.late_because.as_deref());
    Some(LateStarts {
        starts: u32::try_from(starts).unwrap_or(u32::MAX),
        samples: trials.map(|trial| trial.late_samples).sum(),
        limit_seconds,
        last_seen: observed
            .next()
            .map(|observed| truncate(observed, MAX_SEEN_CHARS)),
        in_time: InTime::from_sorted(&answers),
    })
}

impl LateStarts {
    /// `1 of 20 starts took longer than 30 s`, of `pods`.
    pub fn message(&self, pods: u32) -> String {
        let Self {
            starts,
            limit_seconds,
            ..
        } = self;
        format!("{starts} of {pods} starts took longer than {limit_seconds} s")
    }
}

impl InTime {
    fn from_sorted(sorted: &[f64]) -> Option<Self> {
        let at = |percent| percentile(sorted, sorted.len(), percent).map(round_number);
        Some(Self {
            min: round_number(*sorted.first()?),
            p25: at(25)?,
            p50: at(50)?,
            p75: at(75)?,
            p90: at(90)?,
            max: round_number(*sorted.last()?),
        })
    }
}

/// The smallest of `count` times that `percent` of them do not exceed; `None` if it is not among
/// the smallest ones, which are `sorted`.
pub fn percentile(sorted: &[f64], count: usize, percent: usize) -> Option<f64> {
    let place = (count * percent).div_ceil(100).checked_sub(1)?;
    sorted.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&values, 20, 90), Some(18.0));
        assert_eq!(percentile(&[7.0], 1, 90), Some(7.0));
        assert_eq!(percentile(&[], 0, 90), None);
    }

    #[test]
    fn a_percentile_among_requests_that_were_given_up_is_unknown() {
        let values: Vec<f64> = (1..=18).map(f64::from).collect();
        assert_eq!(percentile(&values, 20, 90), Some(18.0));
        assert_eq!(percentile(&values, 21, 90), None);
        assert_eq!(percentile(&values, 21, 50), Some(11.0));
    }
}
