//! What is written as a percentage: its form and its range.

use wasmbench_api::run::{BenchmarkRunSpec, RunScatter, share_of};

use crate::validate::{Invalid, invalid};

/// Checks the smallest effect, the scatter between runs and the shares of requests that may fail.
pub fn check(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    check_minimum_effect(spec)?;
    check_run_scatter(spec)?;
    check_error_shares(spec)
}

fn check_minimum_effect(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    let allowed = |share: f64| (0.001..=0.5).contains(&share);
    if share_of(&spec.minimum_effect).is_some_and(allowed) {
        return Ok(());
    }
    Err(invalid(
        "spec.minimumEffect",
        format!(
            "'{}' is not a percentage from 0.1% to 50%: write it like 5% or 2.5%",
            spec.minimum_effect
        ),
    ))
}

fn check_run_scatter(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    let is_wrong = |text: &&String| RunScatter::parse(text).is_none();
    match spec.run_scatter.as_ref().filter(is_wrong) {
        Some(text) => Err(invalid(
            "spec.runScatter",
            format!("'{text}' is not a percentage from 0% to 50%: write it like 2% or 3.5%"),
        )),
        None => Ok(()),
    }
}

fn check_error_shares(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    for workload in &spec.workloads {
        let allowed = |share: f64| (0.000_01..=0.5).contains(&share);
        if let Some(text) = &workload.max_error_share
            && !workload.max_error_share().is_some_and(allowed)
        {
            return Err(invalid(
                format!("spec.workloads[{}].maxErrorShare", workload.name),
                format!(
                    "'{text}' is not a percentage from 0.001% to 50%: write it like 0.1%, or leave it out"
                ),
            ));
        }
    }
    Ok(())
}
