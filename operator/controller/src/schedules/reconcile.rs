//! Reconciles one `BenchmarkSchedule`: observe -> check -> step -> act -> report, as with a run.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kube::ResourceExt;
use kube::runtime::controller::Action;
use wasmbench_api::BenchmarkSchedule;
use wasmbench_core::schedule::{
    Cron, ObservedSchedule, ScheduledRun, Step, behind, check, status, step,
};

use super::{act, history, observe, report};
use crate::context::{Context, ScheduleMeta};
use crate::error::{Error, chain};
use crate::guard::guarded;
use crate::show;

/// Longest wait before the next reconcile: a timer lasts two years at most, and the next scheduled
/// time may be four years away.
const LONGEST_WAIT: Duration = Duration::from_hours(30 * 24);

/// The controller's entry point: waits until the open timed windows are over, and guards against
/// hangs and panics, so that one schedule never stops the others.
pub async fn reconcile(
    schedule: Arc<ScheduleMeta>,
    context: Arc<Context>,
) -> Result<Action, Error> {
    // Lateness is counted from here: the operator must not skip a run because of its own silence.
    let woken = context.clock.now();
    context.quiet.over().await;
    let result = Box::pin(guarded(reconcile_schedule(&schedule, woken, &context))).await;
    if result.is_ok() {
        context.backoff.succeeded(&uid_of(&schedule));
    }
    result
}

/// What to do after an error: wait, longer each time.
#[expect(clippy::needless_pass_by_value, reason = "the controller's signature")]
pub fn on_error(schedule: Arc<ScheduleMeta>, error: &Error, context: Arc<Context>) -> Action {
    context.metrics.failed(error.reason());
    let uid = uid_of(&schedule);
    let pause = context.backoff.failed(&uid, false);
    let error = chain(error);
    tracing::warn!(schedule = uid, error, retry_in = ?pause, "reconcile failed");
    Action::requeue(pause)
}

fn uid_of(schedule: &ScheduleMeta) -> String {
    schedule.uid().unwrap_or_default()
}

async fn reconcile_schedule(
    known: &ScheduleMeta,
    woken: Timestamp,
    context: &Context,
) -> Result<Action, Error> {
    let Some(found) = observe::schedule(context, known).await? else {
        context.backoff.succeeded(&uid_of(known));
        return Ok(Action::await_change());
    };
    let schedule = match &found.0 {
        Err(invalid) => return report::undecodable(context, invalid).await,
        Ok(schedule) => schedule,
    };
    let runs = observe::runs(context, schedule).await?;
    match check(schedule, &context.config) {
        Ok(cron) => go_on(schedule, &cron, &runs, woken, context).await,
        Err(invalid) => {
            let drafts = status::refused(&invalid);
            let (nothing, now) = (Step::default(), context.clock.now());
            let new = status::status_of(schedule, &runs, &nothing, drafts, now);
            let shown = Box::pin(show::schedule(context, schedule, &runs, &new)).await;
            report::report(context, schedule, new).await?;
            shown?;
            Ok(Action::await_change())
        }
    }
}

/// Carries out the next step of a valid schedule.
async fn go_on(
    schedule: &BenchmarkSchedule,
    cron: &Cron,
    runs: &[ScheduledRun],
    woken: Timestamp,
    context: &Context,
) -> Result<Action, Error> {
    let created = schedule.creation_timestamp().map_or(woken, |time| time.0);
    let old = schedule.status.as_ref();
    let last = old
        .and_then(|old| old.last_schedule_time.as_ref())
        .map(|time| time.0);
    let observed = ObservedSchedule {
        created,
        last,
        runs,
    };
    let mut step = step(&schedule.spec, cron, observed, woken);
    let kept = history::keep(context, schedule, runs).await;
    if kept.is_err() {
        // A run that is not in the history must not be removed.
        step.expired.clear();
    }
    let acted = act::act(context, schedule, runs, &step).await;
    let errors = [acted.as_ref().err(), kept.as_ref().err()];
    let obstacle = errors
        .into_iter()
        .flatten()
        .find(|error| error.is_for_people());
    let mut drafts = match obstacle {
        Some(error) => status::stalled(error.reason(), &error.to_string()),
        None => status::accepted(),
    };
    drafts.extend(kept.as_ref().ok().cloned().flatten());
    let known = old.map_or(&[][..], |old| old.conditions.as_slice());
    drafts.extend(behind(cron, runs, known, context.clock.now()));
    let done = match &acted {
        Ok(()) => step.clone(),
        // What was not done is picked up by the next reconcile.
        Err(_) => Step {
            start: None,
            replaced: vec![],
            ..step.clone()
        },
    };
    let new = status::status_of(schedule, runs, &done, drafts, context.clock.now());
    let shown = Box::pin(show::schedule(context, schedule, runs, &new)).await;
    let reported = report::report(context, schedule, new).await;
    // The first error is the cause.
    acted.and(kept.map(drop)).and(reported).and(shown)?;
    Ok(action_of(&step, context))
}

fn action_of(step: &Step, context: &Context) -> Action {
    let wait = |time| Action::requeue(context.until(time).min(LONGEST_WAIT));
    step.next.map_or_else(Action::await_change, wait)
}
