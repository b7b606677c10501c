//! The series of a finished run: a run and its summary in, samples out. Pure, except that it logs a
//! warning.
//!
//! Only the primary comparisons are shown, and only if nothing casts doubt on them: a number shown
//! without its doubts would look like one that has none.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use wasmbench_api::{BenchmarkRun, conditions};
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::judge::comparison::{Comparison, Difference};
use wasmbench_results::statistics::median;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::trust::is_doubted;
use wasmbench_results::vocabulary::measure::{Measured as _, Metric, Unit};

use super::family::{Family, Sample};

/// The maximum number of series of a run. Comparing five variants with the baseline, in one measure
/// of each of three sweeps and on three workloads, takes 45 comparisons of 4 series each, 9 numbers
/// for the baseline and 3 for the run.
pub const MOST_SERIES: usize = 200;

const MICROSECONDS: f64 = 1e6;

/// What samples are about. The series of a schedule continue from run to run under its name.
#[derive(Clone, Debug)]
pub struct Owner {
    /// Its namespace.
    pub namespace: String,
    /// `schedule` or `run`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

impl Owner {
    /// A sample of the owner, with additional labels.
    pub fn sample(
        &self,
        family: Family,
        more: impl IntoIterator<Item = (&'static str, String)>,
        value: f64,
    ) -> Sample {
        let mut labels = vec![
            ("namespace", self.namespace.clone()),
            (self.kind, self.name.clone()),
        ];
        labels.extend(more);
        Sample {
            family,
            labels,
            value,
        }
    }
}

/// All samples of a finished run, those of the run as a whole first. There may be more than
/// [`MOST_SERIES`].
pub fn samples(owner: &Owner, run: &BenchmarkRun, summary: Option<&Summary>) -> Vec<Sample> {
    let mut samples = as_a_whole(owner, run);
    if let Some(summary) = summary.filter(|summary| !is_doubted(summary)) {
        samples.extend(measured(owner, run, summary));
    }
    samples
}

/// Keeps the first [`MOST_SERIES`] samples of the run with this name, and logs if there were more.
pub fn bounded(run: &str, mut samples: Vec<Sample>) -> Vec<Sample> {
    if samples.len() > MOST_SERIES {
        let (found, shown) = (samples.len(), MOST_SERIES);
        tracing::warn!(run, found, shown, "a run has too many series");
        samples.truncate(MOST_SERIES);
    }
    samples
}

fn as_a_whole(owner: &Owner, run: &BenchmarkRun) -> Vec<Sample> {
    let Some(status) = &run.status else {
        return vec![];
    };
    let (start, end) = (status.start_time.as_ref(), status.completion_time.as_ref());
    let took = start
        .zip(end)
        .map(|(start, end)| end.0.duration_since(start.0));
    let values = [
        (
            Family::Trustworthy,
            decided(&status.conditions, conditions::TRUSTWORTHY),
        ),
        (
            Family::Passed,
            decided(&status.conditions, conditions::PASSED),
        ),
        (Family::Duration, took.map(|took| took.as_secs_f64())),
    ];
    values
        .into_iter()
        .filter_map(|(family, value)| Some(owner.sample(family, [], value?)))
        .collect()
}

/// 1 if the condition is True, 0 if it is False, and `None` if it is missing or unknown.
fn decided(conditions: &[Condition], type_: &str) -> Option<f64> {
    let found = conditions.iter().find(|one| one.type_ == type_)?;
    match found.status.as_str() {
        "True" => Some(1.0),
        "False" => Some(0.0),
        _ => None,
    }
}

/// The ratios and differences of a run that are shown, and the numbers behind them.
fn measured(owner: &Owner, run: &BenchmarkRun, summary: &Summary) -> Vec<Sample> {
    let counts = |one: &&Comparison| one.primary && one.untrusted.is_empty() && is_of(run, one);
    let mut samples = vec![];
    let mut baselines = BTreeSet::new();
    for one in summary.comparisons.iter().filter(counts) {
        samples.extend(versus_baseline(owner, one));
        samples.extend(absolute(owner, summary, one, &one.variant));
        let place = (&one.workload, one.point, one.metric);
        if baselines.insert(place) {
            samples.extend(absolute(owner, summary, one, &summary.baseline));
        }
    }
    samples
}

/// Whether the run has this variant and workload. The report is in the namespace of the run's
/// author, and what others write there must not become a label.
fn is_of(run: &BenchmarkRun, one: &Comparison) -> bool {
    let (mut variants, mut workloads) = (run.spec.variants.iter(), run.spec.workloads.iter());
    variants.any(|variant| variant.name == one.variant)
        && workloads.any(|workload| workload.name == one.workload)
}

/// How the variant compares with the baseline, and the interval: what is judged of the measure, its
/// difference or its ratio.
fn versus_baseline(owner: &Owner, one: &Comparison) -> Vec<Sample> {
    let sample = |(family, value): (Family, Option<f64>)| {
        Some(owner.sample(family, labels(one, &one.variant), value?))
    };
    let values = match one.judged_difference() {
        Some(difference) => differences(one.metric, difference),
        None => [
            // Of a bound, the end that is known says all.
            (
                Family::Ratio,
                Some(one.estimate.ratio).filter(|_| one.estimate.bound.is_none()),
            ),
            (Family::RatioLower, one.estimate.low),
            (Family::RatioUpper, one.estimate.high),
        ],
    };
    values.into_iter().filter_map(sample).collect()
}

/// A difference and its interval, in the base unit.
fn differences(metric: Metric, difference: Difference) -> [(Family, Option<f64>); 3] {
    let families = match metric.measure().unit {
        // No rate, no count and no amount of memory is judged by its difference.
        Unit::Microseconds | Unit::PerSecond | Unit::Bytes | Unit::Count => [
            Family::DifferenceSeconds,
            Family::DifferenceLowerSeconds,
            Family::DifferenceUpperSeconds,
        ],
        Unit::Share => [
            Family::DifferenceShare,
            Family::DifferenceLowerShare,
            Family::DifferenceUpperShare,
        ],
    };
    let numbers = [Some(difference.value), difference.low, difference.high];
    let in_base_unit = |number: Option<f64>| number.map(|number| in_base_unit(metric, number).1);
    let [value, lower, upper] = families;
    let [middle, low, high] = numbers.map(in_base_unit);
    [(value, middle), (lower, low), (upper, high)]
}

/// The measured value of a variant in the compared cell, in the base unit.
fn absolute(owner: &Owner, summary: &Summary, one: &Comparison, variant: &str) -> Option<Sample> {
    let is_there = |cell: &AnyCell<'_>| cell.is_at(variant, &one.workload, one.point);
    let cell = summary.all_cells().find(is_there)?;
    let mut series = cell.detail.series().into_iter();
    let (_, by_block) = series.find(|(metric, _)| *metric == one.metric)?;
    let value = median(by_block.into_values())?;
    let (family, value) = in_base_unit(one.metric, value);
    Some(owner.sample(family, labels(one, variant), value))
}

fn in_base_unit(metric: Metric, value: f64) -> (Family, f64) {
    match metric.measure().unit {
        Unit::PerSecond => (Family::RequestsPerSecond, value),
        Unit::Microseconds => (Family::Seconds, value / MICROSECONDS),
        Unit::Bytes => (Family::Bytes, value),
        Unit::Share => (Family::Share, value),
        Unit::Count => (Family::Count, value),
    }
}

fn labels(one: &Comparison, variant: &str) -> [(&'static str, String); 4] {
    let measure: &'static str = one.metric.into();
    [
        ("variant", variant.to_owned()),
        ("workload", one.workload.clone()),
        ("point", one.point.to_string()),
        ("measure", measure.to_owned()),
    ]
}
