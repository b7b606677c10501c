//! Whether a schedule keeps up: whether its runs end before the next one is due.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use wasmbench_api::conditions::{self, Draft};

use super::cron::Cron;
use super::observed::ScheduledRun;

/// The condition `Behind` at `now`; `None` until it is known. What was `known` before stands until a
/// run shows otherwise: whenever a run has just begun, nothing is known of it yet.
pub fn behind(
    cron: &Cron,
    runs: &[ScheduledRun],
    known: &[Condition],
    now: Timestamp,
) -> Option<Draft> {
    let mut latest: Vec<&ScheduledRun> = runs.iter().collect();
    latest.sort_by_key(|run| std::cmp::Reverse(run.due));
    let shown = latest.iter().find_map(|run| shown_by(cron, run, now));
    shown.or_else(|| known_before(known))
}

/// What a run shows; `None` if it may still end in time.
fn shown_by(cron: &Cron, run: &ScheduledRun, now: Timestamp) -> Option<Draft> {
    let name = &run.name;
    // A run that starts late has until the time after that.
    let next = cron.after(run.due.max(run.started))?;
    let ended = run.ended.map(|_| run.completed.unwrap_or(run.started));
    match ended {
        Some(ended) if ended <= next => Some(conditions::no(
            conditions::BEHIND,
            "InTime",
            format!("{name} ended before the next run was due"),
        )),
        None if now < next => None,
        Some(_) | None => Some(conditions::yes(
            conditions::BEHIND,
            "RunsTakeLonger",
            format!(
                "{name} had not ended when the next run was due, at {}: runs take longer than the time between them. \
                 Have spec.schedule start them less often, or shorten the run (blocks, sweeps, variants)",
                cron.format(next)
            ),
        )),
    }
}

fn known_before(known: &[Condition]) -> Option<Draft> {
    let found = known.iter().find(|one| one.type_ == conditions::BEHIND)?;
    let (reason, message) = (&found.reason, found.message.clone());
    Some(match found.status.as_str() {
        "True" => conditions::yes(conditions::BEHIND, reason, message),
        _ => conditions::no(conditions::BEHIND, reason, message),
    })
}
