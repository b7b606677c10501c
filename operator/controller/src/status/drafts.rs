//! The conditions of a run, at each stage and for its conclusion.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::conditions::{self, Draft, no, unknown, yes};
use wasmbench_core::plan::{Plan, Stage};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_results::judge::expectations::{Decision, Fulfilment, overall};
use wasmbench_results::summary::trust::Trust;

use crate::status::{Conclusion, truncate};

/// The conditions of a run that was accepted and has `total` trials without its scouts. While it goes on,
/// `doubts` speak against its numbers.
pub fn drafts(
    valid: &ValidatedRun,
    total: usize,
    plan: &Plan,
    conclusion: Option<&Conclusion>,
    doubts: Option<&str>,
) -> Vec<Draft> {
    let accepted = yes(conditions::ACCEPTED, "Valid", "the spec was understood");
    let mut drafts = vec![accepted];
    drafts.extend(outcome(total, &plan.stage, conclusion, doubts));
    let is_over = matches!(plan.stage, Stage::Done | Stage::GaveUp { .. });
    let concluded = conclusion.filter(|_| is_over);
    drafts.extend(passed(&valid.spec, concluded));
    drafts.push(reconciling(plan));
    drafts.push(stalled(&plan.stage));
    drafts
}

/// Whether the run has ended, and how.
fn outcome(
    total: usize,
    stage: &Stage,
    conclusion: Option<&Conclusion>,
    doubts: Option<&str>,
) -> Vec<Draft> {
    let pending = |reason: &str, message: &str| pending(reason, message, doubts);
    match (stage, conclusion) {
        (Stage::Queued { message }, _) => pending("Queued", message),
        (Stage::Measuring { message, .. }, _) => pending("Measuring", message),
        (Stage::Suspended, _) => {
            let message = "suspended: set spec.suspend to false to go on";
            pending("Suspended", message)
        }
        (Stage::NoNode { message }, _) => pending(conditions::NO_MATCHING_NODE, message),
        (Stage::Done, Some(conclusion)) => concluded(total, conclusion),
        (Stage::GaveUp { message }, Some(conclusion)) => gave_up(message, total, conclusion),
        (Stage::Summarising { message }, _) => pending("Summarising", message),
        (Stage::Done | Stage::GaveUp { .. }, _) => pending("Summarising", "writing the report"),
    }
}

fn pending(reason: &str, message: &str, doubts: Option<&str>) -> Vec<Draft> {
    let (trust, so_far) = match doubts {
        Some(doubts) => (conditions::DOUBTED_SO_FAR, doubts),
        None => ("NoResult", "there are no numbers yet"),
    };
    vec![
        no(conditions::FINISHED, reason, "the run has not ended"),
        unknown(conditions::SUCCEEDED, reason, truncate(message)),
        unknown(conditions::TRUSTWORTHY, trust, so_far),
    ]
}

fn reconciling(plan: &Plan) -> Draft {
    let preparing = matches!(plan.stage, Stage::Queued { .. }) && plan.completed == 0;
    if preparing {
        yes(
            conditions::RECONCILING,
            "Preparing",
            "no pod of the run has started yet",
        )
    } else if matches!(plan.stage, Stage::Done | Stage::GaveUp { .. }) {
        no(conditions::RECONCILING, "Finished", "the run has ended")
    } else {
        no(conditions::RECONCILING, "Started", "the run has started")
    }
}

fn stalled(stage: &Stage) -> Draft {
    match stage {
        Stage::NoNode { message } | Stage::GaveUp { message } => yes(
            conditions::STALLED,
            conditions::NO_MATCHING_NODE,
            truncate(message),
        ),
        Stage::Done => no(conditions::STALLED, "Finished", "the run has ended"),
        Stage::Suspended => no(conditions::STALLED, "Suspended", "the user stopped the run"),
        Stage::Queued { .. } | Stage::Measuring { .. } | Stage::Summarising { .. } => {
            no(conditions::STALLED, "Progressing", "nothing is in the way")
        }
    }
}

/// No node met the run's demands for too long.
fn gave_up(message: &str, total: usize, conclusion: &Conclusion) -> Vec<Draft> {
    let reason = conditions::NO_MATCHING_NODE;
    let message = format!(
        "{} of {total} trials were measured: {message}",
        conclusion.measured
    );
    vec![
        yes(conditions::FINISHED, reason, "the run has ended"),
        no(conditions::SUCCEEDED, reason, truncate(&message)),
        trustworthy(conclusion),
    ]
}

fn concluded(total: usize, conclusion: &Conclusion) -> Vec<Draft> {
    let precision = conclusion.precision.as_ref();
    let precision = precision.map_or_else(String::new, |found| format!("; {}", found.message));
    let finished = yes(
        conditions::FINISHED,
        "Completed",
        "every trial has a record",
    );
    let succeeded = if conclusion.measured == total {
        yes(
            conditions::SUCCEEDED,
            "Completed",
            format!("all {total} trials were measured{precision}"),
        )
    } else if conclusion.measured == 0 {
        let message =
            "no trial has a valid measurement: see status.skipped and the report for the reasons";
        no(conditions::SUCCEEDED, "NothingMeasured", message)
    } else {
        let message = format!(
            "{} of {total} trials have a valid measurement: see status.skipped and the report for \
             the others{precision}",
            conclusion.measured
        );
        no(conditions::SUCCEEDED, "Incomplete", message)
    };
    vec![finished, succeeded, trustworthy(conclusion)]
}

fn trustworthy(conclusion: &Conclusion) -> Draft {
    match &conclusion.trust {
        Trust::NoNumbers => unknown(conditions::TRUSTWORTHY, "NoResult", "nothing was measured"),
        Trust::Yes(message) => yes(conditions::TRUSTWORTHY, "NoDoubts", message.clone()),
        Trust::No { reason, message } => no(conditions::TRUSTWORTHY, reason, message.clone()),
    }
}

/// The gate, where the spec has one: every expectation with its outcome, one per line.
pub fn passed(spec: &BenchmarkRunSpec, conclusion: Option<&Conclusion>) -> Option<Draft> {
    if spec.expectations.is_empty() {
        return None;
    }
    let decisions = conclusion.map_or(&[][..], |conclusion| &conclusion.expectations);
    let line = |decision: &Decision| {
        let Decision { name, message, .. } = decision;
        format!("{}: {name}: {message}.", decision.outcome.text())
    };
    let message = decisions.iter().map(line).collect::<Vec<_>>().join("\n");
    Some(match overall(decisions) {
        None => unknown(conditions::PASSED, "NoResult", "there are no numbers yet"),
        Some(Fulfilment::Met) => yes(conditions::PASSED, "ExpectationsMet", message),
        Some(Fulfilment::NotMet) => no(conditions::PASSED, "ExpectationNotMet", message),
        Some(Fulfilment::Undecided) => unknown(conditions::PASSED, "Undecided", message),
    })
}
