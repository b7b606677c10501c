//! The rules of `spec.expectations`: what they name must exist and be compared.

use wasmbench_api::run::{BenchmarkRunSpec, Bound, BoundUnit, RatioExpectation, TWIN, Workload};
use wasmbench_model::points::{measured_at, points_of};
use wasmbench_model::variants;
use wasmbench_model::wire::record::Point;

use crate::config::OperatorConfig;
use crate::validate::metrics;
use crate::validate::names::unique;
use crate::validate::{Invalid, invalid};

/// Checks that every expectation is about something that the run compares, so that none is bound to
/// be still undecided after hours of measuring.
pub fn check(
    spec: &BenchmarkRunSpec,
    baseline: &str,
    config: &OperatorConfig,
) -> Result<(), Invalid> {
    let names = spec.expectations.iter().map(|e| e.name.as_str());
    if names.clone().next().is_none() {
        return Ok(());
    }
    unique("spec.expectations", names)?;
    if spec.most_blocks() < 2 {
        return Err(invalid(
            "spec.expectations",
            "one block has no interval, which an expectation is decided from: set spec.blocks to 2 or \
             more (5 for an interval that says something), or remove the expectations",
        ));
    }
    spec.expectations.iter().try_for_each(|expectation| {
        check_names(spec, expectation, baseline)?;
        check_metric(spec, expectation, baseline, config)?;
        check_bounds(expectation)
    })
}

fn refused(expectation: &RatioExpectation, message: String) -> Result<(), Invalid> {
    let field = format!("spec.expectations[{}]", expectation.name);
    Err(invalid(field, message))
}

fn check_names(
    spec: &BenchmarkRunSpec,
    expectation: &RatioExpectation,
    baseline: &str,
) -> Result<(), Invalid> {
    let RatioExpectation {
        variant,
        workload,
        relative_to,
        ..
    } = expectation;
    let refused = |message| refused(expectation, message);
    if !spec.variants.iter().any(|v| v.name == *variant) {
        return refused(format!("'{variant}' is not one of spec.variants"));
    }
    if !spec.workloads.iter().any(|w| w.name == *workload) {
        return refused(format!("'{workload}' is not one of spec.workloads"));
    }
    if variant == baseline || variant == TWIN {
        return refused(format!(
            "'{variant}' is the baseline, which the others are compared with: name another variant"
        ));
    }
    if relative_to.as_ref().is_some_and(|other| other != baseline) {
        return refused(format!(
            "relativeTo must be the baseline, '{baseline}', for now: remove it or change \
             spec.baseline"
        ));
    }
    Ok(())
}

/// Checks that there will be such a number at all.
fn check_metric(
    spec: &BenchmarkRunSpec,
    expectation: &RatioExpectation,
    baseline: &str,
    config: &OperatorConfig,
) -> Result<(), Invalid> {
    let refused = |message| refused(expectation, message);
    let workloads: Vec<&Workload> = spec
        .workloads
        .iter()
        .filter(|one| one.name == expectation.workload)
        .collect();
    metrics::check(spec, expectation.metric, &workloads, config)
        .or_else(|why| refused(format!("{why}, or remove the expectation")))?;
    match not_applicable(spec, expectation, baseline) {
        Some(reason) => refused(format!(
            "there will be no such number, because {reason}: remove it"
        )),
        None => Ok(()),
    }
}

fn check_bounds(expectation: &RatioExpectation) -> Result<(), Invalid> {
    let mut bounds = expectation
        .at_least
        .iter()
        .chain(&expectation.at_most)
        .peekable();
    if bounds.peek().is_none() {
        return refused(expectation, "set atLeast, atMost or both".to_owned());
    }
    let unit = expectation.metric.bound();
    let is_bound = |text: &String| Bound::parse(text).is_some_and(|bound| bound.unit() == unit);
    match bounds.find(|bound| !is_bound(bound)) {
        Some(bound) => refused(
            expectation,
            format!("'{bound}' is not {}", remedy(expectation, unit)),
        ),
        None => Ok(()),
    }
}

/// What the bound of an expectation has to be.
fn remedy(expectation: &RatioExpectation, unit: BoundUnit) -> String {
    let name: &str = expectation.metric.into();
    match unit {
        BoundUnit::Ratio => format!(
            "a ratio, which {name} is judged by: write a number without a unit, such as 0.8"
        ),
        BoundUnit::Milliseconds => format!(
            "a difference in milliseconds, which {name} is judged by: write it with its unit, such as \
             20ms (later than the baseline) or -5ms (sooner)"
        ),
        BoundUnit::Points => format!(
            "a difference in percentage points, which {name} is judged by: write it with its unit, \
             such as -0.5% (half a point fewer than of the baseline's)"
        ),
    }
}

/// Why one side or both will not have the number.
fn not_applicable(
    spec: &BenchmarkRunSpec,
    expectation: &RatioExpectation,
    baseline: &str,
) -> Option<&'static str> {
    let mut workloads = spec.workloads.iter();
    let workload = workloads.find(|w| w.name == expectation.workload)?;
    let points: Vec<Point> = points_of(spec)
        .into_iter()
        .filter(|p| measured_at(*p).contains(&expectation.metric))
        .collect();
    let sides = [expectation.variant.as_str(), baseline];
    sides.into_iter().find_map(|name| {
        let variant = spec.variants.iter().find(|variant| variant.name == name)?;
        let reason = |point: &Point| variants::not_applicable::reason(variant, workload, *point);
        let reasons: Option<Vec<&str>> = points.iter().map(reason).collect();
        reasons?.into_iter().next()
    })
}
