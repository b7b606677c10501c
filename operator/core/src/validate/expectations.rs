//! The rules of `spec.expectations`: what they name must exist and be compared.

use wasmbench_api::run::{BenchmarkRunSpec, ExpectedMetric, RatioExpectation, TWIN};

use super::{Invalid, invalid, points_of, unique};
use crate::variants;
use crate::wire::record::Point;

/// Checks that every expectation is about something that the run compares.
pub fn check(spec: &BenchmarkRunSpec, baseline: &str) -> Result<(), Invalid> {
    let names = spec.expectations.iter().map(|e| e.name.as_str());
    if names.clone().next().is_some() {
        unique("spec.expectations", names)?;
    }
    spec.expectations
        .iter()
        .try_for_each(|expectation| check_one(spec, expectation, baseline))
}

fn check_one(
    spec: &BenchmarkRunSpec,
    expectation: &RatioExpectation,
    baseline: &str,
) -> Result<(), Invalid> {
    let RatioExpectation {
        name,
        metric,
        variant,
        workload,
        ..
    } = expectation;
    let refused = |message: String| {
        let field = format!("spec.expectations[{name}]");
        Err(invalid(field, message))
    };
    if !spec.variants.iter().any(|v| v.name == *variant) {
        return refused(format!("'{variant}' is none of spec.variants"));
    }
    if !spec.workloads.iter().any(|w| w.name == *workload) {
        return refused(format!("'{workload}' is none of spec.workloads"));
    }
    if variant == baseline || variant == TWIN {
        return refused(format!(
            "'{variant}' is the baseline, which the others are compared with: name another variant"
        ));
    }
    if expectation
        .relative_to
        .as_ref()
        .is_some_and(|other| other != baseline)
    {
        return refused(format!(
            "relativeTo must be the baseline, '{baseline}', for now: remove it or change \
             spec.baseline"
        ));
    }
    let swept = match metric {
        ExpectedMetric::ThroughputRps => spec.sweeps.throughput.is_some(),
        ExpectedMetric::WarmP50 => spec.sweeps.warm_latency.is_some(),
        ExpectedMetric::CpuPerRequest | ExpectedMetric::Memory => true,
        ExpectedMetric::ColdStartListening | ExpectedMetric::ColdStartAnswer => {
            spec.sweeps.cold_start.is_some()
        }
        ExpectedMetric::OpenLoopP99 => spec.sweeps.open_loop.is_some(),
    };
    if !swept {
        let metric: &str = metric.into();
        return refused(format!(
            "the run has no sweep that measures {metric}: add one"
        ));
    }
    if let Some(reason) = not_applicable(spec, expectation, baseline) {
        return refused(format!(
            "there will be no such number, because {reason}: remove it"
        ));
    }
    let mut bounds = expectation
        .at_least
        .iter()
        .chain(&expectation.at_most)
        .peekable();
    if bounds.peek().is_none() {
        return refused("set atLeast, atMost or both".to_owned());
    }
    let is_ratio = |text: &String| text.parse().is_ok_and(|n: f64| n.is_finite() && n >= 0.0);
    match bounds.find(|bound| !is_ratio(bound)) {
        Some(bound) => refused(format!("'{bound}' is no ratio: write a number such as 0.8")),
        None => Ok(()),
    }
}

/// Why neither side, or one of them, has the number.
fn not_applicable(
    spec: &BenchmarkRunSpec,
    expectation: &RatioExpectation,
    baseline: &str,
) -> Option<&'static str> {
    let mut workloads = spec.workloads.iter();
    let workload = workloads.find(|w| w.name == expectation.workload)?;
    let points = points_of(spec).into_iter();
    let points: Vec<Point> = points
        .filter(|p| measures(*p, expectation.metric))
        .collect();
    let sides = [expectation.variant.as_str(), baseline];
    sides.into_iter().find_map(|name| {
        let variant = spec.variants.iter().find(|variant| variant.name == name)?;
        let reason = |point: &Point| variants::not_applicable::reason(variant, workload, *point);
        let reasons: Option<Vec<&str>> = points.iter().map(reason).collect();
        reasons?.into_iter().next()
    })
}

/// Whether a trial at this point may give the metric.
fn measures(point: Point, metric: ExpectedMetric) -> bool {
    match point {
        Point::ColdStart { .. } => matches!(
            metric,
            ExpectedMetric::ColdStartListening | ExpectedMetric::ColdStartAnswer
        ),
        Point::WarmLatency => matches!(
            metric,
            ExpectedMetric::WarmP50 | ExpectedMetric::CpuPerRequest | ExpectedMetric::Memory
        ),
        Point::Throughput { .. } => matches!(
            metric,
            ExpectedMetric::ThroughputRps | ExpectedMetric::CpuPerRequest | ExpectedMetric::Memory
        ),
        Point::OpenLoop { .. } => metric == ExpectedMetric::OpenLoopP99,
        Point::Density => false,
    }
}
