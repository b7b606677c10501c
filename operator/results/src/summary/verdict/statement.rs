//! Statements in the line of the verdict.

use wasmbench_model::units::{self, marked};

use crate::cells::load::LoadDetail;
use crate::judge::comparison::Comparison;
use crate::vocabulary::measure::Measured as _;

/// The full statement: the ratio to the baseline or, for measures judged by it, the difference from
/// the baseline.
pub fn long(baseline: &str, comparison: &Comparison) -> String {
    let Comparison {
        variant, workload, ..
    } = comparison;
    if let Some(fewer) = comparison.fewer_text() {
        let interval = comparison.fewer_interval_text();
        return format!("{variant}: {fewer} than {baseline} on {workload} {interval}");
    }
    let (what, verdict) = (comparison.what(), comparison.verdict_text());
    if comparison.judged_difference().is_some() {
        let found = comparison.judged_text();
        return format!(
            "{variant}: {found} in {what} on {workload} compared with {baseline}, {verdict}"
        );
    }
    let ratio = comparison.estimate.ratio_text();
    let text = comparison.estimate.interval_text();
    let interval = text.as_deref().unwrap_or("1 block");
    format!("{variant}: {ratio} {baseline}'s {what} on {workload} ({interval}), {verdict}")
}

/// The short statement, to follow another one of the same baseline.
pub fn short(comparison: &Comparison) -> String {
    let (variant, workload) = (&comparison.variant, &comparison.workload);
    if let Some(fewer) = comparison.fewer_text() {
        return format!("{variant}: {fewer} on {workload}");
    }
    let unit = comparison.metric.measure().unit;
    let difference = comparison.judged_difference();
    let found = difference.map_or_else(
        || comparison.estimate.ratio_text(),
        |difference| unit.shown_difference(difference.value),
    );
    let preposition = if difference.is_some() { "in" } else { "the" };
    let what = comparison.what();
    let verdict = comparison.verdict_text();
    format!("{variant}: {found} {preposition} {what} on {workload}, {verdict}")
}

/// What a variant does by itself at its highest rate, for a verdict without comparisons.
pub fn without_comparison(load: &LoadDetail) -> Option<String> {
    let rate = load.rate?;
    let median = load.open_loop?.p99_microseconds.median;
    let p99 = marked(units::micros(median), load.p99_carried);
    Some(format!("p99 from the schedule {p99} at {rate}"))
}
