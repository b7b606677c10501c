//! The gate: what a run's author expects of its ratios, decided from the ends of their intervals and
//! never from the estimate, which is as likely above the truth as below.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::RatioExpectation;

use super::coldstart::{self, ColdRatio, ColdStartCell};
use super::compare::{Comparison, Metric};
use super::statistics::Spread;
use super::units;

/// What became of an expectation.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
pub enum Outcome {
    /// The whole interval lies beyond a bound.
    NotMet,
    /// A bound lies inside the interval, or there is none.
    Undecided,
    /// The whole interval lies within the bounds.
    Met,
}

impl Outcome {
    /// The outcome in a sentence or a table.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotMet => "NOT MET",
            Self::Undecided => "undecided",
            Self::Met => "met",
        }
    }
}

/// An expectation and what became of it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Name of the expectation.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What was expected, and what was found.
    pub message: String,
}

/// What became of all of a run's expectations, in the order of the spec.
pub fn decisions(
    spec: &BenchmarkRunSpec,
    comparisons: &[Comparison],
    cold_starts: &[ColdStartCell],
) -> Vec<Decision> {
    let open = spec.sweeps.open_loop.as_ref();
    let highest = open.and_then(|sweep| sweep.percents().last().copied());
    spec.expectations
        .iter()
        .map(|expectation| decision(highest, expectation, comparisons, cold_starts))
        .collect()
}

/// The worst of the outcomes; `None` when nothing was expected.
pub fn overall(decisions: &[Decision]) -> Option<Outcome> {
    decisions.iter().map(|decision| decision.outcome).min()
}

/// A ratio and its interval, which one block does not have.
#[derive(Clone, Copy)]
struct Found {
    ratio: f64,
    interval: Option<(f64, f64)>,
}

impl From<&Comparison> for Found {
    fn from(comparison: &Comparison) -> Self {
        Self {
            ratio: comparison.ratio,
            interval: comparison.low.zip(comparison.high),
        }
    }
}

impl From<&ColdRatio> for Found {
    fn from(cold: &ColdRatio) -> Self {
        let Spread { median, low, high } = cold.ratio;
        Self {
            ratio: median,
            interval: (cold.per_block.len() > 1).then_some((low, high)),
        }
    }
}

/// `highest` is the highest rate of the open-loop sweep, in percent of the peak: of several rates it
/// counts, even when it is void. Other metrics are compared at one point.
fn decision(
    highest: Option<u32>,
    expectation: &RatioExpectation,
    comparisons: &[Comparison],
    cold_starts: &[ColdStartCell],
) -> Decision {
    let RatioExpectation {
        name,
        variant,
        workload,
        ..
    } = expectation;
    let metric = Metric::from(expectation.metric);
    let loaded = comparisons.iter().find(|c| {
        let at_point = c.percent_of_peak.is_none() || c.percent_of_peak == highest;
        c.metric == metric && c.variant == *variant && c.workload == *workload && at_point
    });
    let cold = || coldstart::expected(cold_starts, metric, variant, workload).map(Found::from);
    let found = loaded.map(Found::from).or_else(cold);
    let outcome = found.map_or(Outcome::Undecided, |found| outcome(expectation, found));
    let seen = found.map_or_else(|| "it was not compared".to_owned(), seen);
    Decision {
        name: name.clone(),
        outcome,
        message: format!(
            "{} of {variant} on {workload} must be {}: {seen}",
            metric.at(loaded.and_then(|comparison| comparison.percent_of_peak)),
            bounds(expectation)
        ),
    }
}

fn outcome(expectation: &RatioExpectation, found: Found) -> Outcome {
    let Some((low, high)) = found.interval else {
        return Outcome::Undecided;
    };
    // A bound that is no number decides nothing; validate refuses it.
    let bound = |text: &Option<String>| text.as_ref().map(|text| text.parse().unwrap_or(f64::NAN));
    let (least, most) = (bound(&expectation.at_least), bound(&expectation.at_most));
    let is_beyond =
        least.is_some_and(|least: f64| high < least) || most.is_some_and(|most: f64| low > most);
    let is_within = least.is_none_or(|least| low >= least) && most.is_none_or(|most| high <= most);
    match (is_beyond, is_within) {
        (true, _) => Outcome::NotMet,
        (false, true) => Outcome::Met,
        (false, false) => Outcome::Undecided,
    }
}

