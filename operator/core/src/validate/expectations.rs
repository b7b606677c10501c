//! The rules of `spec.expectations`: what they name must exist and be compared.

use wasmbench_api::run::{BenchmarkRunSpec, ExpectedMetric, RatioExpectation, TWIN};

use super::{Invalid, invalid, unique};

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
    };
    if !swept {
        let metric: &str = metric.into();
        return refused(format!(
            "the run has no sweep that measures {metric}: add one"
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
