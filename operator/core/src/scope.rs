//! How far a failure reaches: what need not be tried any more after it.

use wasmbench_model::wire::failure::FailureReason;

/// How far a failure reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole run: no trial can work.
    Run,
    /// Every trial that needs the echo server.
    Upstream,
    /// The variant: its pod cannot work under any workload.
    Variant,
    /// The trial, and after a second failure, or a sure one, its variant under this workload.
    Trial,
}

/// How far a failure with this reason reaches.
pub fn scope(reason: &FailureReason) -> Scope {
    use FailureReason as R;
    match reason {
        R::ProbeNotStarted
        | R::ProbeAltered
        | R::RecordsFull
        | R::BodyUnavailable
        | R::BodyChanged => Scope::Run,
        R::UpstreamUnavailable => Scope::Upstream,
        R::ImageUnavailable
        | R::RuntimeClassNotFound
        | R::NotAllowed
        | R::PodRejected
        | R::SubjectAltered
        | R::NotOffered
        | R::TakenBack
        | R::SubjectNotStarted => Scope::Variant,
        R::QuotaSpent
        | R::Unschedulable
        | R::StartTimedOut
        | R::SubjectCrashed
        | R::SubjectLost
        | R::SubjectNotRemoved
        | R::NeverListened
        | R::TlsMismatch
        | R::AnswerTooSlow
        | R::AnswerTooLarge
        | R::WrongAnswer
        | R::AnswerChanged
        | R::ResponseMismatch
        | R::PeakUnknown
        | R::PeakTooLow
        | R::NothingToCompare
        | R::LoadFailed
        | R::NoSuccessfulRequest
        | R::UpstreamLost
        | R::ProbeDeadlineExceeded
        | R::ProbeFailed
        | R::BadRequest
        | R::ClusterUnavailable
        | R::ContainerdUnavailable
        | R::ImageNotRemovable
        | R::UnreadableResult
        | R::Unknown(_) => Scope::Trial,
    }
}
