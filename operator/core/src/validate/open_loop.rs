//! What an open-loop sweep may request: the CRD's rules again, and the administrator's limits.

use std::collections::BTreeSet;

use wasmbench_api::open_loop::{HIGHEST_RATE, OpenLoop, RATES_MESSAGE};

use crate::config::OperatorConfig;
use crate::validate::{Invalid, invalid};

/// Checks the rates and the load.
pub fn check(sweep: &OpenLoop, config: &OperatorConfig) -> Result<(), Invalid> {
    check_rates(sweep)?;
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
    for (name, requested, allowed, unit) in bounded {
        let field = |name: &str| format!("spec.sweeps.openLoop.{name}");
        if requested == 0 {
            return Err(invalid(field(name), "must be 1 or more"));
        }
        if requested > allowed {
            return Err(invalid(
                field(name),
                format!(
                    "{requested}{unit} are requested and the administrator allows {allowed}{unit}"
                ),
            ));
        }
    }
    Ok(())
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
