//! Reconciles one `BenchmarkRun`: validate -> observe -> plan -> act -> report. Only `observe`,
//! `act` and `report` hold a client; `validate` and `plan` are pure and hold every rule.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kube::core::error_boundary::InvalidObject;
use kube::runtime::controller::Action;
use wasmbench_api::BenchmarkRun;
use wasmbench_core::admit::admit;
use wasmbench_core::lifetime::expires_at;
use wasmbench_core::observed::{Observed, RunName};
use wasmbench_core::plan::{Plan, Stage, Wake, plan};
use wasmbench_core::validate::ValidatedRun;

use crate::context::{Context, GuardedRun, meta_of};
use crate::error::{Error, chain};
use crate::guard::{TIMEOUT, guarded};
use crate::{act, observe, remove, report, show, sweep};

/// How often a run looks whether the queue knows it. One that holds its node is not woken.
const UNPLACED: Duration = Duration::from_secs(2);
/// How often a run that no node takes reads the objects that it scales.
const OBJECTS_CHECK: Duration = Duration::from_mins(1);
/// How often to look whether an object is back at 0 replicas, before its node is released.
const BACK_CHECK: Duration = Duration::from_secs(1);

/// The controller's entry point: guards against objects that do not decode, hangs and panics, so
/// that one run never stops the others.
pub async fn reconcile(run: Arc<GuardedRun>, context: Arc<Context>) -> Result<Action, Error> {
    let started = Instant::now();
    let result = match &run.0 {
        Err(invalid) => Box::pin(guarded(undecodable(invalid, &context))).await,
        // On the heap: the future holds the state of everything that a reconcile may do.
        Ok(run) => Box::pin(guarded(reconcile_run(run, &context))).await,
    };
    context.metrics.reconciled(started.elapsed());
    let uid = uid_of(&run);
    let was_lasting = context.backoff.is_lasting(&uid);
    if result.is_ok() {
        context.backoff.succeeded(&uid);
        if was_lasting {
            // The queue has passed it over so far.
            context.turns.have_changed();
        }
    } else if was_lasting {
        release_node(&run, &context).await;
    }
    result
}

/// What to do after an error: wait, longer each time.
#[expect(clippy::needless_pass_by_value, reason = "the controller's signature")]
pub fn on_error(run: Arc<GuardedRun>, error: &Error, context: Arc<Context>) -> Action {
    context.metrics.failed(error.reason());
    let uid = uid_of(&run);
    let pause = context.backoff.failed(&uid, error.is_for_people());
    tracing::warn!(run = uid, error = chain(error), retry_in = ?pause, "reconcile failed");
    Action::requeue(pause)
}

/// Releases the node of a run that keeps failing, whatever the error is: it must not block others.
async fn release_node(run: &GuardedRun, context: &Context) {
    let Ok(run) = &run.0 else { return };
    let run = sweep::run_of(&run.metadata);
    let released = tokio::time::timeout(TIMEOUT, released(&run, context)).await;
    if let Ok(Err(error)) = released {
        tracing::warn!(
            run = run.uid,
            error = chain(&error),
            "could not release the node"
        );
    }
}

/// The same, once the object that the run has scaled up is as before.
async fn released(run: &RunName, context: &Context) -> Result<(), Error> {
    loop {
        match sweep::release_node(context, run).await {
            Err(Error::OnItsWayBack { .. }) => tokio::time::sleep(BACK_CHECK).await,
            other => return other,
        }
    }
}

fn uid_of(run: &GuardedRun) -> String {
    meta_of(run).uid.clone().unwrap_or_default()
}

/// A run that does not decode can have been one that measures, before an update.
async fn undecodable(invalid: &InvalidObject, context: &Context) -> Result<Action, Error> {
    sweep::run_is_gone(context, &sweep::run_of(&invalid.metadata)).await?;
    report::undecodable(context, invalid).await
}

