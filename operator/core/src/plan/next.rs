//! What happens to a trial next.

use wasmbench_api::status::TrialPhase;
use wasmbench_model::wire::record::TrialId;

use crate::plan::{Step, Wake};

/// What happens to a trial next.
pub(super) struct Next {
    /// What to do; `None` while something is waited for.
    pub step: Option<Step>,
    /// Where the trial is.
    pub phase: TrialPhase,
    /// The same for people.
    pub message: String,
    /// When to look again if nothing happens.
    pub wake: Wake,
}

impl Next {
    /// The trial's pods start or go.
    pub fn preparing(trial: &TrialId, wake: Wake) -> Self {
        Self::waiting(format!("preparing {trial}"), wake)
    }

    /// The trial waits for something, or for what makes way for it.
    pub fn waiting(message: impl Into<String>, wake: Wake) -> Self {
        Self {
            step: None,
            phase: TrialPhase::Preparing,
            message: message.into(),
            wake,
        }
    }

    /// The trial's probe is at work.
    pub fn measuring(trial: &TrialId, wake: Wake) -> Self {
        Self {
            step: None,
            phase: TrialPhase::Measuring,
            message: format!("measuring {trial}"),
            wake,
        }
    }

    /// The trial has ended, and `step` stores its record.
    pub fn recording(trial: &TrialId, step: Step) -> Self {
        Self {
            step: Some(step),
            phase: TrialPhase::Recording,
            message: format!("recording {trial}"),
            wake: Wake::Now,
        }
    }

    /// The same, by this step.
    pub fn by(self, step: Step) -> Self {
        Self {
            step: Some(step),
            ..self
        }
    }
}
