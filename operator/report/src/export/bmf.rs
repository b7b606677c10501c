//! Bencher Metric Format: a point of the run is a benchmark, and its measures have a median with
//! its interval. The format cannot express doubt, and trackers raise alarms based on these numbers,
//! so untrusted numbers are left out.

use std::collections::BTreeMap;

use heck::ToKebabCase as _;
use serde::Serialize;
use wasmbench_model::rounding::round_number;
use wasmbench_model::units::cut;
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::{Measured as _, Metric, Unit};

use crate::export::points::{ValidPoint, valid};
use crate::files::Error;
use crate::json;

/// Longest benchmark name that the format accepts, in characters.
const MAX_NAME_CHARS: usize = 1024;

/// A number with its interval, which is absent for a single block.
#[derive(Serialize, Clone, Copy, Debug, PartialEq)]
struct Number {
    value: f64,
    #[serde(rename = "lower_value", skip_serializing_if = "Option::is_none")]
    low: Option<f64>,
    #[serde(rename = "upper_value", skip_serializing_if = "Option::is_none")]
    high: Option<f64>,
}

/// Keyed by the slug of the measure.
type Measures = BTreeMap<String, Number>;

/// The document: maps `variant/workload/point` to measures, including a ratio to the baseline where
/// there is one. The names of measures contain their units.
pub fn bmf(summary: &Summary) -> Result<String, Error> {
    let points = valid(summary);
    let trusted = points.iter().filter(|point| point.untrusted.is_empty());
    let benchmarks: BTreeMap<String, Measures> = trusted
        .map(|point| (name(point.cell), measures(summary, point)))
        .collect();
    Ok(json::pretty(&benchmarks)?)
}

/// What the document leaves out of the run, in a sentence; `None` if nothing.
pub fn left_out(summary: &Summary) -> Option<String> {
    let points = valid(summary);
    let trusted = points.iter().filter(|point| point.untrusted.is_empty());
    let (all, trusted) = (points.len(), trusted.count());
    (trusted < all).then(|| {
        format!(
            "{} of {all} valid points are left out, because their numbers are not to be trusted: see Doubts in the report",
            all - trusted
        )
    })
}

fn name(cell: AnyCell<'_>) -> String {
    let (variant, workload, point) = (cell.variant, cell.workload, cell.point);
    cut(&format!("{variant}/{workload}/{point}"), MAX_NAME_CHARS)
}

fn measures(summary: &Summary, point: &ValidPoint<'_>) -> Measures {
    let mut measures = Measures::new();
    for (metric, by_block) in &point.series {
        let name = <&str>::from(*metric).to_kebab_case();
        let numbers = by_block.values().copied();
        if let Some(spread) = Spread::of(numbers) {
            let interval = (by_block.len() > 1).then_some((spread.low, spread.high));
            measures.insert(
                format!("{name}{}", unit(*metric)),
                of(spread.median, interval),
            );
        }
        let ratio = summary.comparison(point.cell, *metric);
        if let Some(ratio) = ratio.filter(|ratio| ratio.untrusted.is_empty()) {
            measures.insert(format!("{name}-ratio"), of_ratio(ratio));
        }
    }
    measures
}

fn of_ratio(comparison: &Comparison) -> Number {
    let estimate = &comparison.estimate;
    of(estimate.ratio, estimate.ends())
}

fn of(value: f64, interval: Option<(f64, f64)>) -> Number {
    let (low, high) = interval.unzip();
    Number {
        value: round_number(value),
        low: low.map(round_number),
        high: high.map(round_number),
    }
}

/// The suffix for the name of a measure; the name of a rate already contains its unit.
fn unit(metric: Metric) -> &'static str {
    match metric.measure().unit {
        Unit::PerSecond => "",
        Unit::Microseconds => "-microseconds",
        Unit::Bytes => "-bytes",
        Unit::Share => "-share",
    }
}
