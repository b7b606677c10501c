//! The rates of an open-loop trial: as stated in the spec, or shares of the baseline's peak, which
//! the baseline's scout found. All variants get the same.

use wasmbench_model::ladder;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::{Point, TrialId};

use crate::observed::Observed;
use crate::validate::{ValidatedRun, too_long};

/// The rates of `trial`, in requests per second and in the order in which they are requested: the
/// rungs of a ladder, or a single rate. Empty for a trial of another sweep, and where they follow from
/// a peak that is not known.
pub fn requested_rps(run: &ValidatedRun, observed: &Observed, trial: &TrialId) -> Vec<f64> {
    let peak = || peak(run, observed, &trial.cell.workload).ok();
    if trial.cell.point == Point::Capacity {
        let rungs = stated_rungs(run).or_else(|| Some(ladder::around(peak()?)));
        return rungs.unwrap_or_default();
    }
    let rate = match trial.cell.point.rate() {
        Some(Rate::Rps(rps)) => Some(f64::from(rps)),
        Some(Rate::PercentOfPeak(percent)) => peak().map(|peak| peak * f64::from(percent) / 100.0),
        None => None,
    };
    rate.into_iter().collect()
}

/// The rungs that the spec states, in requests per second and in ascending order.
pub fn stated_rungs(run: &ValidatedRun) -> Option<Vec<f64>> {
    let rates = run.spec.sweeps.open_loop.as_ref()?.rps();
    (!rates.is_empty()).then(|| rates.into_iter().map(f64::from).collect())
}

/// The workloads under which the rates follow from a peak that will not be known any more, or is too low,
/// and why.
pub fn without_peak<'a>(run: &'a ValidatedRun, observed: &Observed) -> Vec<(&'a str, Failure)> {
    if !is_scouted(run, observed) {
        return vec![];
    }
    let workloads = run.spec.workloads.iter();
    let found = workloads.filter_map(|workload| {
        let (reason, why) = match peak(run, observed, &workload.name) {
            Ok(peak) => {
                let why = too_low(run, peak)?;
                (FailureReason::PeakTooLow, format!("is too low: {why}"))
            }
            Err(why) => (FailureReason::PeakUnknown, format!("is not known: {why}")),
        };
        let message = format!(
            "the rates follow from the peak of {} under {}, which {why}; set sweeps.openLoop.rates, in \
             requests per second",
            run.baseline, workload.name
        );
        Some((workload.name.as_str(), Failure::new(reason, message)))
    });
    found.collect()
}

/// Why the lowest rung of the ladder around this peak is none that the run may have; `None` if it may.
fn too_low(run: &ValidatedRun, peak_rps: f64) -> Option<String> {
    let sweep = run.spec.sweeps.open_loop.as_ref()?;
    sweep.target.as_ref()?;
    let lowest = *ladder::around(peak_rps).first()?;
    too_long(sweep, lowest, run.longest_window_seconds)
}

/// Whether the baseline has been looked at, or never will be.
fn is_scouted(run: &ValidatedRun, observed: &Observed) -> bool {
    let mut scouts = run.order.iter().filter(|trial| trial.is_scout());
    scouts
        .find(|scout| scout.cell.variant == run.baseline)
        .is_none_or(|scout| observed.records.contains_key(scout))
}

/// The baseline's peak under `workload`, in correct answers per second, or why it is not known.
fn peak(run: &ValidatedRun, observed: &Observed, workload: &str) -> Result<f64, String> {
    let mut scouted = observed.scouted.get(&run.baseline).into_iter().flatten();
    let Some(found) = scouted.find(|one| one.workload == workload) else {
        return Err("its scout saw nothing of it (see the record of the scout)".to_owned());
    };
    let rps = found.peak.map(|peak| peak.rps);
    rps.filter(|rps| rps.is_finite() && *rps > 0.0)
        .ok_or_else(|| {
            let why = found.no_peak.clone();
            why.unwrap_or_else(|| "its scout found none".to_owned())
        })
}
