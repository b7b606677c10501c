//! The gate: what a run's author expects of its ratios, or of its differences where these are what is
//! judged. Decided from the ends of their intervals and never from the estimate, which is as likely to be above the truth as below. The intervals
//! hold for all of the run's expectations together: otherwise a gate of thirty bounds would fail by
//! chance in most runs.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{Bound, RatioExpectation};
use wasmbench_model::units;
use wasmbench_model::wire::record::Point;

use crate::judge::comparison::{Comparison, Estimate};
use crate::statistics::ratio::{fewest_freedom, simultaneous};
use crate::statistics::{OneSided, Scale};
use crate::vocabulary::measure::{Measured as _, Metric};
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
    pub fn text(self) -> &'static str {
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

/// The expectations of a run whose variants are compared with `instead` of its baseline: none is decided, since all of
/// them are about its own.
pub fn not_decided(spec: &BenchmarkRunSpec, instead: &str) -> Vec<Decision> {
    let planned = spec.baseline_name();
    let message = format!("it is about the baseline {planned}, and this compares with {instead}");
    let undecided = spec.expectations.iter().map(|expectation| Decision {
        name: expectation.name.clone(),
        outcome: Fulfilment::Undecided,
        message: message.clone(),
    });
    undecided.collect()
}

/// The worst outcome; `None` if nothing was expected.
pub fn overall(decisions: &[Decision]) -> Option<Fulfilment> {
    decisions.iter().map(|decision| decision.outcome).min()
}

/// What is judged of a measure, with its interval, which is absent with one block: a ratio, or a
/// difference in the unit of the measure.
#[derive(Clone, Copy)]
struct Found {
    metric: Metric,
    number: f64,
    /// Where only one end is known, the other is 0 or endless.
    interval: Option<(f64, f64)>,
    /// Which end is known, where only one is.
    bound: Option<OneSided>,
}

impl Found {
    /// Widens the interval so that it holds together with those of all `expectations`. `None` if
    /// the comparison has no such number.
    fn among(comparison: &Comparison, expectations: usize) -> Option<Self> {
        let metric = comparison.metric;
        let bound = comparison.estimate.bound;
        let (number, ends) = match metric.scale() {
            Scale::Ratio => (comparison.estimate.ratio, around(&comparison.estimate)),
            Scale::Difference => {
                let difference = comparison.difference?;
                (difference.value, difference.ends())
            }
        };
        let wider = |(low, high): (f64, f64)| {
            if expectations < 2 {
                return (low, high);
            }
            let scale = metric.scale();
            let [low, middle, high] = [low, number, high].map(|number| scale.transform(number));
            let estimate = &comparison.estimate;
            let blocks = fewest_freedom(estimate.blocks, estimate.pilot_blocks);
            let half = simultaneous((high - low) / 2.0, blocks, expectations);
            (scale.inverse(middle - half), scale.inverse(middle + half))
        };
        let open = |(low, high): (f64, f64)| match bound {
            None => (low, high),
            Some(OneSided::AtLeast) => (low, f64::INFINITY),
            Some(OneSided::AtMost) => (0.0, high),
        };
        Some(Self {
            metric,
            number,
            interval: ends.map(wider).map(open),
            bound,
        })
    }
}

/// The ends of the interval; where only one is known, the other is as far from the ratio.
fn around(estimate: &Estimate) -> Option<(f64, f64)> {
    let square = estimate.ratio * estimate.ratio;
    match estimate.bound {
        None => estimate.ends(),
        Some(OneSided::AtLeast) => estimate.low.map(|low| (low, square / low)),
        Some(OneSided::AtMost) => estimate.high.map(|high| (square / high, high)),
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
    let found = comparison.and_then(|found| Found::among(found, among));
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

/// The lower and upper bound, in the unit of the measure. What is no bound on this measure decides
/// nothing; validate rejects it.
fn limits(expectation: &RatioExpectation) -> (Option<f64>, Option<f64>) {
    let limit = |text: &Option<String>| {
        let bound = Bound::parse(text.as_ref()?);
        let fits = bound.filter(|bound| bound.unit() == expectation.metric.bound());
        Some(fits.map_or(f64::NAN, in_unit))
    };
    (limit(&expectation.at_least), limit(&expectation.at_most))
}

/// A bound in the unit of its measure: times are in microseconds, and shares are of 1.
fn in_unit(bound: Bound) -> f64 {
    match bound {
        Bound::Ratio(ratio) => ratio,
        Bound::Milliseconds(milliseconds) => milliseconds * 1e3,
        Bound::Points(points) => points / 100.0,
    }
}

/// How far the nearest bound is from equality, on the log scale. `None` for measures that are judged by
/// their difference.
pub fn distance_from_equality(expectation: &RatioExpectation) -> Option<f64> {
    if matches!(expectation.metric.scale(), Scale::Difference) {
        return None;
    }
    let (least, most) = limits(expectation);
    let bounds = [least, most].into_iter().flatten();
    let usable = bounds.filter(|bound| bound.is_finite() && *bound > 0.0);
    usable.map(|bound| libm::log(bound).abs()).reduce(f64::min)
}

/// The bounds in words: `at least 0.8x the baseline's`.
pub fn bounds(expectation: &RatioExpectation) -> String {
    let metric = expectation.metric;
    let (least, most) = limits(expectation);
    // A ratio stands as it is written.
    let shown = |text: &Option<String>, limit: Option<f64>| {
        Some(match metric.scale() {
            Scale::Ratio => format!("{}x", text.as_ref()?),
            Scale::Difference => metric.measure().unit.shown_difference(limit?),
        })
    };
    let bounds: Vec<String> = [
        shown(&expectation.at_least, least).map(|bound| format!("at least {bound}")),
        shown(&expectation.at_most, most).map(|bound| format!("at most {bound}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let of_baseline = match metric.scale() {
        Scale::Ratio => "the baseline's",
        Scale::Difference => "relative to the baseline's",
    };
    format!("{} {of_baseline}", bounds.join(" and "))
}

fn finding(found: Found, among: usize) -> String {
    let unit = found.metric.measure().unit;
    let number = match found.metric.scale() {
        Scale::Ratio => units::ratio(found.number),
        Scale::Difference => unit.shown_difference(found.number),
    };
    let Some((low, high)) = found.interval else {
        return format!("{number} in one block, which has no interval");
    };
    let together = if among > 1 {
        format!(", for {among} expectations together")
    } else {
        String::new()
    };
    if let Some(bound) = found.bound {
        let end = match bound {
            OneSided::AtLeast => low,
            OneSided::AtMost => high,
        };
        return format!("it is {} {}{together}", bound.text(), units::ratio(end));
    }
    let interval = match found.metric.scale() {
        Scale::Ratio => units::ratio_interval((low, high)),
        Scale::Difference => {
            let [low, high] = [low, high].map(|end| unit.shown_difference(end));
            format!("{low} to {high}")
        }
    };
    format!("it is {number} ({interval}{together})")
}

#[cfg(test)]
mod tests;