fn bounds(expectation: &RatioExpectation) -> String {
    let least = expectation.at_least.as_ref();
    let most = expectation.at_most.as_ref();
    let bounds = [
        least.map(|bound| format!("at least {bound}x")),
        most.map(|bound| format!("at most {bound}x")),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    format!("{} the baseline's", bounds.join(" and "))
}

fn seen(found: Found) -> String {
    let ratio = units::ratio(found.ratio);
    match found.interval {
        None => format!("{ratio} in one block, which has no interval"),
        Some((low, high)) => {
            let (low, high) = (units::ratio_number(low), units::ratio_number(high));
            format!("it is {ratio} ({low}-{high})")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::judge::Verdict;
    use super::super::summary::Sweep;
    use super::*;

    fn outcome_of(bounds: &serde_json::Value, interval: Option<(f64, f64)>) -> Outcome {
        let mut expectation = json!({
            "name": "gate", "metric": "memory", "variant": "one", "workload": "hello",
        });
        for (field, value) in bounds.as_object().unwrap() {
            expectation[field] = value.clone();
        }
        let expectation = serde_json::from_value(expectation).unwrap();
        decision(None, &expectation, &[found(interval)], &[]).outcome
    }

    fn found(interval: Option<(f64, f64)>) -> Comparison {
        Comparison {
            variant: "one".into(),
            workload: "hello".into(),
            metric: Metric::Memory,
            sweep: Sweep::WarmLatency,
            connections: 1,
            percent_of_peak: None,
            ratio: 1.0,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            p_value: 1.0,
            adjusted_p_value: 1.0,
            noise_floor: None,
            verdict: Verdict::Inconclusive,
            blocks: 5,
            per_block: vec![],
        }
    }

    #[test]
    fn the_end_of_the_interval_decides_and_not_the_estimate() {
        let least = json!({"atLeast": "0.8"});
        assert_eq!(outcome_of(&least, Some((0.81, 0.9))), Outcome::Met);
        assert_eq!(outcome_of(&least, Some((0.79, 1.2))), Outcome::Undecided);
        assert_eq!(outcome_of(&least, Some((0.7, 0.79))), Outcome::NotMet);
    }

    #[test]
    fn both_bounds_must_hold() {
        let both = json!({"atLeast": "0.8", "atMost": "1.2"});
        assert_eq!(outcome_of(&both, Some((0.8, 1.2))), Outcome::Met);
        assert_eq!(outcome_of(&both, Some((0.9, 1.3))), Outcome::Undecided);
        assert_eq!(outcome_of(&both, Some((1.3, 1.4))), Outcome::NotMet);
    }

    #[test]
    fn without_an_interval_or_a_comparison_nothing_is_decided() {
        assert_eq!(
            outcome_of(&json!({"atMost": "9"}), None),
            Outcome::Undecided
        );
        let other = json!({"atMost": "9", "variant": "other"});
        assert_eq!(outcome_of(&other, Some((1.0, 1.0))), Outcome::Undecided);
    }

    #[test]
    fn of_several_rates_the_highest_decides_even_when_it_is_void() {
        let expectation = json!({
            "name": "tail", "metric": "openLoopP99", "variant": "one", "workload": "hello",
            "atMost": "1.2",
        });
        let expectation = serde_json::from_value(expectation).unwrap();
        let at = |percent, ends| Comparison {
            metric: Metric::OpenLoopP99,
            sweep: Sweep::OpenLoop,
            percent_of_peak: Some(percent),
            ..found(Some(ends))
        };
        let both = [at(50, (1.0, 1.1)), at(90, (1.5, 1.6))];
        let of = |comparisons| decision(Some(90), &expectation, comparisons, &[]);
        assert_eq!(of(&both).outcome, Outcome::NotMet);
        assert!(of(&both).message.contains("at 90 % of the peak"));
        assert_eq!(of(&both[..1]).outcome, Outcome::Undecided);
    }

    #[test]
    fn one_expectation_that_is_not_met_decides_for_all() {
        let decision = |outcome| Decision {
            name: String::new(),
            outcome,
            message: String::new(),
        };
        let all = [Outcome::Met, Outcome::NotMet, Outcome::Undecided].map(decision);
        assert_eq!(overall(&all), Some(Outcome::NotMet));
        assert_eq!(overall(&[]), None);
    }
}
