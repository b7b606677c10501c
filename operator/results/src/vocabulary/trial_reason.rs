//! Why a trial is not in the numbers: it has no measurement, or one that is doubted.

use std::fmt;

use wasmbench_model::wire::failure::FailureReason;

use crate::vocabulary::doubt::Reason;

/// Why a trial is not in the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialReason {
    /// It was measured, and its numbers are not believed.
    Doubt(Reason),
    /// It failed or was skipped.
    Failure(FailureReason),
}

impl TrialReason {
    /// The doubt about a whole point that follows.
    pub fn doubt(&self) -> Option<Reason> {
        use FailureReason as R;
        let failure = match self {
            Self::Doubt(reason) => return Some(*reason),
            Self::Failure(failure) => failure,
        };
        match failure {
            R::ResponseMismatch | R::WrongAnswer | R::AnswerChanged => {
                Some(Reason::ResponseMismatch)
            }
            R::NoSuccessfulRequest => Some(Reason::ErrorsInLoad),
            R::ImageUnavailable
            | R::RuntimeClassNotFound
            | R::NotAllowed
            | R::RecordsFull
            | R::NothingToCompare
            | R::BodyUnavailable
            | R::BodyChanged
            | R::PodRejected
            | R::QuotaSpent
            | R::Unschedulable
            | R::SubjectNotStarted
            | R::StartTimedOut
            | R::SubjectCrashed
            | R::SubjectAltered
            | R::NotOffered
            | R::TakenBack
            | R::SubjectLost
            | R::SubjectNotRemoved
            | R::NeverListened
            | R::TlsMismatch
            | R::AnswerTooSlow
            | R::AnswerTooLarge
            | R::LoadFailed
            | R::UpstreamUnavailable
            | R::UpstreamLost
            | R::ProbeNotStarted
            | R::ProbeAltered
            | R::ProbeDeadlineExceeded
            | R::ProbeFailed
            | R::BadRequest
            | R::ClusterUnavailable
            | R::ContainerdUnavailable
            | R::ImageNotRemovable
            | R::UnreadableResult
            | R::PeakUnknown
            | R::PeakTooLow
            | R::Unknown(_) => None,
        }
    }

    /// The word, as it stands in summaries.
    pub fn word(&self) -> &str {
        match self {
            Self::Doubt(reason) => reason.into(),
            Self::Failure(failure) => failure.as_str(),
        }
    }
}

impl From<&FailureReason> for TrialReason {
    fn from(reason: &FailureReason) -> Self {
        Self::Failure(reason.clone())
    }
}

impl fmt::Display for TrialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
