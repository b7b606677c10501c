//! The conditions of runs and schedules: their types, what True, False and Unknown mean, and one
//! constructor per meaning, so that call sites read as sentences.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

/// True: the spec is valid. False: it was refused; the message says what to do.
pub const ACCEPTED: &str = "Accepted";
/// True: the run has ended, in whatever way; never reverts. False: it has not.
pub const FINISHED: &str = "Finished";
/// True: every trial has a valid record. False: not every trial could be measured, or the run was
/// refused. Unknown: the run has not ended. Its reason is the STATE column.
pub const SUCCEEDED: &str = "Succeeded";
/// True: there are no doubts about the numbers. False: the message lists every doubt. Unknown:
/// there are no numbers, or the run has not ended; if anything speaks against the numbers so far, the
/// message lists that.
pub const TRUSTWORTHY: &str = "Trustworthy";
/// Present if the spec has expectations. True: all are met. False: at least one is not; the message
/// lists all. Unknown: the data do not decide, or there are no numbers yet.
pub const PASSED: &str = "Passed";
/// On a schedule. True: at least one measure has a lasting change for the worse; the message names
/// measure, run and images. False: none has. Absent until there is a history.
pub const REGRESSED: &str = "Regressed";
/// On a schedule. True: its runs take longer than the time between two of them, so that some are
/// left out, wait or are replaced. False: the last one ended in time. Absent until that is known.
pub const BEHIND: &str = "Behind";
/// kstatus. True until the first pod of the run has started.
pub const RECONCILING: &str = "Reconciling";
/// kstatus. True when the run cannot continue without help.
pub const STALLED: &str = "Stalled";

/// Reason of `Stalled` and `Succeeded` while no node meets a run's demands, and of the end of a run
/// that no node met for too long.
pub const NO_MATCHING_NODE: &str = "NoMatchingNode";
/// Reason of `Trustworthy` while a run goes on, if something speaks against its numbers so far.
pub const DOUBTED_SO_FAR: &str = "DoubtedSoFar";

/// Whether a condition of this type is `True`.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    conditions
        .iter()
        .any(|c| c.type_ == type_ && c.status == "True")
}

/// What speaks against the numbers of a run so far, for people: a line that says since when, then one per
/// reason. `None` for a run without such doubts or that has ended.
pub fn doubts_so_far(conditions: &[Condition]) -> Option<&str> {
    let found = conditions
        .iter()
        .find(|c| c.type_ == TRUSTWORTHY && c.reason == DOUBTED_SO_FAR)?;
    Some(&found.message)
}

/// A condition without its times, which [`merge`] adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The condition's type.
    pub type_: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// One `CamelCase` word.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

/// A condition that is `True`.
pub fn yes(type_: &'static str, reason: &str, message: impl Into<String>) -> Draft {
    draft(type_, "True", reason, message)
}

/// A condition that is `False`.
pub fn no(type_: &'static str, reason: &str, message: impl Into<String>) -> Draft {
    draft(type_, "False", reason, message)
}

/// A condition that is `Unknown`.
pub fn unknown(type_: &'static str, reason: &str, message: impl Into<String>) -> Draft {
    draft(type_, "Unknown", reason, message)
}

fn draft(
    type_: &'static str,
    status: &'static str,
    reason: &str,
    message: impl Into<String>,
) -> Draft {
    Draft {
        type_,
        status,
        reason: reason.to_owned(),
        message: message.into(),
    }
}

/// Builds the conditions to write from `drafts`. A condition whose status did not change keeps its
/// transition time from `old`, unless it begins to say that no node fits: how long that lasts counts.
pub fn merge(
    old: &[Condition],
    drafts: Vec<Draft>,
    generation: Option<i64>,
    now: Timestamp,
) -> Vec<Condition> {
    let one = |draft: Draft| {
        let begins = |c: &Condition| draft.reason == NO_MATCHING_NODE && c.reason != draft.reason;
        let unflipped = old
            .iter()
            .find(|c| c.type_ == draft.type_ && c.status == draft.status && !begins(c));
        Condition {
            last_transition_time: unflipped.map_or(Time(now), |condition| {
                condition.last_transition_time.clone()
            }),
            type_: draft.type_.to_owned(),
            status: draft.status.to_owned(),
            reason: draft.reason,
            message: draft.message,
            observed_generation: generation,
        }
    };
    drafts.into_iter().map(one).collect()
}
