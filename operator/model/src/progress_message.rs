//! What a run says about its current trial, in `status.progress.message`. Whoever follows a run can
//! see there whether something is being measured right now.

use crate::wire::record::TrialId;

const MEASURING: &str = "measuring ";
const RECORDING: &str = "recording ";

/// The trial's pods are being started or removed: reading from the cluster now disturbs nothing.
pub fn preparing(trial: &TrialId) -> String {
    format!("preparing {trial}")
}

/// The trial's probe is at work.
pub fn measuring(trial: &TrialId) -> String {
    format!("{MEASURING}{trial}")
}

/// The trial's probe has ended, and its record is being stored.
pub fn recording(trial: &TrialId) -> String {
    format!("{RECORDING}{trial}")
}

/// Whether a probe is at work according to this message.
pub fn is_measuring(message: &str) -> bool {
    message.starts_with(MEASURING)
}

/// The trial that, according to this message, has begun measuring and has no record yet.
pub fn begun(message: &str) -> Option<TrialId> {
    let mut begins = [MEASURING, RECORDING].into_iter();
    let rest = begins.find_map(|begin| message.strip_prefix(begin))?;
    // How the trial ended, or what is left out, may follow it.
    let trial = rest.split([' ', ';']).next()?;
    trial.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_has_begun_is_read_back_and_others_are_not() {
        let trial: TrialId = "native/hello/throughput-c50/b3".parse().unwrap();
        let failed = recording(&trial) + " as failed: SubjectCrashed";
        for message in [measuring(&trial), recording(&trial), failed] {
            assert_eq!(begun(&message), Some(trial.clone()), "{message}");
        }
        for message in [preparing(&trial), "waiting for a node".into()] {
            assert_eq!(begun(&message), None, "{message}");
        }
        assert!(is_measuring(&measuring(&trial)));
        assert!(!is_measuring(&recording(&trial)));
    }
}
