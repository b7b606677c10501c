//! Whether a run may begin: its spec can be carried out, and its plan fits into the time that the
//! administrator allows.

use wasmbench_api::BenchmarkRun;
use wasmbench_model::units::duration;
use wasmbench_model::wire::record::TrialId;

use crate::config::OperatorConfig;
use crate::plan::expected_trial_seconds;
use crate::validate::{Invalid, ValidatedRun, validate};

/// Checks `run` by all rules, including the limit on its duration: a run holds its node
/// throughout.
pub fn admit(run: &BenchmarkRun, config: &OperatorConfig) -> Result<ValidatedRun, Invalid> {
    let run = validate(run, config)?;
    let seconds = seconds_of(&run, &run.order);
    let most = u64::from(config.limits.run_seconds);
    if seconds > most {
        let message = format!(
            "the run would take about {} and the administrator allows {}: lower spec.blocks, durations or the \
             number of sweep points, or make several runs of it",
            duration(seconds),
            duration(most)
        );
        let field = "spec".to_owned();
        return Err(Invalid { field, message });
    }
    Ok(run)
}

/// For how many seconds `run` will probably hold a node, before it has records.
pub fn expected_seconds(run: &ValidatedRun) -> u64 {
    seconds_of(run, run.planned(0))
}

fn seconds_of(run: &ValidatedRun, trials: &[TrialId]) -> u64 {
    let seconds = trials
        .iter()
        .map(|trial| expected_trial_seconds(run, trial));
    seconds.sum()
}
