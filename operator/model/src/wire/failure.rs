//! Why a trial has no measurement, in one vocabulary for the probe, which reports what it saw, and for
//! the operator, which reports what became of the pods. Records keep both.

use std::fmt;

use serde::de::IntoDeserializer as _;
use serde::{Deserialize, Serialize};

/// Why a trial has no measurement.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// One word.
    pub reason: FailureReason,
    /// What happened, what was seen last, and what to do about it.
    pub message: String,
}

impl Failure {
    /// A failure for this reason.
    pub fn new(reason: FailureReason, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { reason, message }
    }
}

/// Why a trial has no measurement, as one word.
#[derive(
    Serialize, Deserialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr,
)]
pub enum FailureReason {
    /// The image cannot be pulled or its name is wrong.
    ImageUnavailable,
    /// The `RuntimeClass` does not exist.
    RuntimeClassNotFound,
    /// The administrator's settings forbid what the variant needs.
    NotAllowed,
    /// A body that a workload sends is not in its `ConfigMap`, or is too large.
    BodyUnavailable,
    /// A body that a workload sends is another than at the beginning of the run.
    BodyChanged,
    /// The records of the run take as much as the administrator allows.
    RecordsFull,
    /// Nothing of the run can be compared any more, and it is to stop there.
    NothingToCompare,
    /// The API server refuses the pod: policy, security level, or a quota too small for any pod of
    /// the variant.
    PodRejected,
    /// The namespace's quota left no room for a pod of a cold start in time.
    QuotaSpent,
    /// The pod does not fit the node.
    Unschedulable,
    /// The container could not be created, or the node cannot run its runtime.
    SubjectNotStarted,
    /// The pod did not run in time, for no reported reason.
    StartTimedOut,
    /// The container ended while it should have been serving.
    SubjectCrashed,
    /// The pod is not the desired one: something changed it on its way.
    SubjectAltered,
    /// The object that the variant scales is not offered to runs, or something else scales it.
    NotOffered,
    /// The owner of the object that the variant scales has taken it back in mid-run.
    TakenBack,
    /// The subject's pod disappeared while the probe was using it.
    SubjectLost,
    /// The pods of a cold start did not go away.
    SubjectNotRemoved,
    /// Nothing accepted a connection, or no answer came, within the ready timeout.
    NeverListened,
    /// Only one of probe and subject speaks TLS, or they do not agree on it.
    TlsMismatch,
    /// Connections are accepted, but no answer was complete in the time allowed for a single one.
    AnswerTooSlow,
    /// The answer is larger than what the probe reads.
    AnswerTooLarge,
    /// The subject answers, but not what is expected.
    WrongAnswer,
    /// The answer after the load is wrong, or differs from the one before it although all must be
    /// the same.
    AnswerChanged,
    /// The answer is not the baseline's, although all variants must give the same.
    ResponseMismatch,
    /// The rate is a share of the baseline's peak, which its scout did not find.
    PeakUnknown,
    /// The lowest rate that follows from the baseline's peak takes longer than the administrator allows.
    PeakTooLow,
    /// The load generator did not run to its end or printed something other than a result.
    LoadFailed,
    /// Every request of the timed window failed.
    NoSuccessfulRequest,
    /// The echo server of the proxy workload cannot run.
    UpstreamUnavailable,
    /// The echo server ended while the trial used it.
    UpstreamLost,
    /// The probe's pod did not run.
    ProbeNotStarted,
    /// The probe's pod is not the desired one.
    ProbeAltered,
    /// The probe's Job exceeded its deadline.
    ProbeDeadlineExceeded,
    /// The probe ended without a readable document.
    ProbeFailed,
    /// The probe did not understand its request: operator and probe do not match.
    BadRequest,
    /// The API server did not answer the probe, or not as it should.
    ClusterUnavailable,
    /// containerd did not answer the probe, or not as it should.
    ContainerdUnavailable,
    /// The image of a cold start may not, or could not, be removed from the node.
    ImageNotRemovable,
    /// The record's measurement cannot be read.
    UnreadableResult,
    /// A word of another version, which wrote the record.
    #[serde(untagged)]
    Unknown(String),
}

impl FailureReason {
    /// The word, as it stands in records.
    pub fn as_str(&self) -> &str {
        if let Self::Unknown(word) = self {
            word
        } else {
            self.into()
        }
    }
}

impl From<&str> for FailureReason {
    fn from(word: &str) -> Self {
        let read: Result<Self, serde::de::value::Error> =
            Self::deserialize(word.into_deserializer());
        read.unwrap_or_else(|_| Self::Unknown(word.to_owned()))
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_parse_back_and_unknown_ones_are_kept() {
        for (word, reason) in [
            ("WrongAnswer", FailureReason::WrongAnswer),
            ("Unknown", FailureReason::Unknown("Unknown".into())),
            ("FellAsleep", FailureReason::Unknown("FellAsleep".into())),
        ] {
            assert_eq!(FailureReason::from(word), reason);
            assert_eq!(reason.to_string(), word);
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(json, format!("\"{word}\""));
            let read: FailureReason = serde_json::from_str(&json).unwrap();
            assert_eq!(read, reason);
        }
    }
}
