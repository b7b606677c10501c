//! What an open-loop sweep may request: the CRD's rules again, and the administrator's limits.

use std::collections::BTreeSet;

use wasmbench_api::open_loop::{
    HIGHEST_RATE, LOWEST_RUNG, OpenLoop, RATES_MESSAGE, RUNGS_MESSAGE, TARGET_P99_MESSAGE,
};
use wasmbench_model::ladder;
use wasmbench_model::rounding::round_number;

use crate::config::OperatorConfig;
use crate::validate::{Invalid, invalid};

/// Checks the target, the rates and the load.
pub fn check(sweep: &OpenLoop, config: &OperatorConfig) -> Result<(), Invalid> {
    check_rates(sweep)?;
    check_ladder(sweep, config)?;
    let limits = &config.limits;
    let bounded = [
        ("connections", sweep.connections, limits.connections, ""),
        (
            "durationSeconds",
            sweep.duration_seconds,
            limits.duration_seconds,
            " s",
        ),
        (
            "peakSeconds",
            sweep.peak_seconds,
            limits.duration_seconds,
            " s",
        ),
    ];
    check_bounded("openLoop", &bounded)
}

/// Checks fields of a sweep, each with what it requests, what the administrator allows, and their unit.
pub(super) fn check_bounded(sweep: &str, fields: &[(&str, u32, u32, &str)]) -> Result<(), Invalid> {
    for (name, requested, allowed, unit) in fields {
        let field = format!("spec.sweeps.{sweep}.{name}");
        if *requested == 0 {
            return Err(invalid(field, "must be 1 or more"));
        }
        if requested > allowed {
            let message = format!(
                "{requested}{unit} are requested and the administrator allows {allowed}{unit}"
            );
            return Err(invalid(field, message));
        }
    }
    Ok(())
}

/// Checks the target, and the rungs if they are stated.
fn check_ladder(sweep: &OpenLoop, config: &OperatorConfig) -> Result<(), Invalid> {
    let Some(target) = &sweep.target else {
        return Ok(());
    };
    if target.p99_microseconds().is_none() {
        return Err(invalid(
            "spec.sweeps.openLoop.target.p99",
            TARGET_P99_MESSAGE,
        ));
    }
    if sweep.rates_percent_of_peak.is_some() {
        return Err(invalid(
            "spec.sweeps.openLoop.ratesPercentOfPeak",
            RUNGS_MESSAGE,
        ));
    }
    let rates = sweep.rps();
    let Some(lowest) = rates.first() else {
        return Ok(());
    };
    let field = "spec.sweeps.openLoop.rates";
    if rates.len() < 2 || *lowest < LOWEST_RUNG {
        return Err(invalid(field, RUNGS_MESSAGE));
    }
    match too_long(sweep, f64::from(*lowest), config.limits.duration_seconds) {
        Some(why) => Err(invalid(field, format!("{why}: raise the lowest rate"))),
        None => Ok(()),
    }
}

/// Why the lowest rung of a ladder takes more than the `allowed` seconds of a window; `None` if it does
/// not.
pub fn too_long(sweep: &OpenLoop, lowest: f64, allowed: u32) -> Option<String> {
    let least = sweep.duration_seconds;
    let seconds = ladder::seconds(lowest, sweep.connections, least);
    let lowest = round_number(lowest);
    (seconds > allowed && seconds > least).then(|| {
        format!(
            "the 1000 requests of a p99 take {seconds} s at {lowest} requests/s, and the administrator allows {allowed} s"
        )
    })
}

/// Checks the list of rates, whichever it is.
fn check_rates(sweep: &OpenLoop) -> Result<(), Invalid> {
    let (name, rates, highest, rule) = match (&sweep.rates, &sweep.rates_percent_of_peak) {
        (Some(_), Some(_)) => return Err(invalid("spec.sweeps.openLoop", RATES_MESSAGE)),
        (None, None) => return Ok(()),
        (Some(rates), None) => (
            "rates",
            rates,
            HIGHEST_RATE,
            format!("list at least one rate, each from 1 to {HIGHEST_RATE} requests per second"),
        ),
        (None, Some(percents)) => (
            "ratesPercentOfPeak",
            percents,
            99,
            "list at least one rate, each from 1 to 99 percent of the baseline's peak: at its peak \
             it has no time left, and every request waits longer than the one before"
                .to_owned(),
        ),
    };
    let field = format!("spec.sweeps.openLoop.{name}");
    if rates.is_empty() || rates.iter().any(|rate| !(1..=highest).contains(rate)) {
        return Err(invalid(field, rule));
    }
    if rates.iter().collect::<BTreeSet<_>>().len() != rates.len() {
        return Err(invalid(field, "a rate is listed twice: remove one"));
    }
    Ok(())
}
