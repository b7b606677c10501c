//! Why a trial has no measurement, in the operator's words. The probe has reasons of its own
//! ([`wasmbench_model::wire::document::ProbeFailureReason`]); both end up in records.

/// Why a trial has no measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// One word.
    pub reason: String,
    /// What happened, and what to do about it.
    pub message: String,
}

/// The operator's own reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
pub enum FailureReason {
    /// The image cannot be pulled or its name is wrong.
    ImageUnavailable,
    /// The `RuntimeClass` does not exist.
    RuntimeClassNotFound,
    /// The administrator's settings forbid what the variant needs.
    NotAllowed,
    /// The records of the run take as much as the administrator allows.
    RecordsFull,
    /// The API server refuses the pod: policy, quota, security level.
    PodRejected,
    /// The pod does not fit the node.
    Unschedulable,
    /// The container could not be created, or the node cannot run its runtime.
    SubjectNotStarted,
    /// The pod did not run in time, for no reported reason.
    StartTimedOut,
    /// The container ended while it should have been serving.
    SubjectCrashed,
    /// The pod is not the one that was asked for: something changed it on its way.
    SubjectAltered,
    /// The subject's pod disappeared while the probe was using it.
    SubjectLost,
    /// The answer is not the baseline's, although all variants must give the same.
    ResponseMismatch,
    /// The echo server of the proxy workload cannot run.
    UpstreamUnavailable,
    /// The echo server ended while the trial used it.
    UpstreamLost,
    /// The probe's pod did not run.
    ProbeNotStarted,
    /// The probe's pod is not the one that was asked for.
    ProbeAltered,
    /// The probe's Job exceeded its deadline.
    ProbeDeadlineExceeded,
    /// The probe ended without a readable document.
    ProbeFailed,
}

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

impl Failure {
    /// A failure with one of the operator's own reasons.
    pub fn new(reason: FailureReason, message: impl Into<String>) -> Self {
        Self {
            reason: <&'static str>::from(reason).into(),
            message: message.into(),
        }
    }
}

/// How far a failure with this reason reaches.
pub fn scope(reason: &str) -> Scope {
    use FailureReason as R;
    match reason.parse::<FailureReason>() {
        Ok(R::ProbeNotStarted | R::ProbeAltered | R::RecordsFull) => Scope::Run,
        Ok(R::UpstreamUnavailable) => Scope::Upstream,
        Ok(
            R::ImageUnavailable
            | R::RuntimeClassNotFound
            | R::NotAllowed
            | R::PodRejected
            | R::SubjectAltered
            | R::SubjectNotStarted,
        ) => Scope::Variant,
        Ok(
            R::Unschedulable
            | R::StartTimedOut
            | R::SubjectCrashed
            | R::SubjectLost
            | R::ResponseMismatch
            | R::UpstreamLost
            | R::ProbeDeadlineExceeded
            | R::ProbeFailed,
        )
        | Err(_) => Scope::Trial,
    }
}