/// The five verbs.
async fn reconcile_run(run: &BenchmarkRun, context: &Context) -> Result<Action, Error> {
    let this = sweep::run_of(&run.metadata);
    if run.metadata.deletion_timestamp.is_some() {
        return sweep::run_is_gone(context, &this)
            .await
            .map(|()| Action::await_change());
    }
    if run.is_finished() {
        return finished(run, context).await;
    }
    let valid = match admit(run, &context.config) {
        Ok(valid) => valid,
        Err(invalid) => {
            sweep::run_is_gone(context, &this).await?;
            report::rejected(context, run, &invalid).await?;
            return Ok(Action::await_change());
        }
    };
    let stands = know_templates(&valid, context).await?;
    if !stands || (may_wait(run) && !context.turns.know(&valid.uid)) {
        // The queue wakes it when it has a place.
        return Ok(Action::requeue(UNPLACED));
    }
    // Before anything is read: after a pause in between, every deadline would seem exceeded.
    let now = context.clock.now();
    let Some(observed) = Box::pin(observed(run, &valid, context)).await? else {
        return sweep::run_is_gone(context, &this)
            .await
            .map(|()| Action::await_change());
    };
    let plan = plan(&valid, &observed, now);
    if only_waits(&plan) {
        context.turns.settle(&valid.uid);
    } else {
        context.turns.unsettle(&valid.uid);
    }
    // One that was resumed before it had released its node measures at once.
    if matches!(plan.stage, Stage::Queued { .. } | Stage::Measuring { .. }) {
        context.join_queue(&valid.uid);
    }
    // Also where the node was taken away while a probe measured.
    if matches!(plan.stage, Stage::Queued { .. } | Stage::Suspended) {
        context.quiet.end(&valid.uid);
    }
    // A probe starts a timed window, in which nothing is written: the status goes first.
    let done = if plan.starts_probe() {
        report::report(context, run, &valid, &observed, &plan, None).await?;
        act::act(context, &valid, &observed, &plan).await?
    } else {
        let acted = act::act(context, &valid, &observed, &plan).await;
        let obstacle = acted.as_ref().err().filter(|error| error.is_for_people());
        let reported = report::report(context, run, &valid, &observed, &plan, obstacle).await;
        // The first error is the cause.
        let done = acted?;
        reported.map(|()| done)?
    };
    Ok(match done {
        ControlFlow::Continue(()) => action_of(&plan, &valid, context),
        ControlFlow::Break(()) => Action::requeue(Duration::ZERO),
    })
}

/// Reads, for the queue, which nodes the objects demand that the run scales: once, and while no node takes
/// the run, again. Returns whether its turn stands; if not, the queue works out another one.
async fn know_templates(run: &ValidatedRun, context: &Context) -> Result<bool, Error> {
    let known = context.templates(&run.uid);
    if !scales(run) || (known.is_some() && !context.turns.lacks_node(&run.uid)) {
        return Ok(true);
    }
    let templates = observe::templates(context, run).await?;
    let stands = known.is_none_or(|known| known == templates);
    if !stands {
        context.turns.forget(&run.uid);
    }
    context.note_templates(&run.uid, &templates);
    Ok(stands)
}

fn scales(run: &ValidatedRun) -> bool {
    let mut variants = run.variants.iter();
    variants.any(|variant| variant.subject.target.is_some())
}

/// Whether the run is new, or was not in a trial when its status was written.
fn may_wait(run: &BenchmarkRun) -> bool {
    let status = run.status.as_ref();
    let progress = status.and_then(|status| status.progress.as_ref());
    !run.spec.suspend && progress.is_none_or(|progress| progress.trial.is_none())
}

/// What is seen for the run; `None` if it is gone.
async fn observed(
    run: &BenchmarkRun,
    valid: &ValidatedRun,
    context: &Context,
) -> Result<Option<Observed>, Error> {
    if let Some(waiting) = observe::waiting(context, run, valid) {
        return Ok(Some(waiting));
    }
    context.turns.look(&valid.uid);
    let this = sweep::run_of(&run.metadata);
    let (observed, lives) = futures::try_join!(
        observe::observe(context, run, valid),
        sweep::lives(context, &this),
    )?;
    // The watch may lag behind, and nobody would release what a deleted run claims now.
    Ok(lives.then_some(observed))
}

/// Whether the run waits for a node and has nothing in the cluster.
fn only_waits(plan: &Plan) -> bool {
    let waits = matches!(plan.stage, Stage::Queued { .. }) && plan.wake == Wake::OnChange;
    waits && plan.steps.is_empty() && plan.completed == 0
}

fn action_of(plan: &Plan, run: &ValidatedRun, context: &Context) -> Action {
    // No watch shows that an object was changed so that a node takes the run.
    let looks = scales(run) && context.turns.lacks_node(&run.uid);
    let pause = match plan.wake {
        Wake::Now => Some(Duration::ZERO),
        Wake::At(time) => Some(context.until(time)),
        Wake::OnChange => None,
    };
    let pauses = [pause, looks.then_some(OBJECTS_CHECK)];
    let next = pauses.into_iter().flatten().min();
    next.map_or_else(Action::await_change, Action::requeue)
}

/// A finished run expires, and is in `/metrics` if its label requests that.
async fn finished(run: &BenchmarkRun, context: &Context) -> Result<Action, Error> {
    let action = expire(run, context).await?;
    let silence = Box::pin(show::run(context, run)).await?;
    Ok(silence.map_or(action, Action::requeue))
}

/// Deletes a finished run when its time has come.
async fn expire(run: &BenchmarkRun, context: &Context) -> Result<Action, Error> {
    match expires_at(run, &context.config.limits) {
        None => Ok(Action::await_change()),
        Some(time) if time > context.clock.now() => Ok(Action::requeue(context.until(time))),
        Some(_) => remove::delete_run(context, &run.metadata)
            .await
            .map(|()| Action::await_change()),
    }
}
