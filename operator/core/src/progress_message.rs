//! What a run says of the trial that it is at, in `status.progress.message`. Whoever follows a run
//! reads there whether something is measured just now.

use crate::wire::record::TrialId;

const MEASURING: &str = "measuring ";
const RECORDING: &str = "recording ";

/// The trial's pods are being started or removed: whoever reads now disturbs nothing.
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

/// Whether a probe is at work by this message.
pub fn is_measuring(message: &str) -> bool {
    message.starts_with(MEASURING)
}

/// The trial whose measurement has begun and has no record yet by this message.
pub fn begun(message: &str) -> Option<TrialId> {
    let mut begins = [MEASURING, RECORDING].into_iter();
    let rest = begins.find_map(|begin| message.strip_prefix(begin))?;
    // Behind the trial may stand how it ended.
    let trial = rest.split(' ').next()?;
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
