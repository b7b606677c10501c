//! What a run says of the trial that it is at, in `status.progress.message`. Whoever follows a run reads there whether
//! something is measured just now.

use crate::wire::record::TrialId;

const MEASURING: &str = "measuring ";

/// The trial's pods are being started or removed: whoever reads now disturbs nothing.
pub fn preparing(trial: &TrialId) -> String {
    format!("preparing {trial}")
}

/// The trial's probe is at work.
pub fn measuring(trial: &TrialId) -> String {
    format!("{MEASURING}{trial}")
}

/// The trial whose probe is at work, of such a message.
pub fn measured(message: &str) -> Option<TrialId> {
    message.strip_prefix(MEASURING)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_is_measured_is_read_back_and_others_are_not() {
        let trial: TrialId = "native/hello/throughput-c50/b3".parse().unwrap();
        assert_eq!(measured(&measuring(&trial)), Some(trial.clone()));
        assert_eq!(measured(&preparing(&trial)), None);
        assert_eq!(measured("waiting for a node"), None);
    }
}
