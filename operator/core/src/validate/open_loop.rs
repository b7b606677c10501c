//! What an open-loop sweep may request: the CRD's rules again, and the administrator's limits.

use std::collections::BTreeSet;

use wasmbench_api::open_loop::OpenLoop;

use crate::config::OperatorConfig;
use crate::validate::{Invalid, invalid};

/// Checks the rates and the load.
pub fn check(sweep: &OpenLoop, config: &OperatorConfig) -> Result<(), Invalid> {
    let field = |name: &str| format!("spec.sweeps.openLoop.{name}");
    let rates = &sweep.rates_percent_of_peak;
    if rates.is_empty() || rates.iter().any(|percent| !(1..=99).contains(percent)) {
        return Err(invalid(
            field("ratesPercentOfPeak"),
            "list at least one rate, each from 1 to 99 percent of the subject's peak: at its peak a \
             subject has no time left, and every request waits longer than the one before",
        ));
    }
    if rates.iter().collect::<BTreeSet<_>>().len() != rates.len() {
        return Err(invalid(
            field("ratesPercentOfPeak"),
            "a rate is listed twice: remove one",
        ));
    }
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
