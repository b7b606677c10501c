//! The gate: what a run's author expects of its ratios. Decided from the ends of their intervals
//! and never from the estimate, which is as likely to be above the truth as below. The intervals
//! hold for all of the run's expectations together: otherwise a gate of thirty bounds would fail by
//! chance in most runs.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::RatioExpectation;
use wasmbench_model::units;
use wasmbench_model::wire::record::Point;

use crate::judge::comparison::{Comparison, Estimate};
use crate::statistics::ratio::{fewest_freedom, simultaneous};
use crate::vocabulary::measure::Measured as _;
use crate::vocabulary::primary;

/// The outcome of an expectation.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
pub enum Fulfilment {
    /// The whole interval lies beyond a bound.
    NotMet,
    /// A bound lies inside the interval, or there is no interval.
    Undecided,
    /// The whole interval lies within the bounds.
    Met,
}

impl Fulfilment {
    /// The outcome in a sentence or a table.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotMet => "NOT MET",
            Self::Undecided => "undecided",
            Self::Met => "met",
        }
    }
}

/// An expectation and its outcome.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Name of the expectation.
    pub name: String,
    /// The outcome.
    pub outcome: Fulfilment,
    /// What was expected, and what was found.
    pub message: String,
}

/// The outcomes of all expectations of a run, in the order of the spec.
pub fn decisions(spec: &BenchmarkRunSpec, comparisons: &[Comparison]) -> Vec<Decision> {
    let among = spec.expectations.len();
    spec.expectations
        .iter()
        .map(|expectation| {
            // The expectation concerns this point even if nothing is compared there.
            let point = primary::most_telling(spec, expectation.metric);
            decision(point, among, expectation, comparisons)
        })
        .collect()
}

/// The worst outcome; `None` if nothing was expected.
pub fn overall(decisions: &[Decision]) -> Option<Fulfilment> {
    decisions.iter().map(|decision| decision.outcome).min()
}

/// A ratio and its interval, which is absent with one block.
#[derive(Clone, Copy)]
struct Found {
    ratio: f64,
    interval: Option<(f64, f64)>,
}

impl Found {
    /// Widens the interval so that it holds together with those of all `expectations`.
    fn among(estimate: &Estimate, expectations: usize) -> Self {
        let wider = |(low, high): (f64, f64)| {
            if expectations < 2 {
                return (low, high);
            }
            let own = libm::log(high / low) / 2.0;
            let blocks = fewest_freedom(estimate.blocks, estimate.pilot_blocks);
            let half = simultaneous(own, blocks, expectations);
            (
                estimate.ratio * libm::exp(-half),
                estimate.ratio * libm::exp(half),
            )
        };
        Self {
            ratio: estimate.ratio,
            interval: estimate.ends().map(wider),
        }
    }
}

/// `point` is the point that the expectation concerns if the measure is compared at several;
/// `among` is the number of expectations of the run.
fn decision(
    point: Option<Point>,
    among: usize,
    expectation: &RatioExpectation,
    comparisons: &[Comparison],
) -> Decision {
    let RatioExpectation {
        name,
        variant,
        workload,
        ..
    } = expectation;
    let metric = expectation.metric;
    let comparison = comparisons.iter().find(|c| {
        let at_point = point.is_none_or(|point| c.point == point);
        c.metric == metric && c.variant == *variant && c.workload == *workload && at_point
    });
    let what = comparison.map_or_else(|| metric.noun().to_owned(), Comparison::what);
    let found = comparison.map(|found| Found::among(&found.estimate, among));
    let outcome = found.map_or(Fulfilment::Undecided, |found| outcome(expectation, found));
    let not_compared = || "it was not compared".to_owned();
    let finding = found.map_or_else(not_compared, |found| finding(found, among));
    Decision {
        name: name.clone(),
        outcome,
        message: format!(
            "{what} of {variant} on {workload} must be {}: {finding}",
            bounds(expectation)
        ),
    }
}

fn outcome(expectation: &RatioExpectation, found: Found) -> Fulfilment {
    let Some((low, high)) = found.interval else {
        return Fulfilment::Undecided;
    };
    let (least, most) = limits(expectation);
    let is_beyond = least.is_some_and(|least| high < least) || most.is_some_and(|most| low > most);
    let is_within = least.is_none_or(|least| low >= least) && most.is_none_or(|most| high <= most);
    match (is_beyond, is_within) {
        (true, _) => Fulfilment::NotMet,
        (false, true) => Fulfilment::Met,
        (false, false) => Fulfilment::Undecided,
    }
}

/// The lower and upper bound. A bound that is not a number decides nothing; validate rejects it.
fn limits(expectation: &RatioExpectation) -> (Option<f64>, Option<f64>) {
    let limit = |text: &Option<String>| text.as_ref().map(|text| text.parse().unwrap_or(f64::NAN));
    (limit(&expectation.at_least), limit(&expectation.at_most))
}

fn bounds(expectation: &RatioExpectation) -> String {
    let least = expectation.at_least.as_ref();
    let most = expectation.at_most.as_ref();
    let bounds: Vec<String> = [
        least.map(|bound| format!("at least {bound}x")),
        most.map(|bound| format!("at most {bound}x")),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!("{} the baseline's", bounds.join(" and "))
}

fn finding(found: Found, among: usize) -> String {
    let ratio = units::ratio(found.ratio);
    let Some((low, high)) = found.interval else {
        return format!("{ratio} in one block, which has no interval");
    };
    let (low, high) = (units::ratio_number(low), units::ratio_number(high));
    let together = if among > 1 {
        format!(", for {among} expectations together")
    } else {
        String::new()
    };
    format!("it is {ratio} ({low}-{high}{together})")
}

#[cfg(test)]
mod tests;
