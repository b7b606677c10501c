//! The status, written only when it changes, and Events on transitions.

use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::core::error_boundary::InvalidObject;
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;
use wasmbench_api::conditions::Draft;
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus, GROUP, VERSION, conditions};
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Plan, Stage};
use wasmbench_core::validate::{Invalid, ValidatedRun};
use wasmbench_model::quote::shorten;

use crate::context::{Context, NOTE};
use crate::error::Error;
use crate::observe;
use crate::status::{self, Conclusion};

/// Field manager of the status.
pub const MANAGER: &str = "wasmbench-operator";
/// Field manager of the conditions of objects that do not decode.
const UNDECODABLE_MANAGER: &str = "wasmbench-operator-undecodable";
/// Reason in the conditions of objects that do not decode.
pub const UNDECODABLE: &str = "Undecodable";

/// Writes the state of `run` according to `plan`, and the `obstacle`, if any, that keeps it from continuing.
pub async fn report(
    context: &Context,
    run: &BenchmarkRun,
    valid: &ValidatedRun,
    observed: &Observed,
    plan: &Plan,
    obstacle: Option<&Error>,
) -> Result<(), Error> {
    let conclusion = if matches!(plan.stage, Stage::Done | Stage::GaveUp { .. }) {
        let found = observe::found(context, valid).await?;
        let conclusion = Conclusion::from_summary(&found.summary, found.records);
        Some(conclusion.versus(found.versus.as_ref()))
    } else {
        None
    };
    let now = context.clock.now();
    let mut new = status::status_of(run, valid, observed, plan, conclusion.as_ref(), now);
    if let Some(obstacle) = obstacle {
        let draft = conditions::yes(conditions::STALLED, obstacle.reason(), obstacle.to_string());
        let old = run
            .status
            .as_ref()
            .map(|status| status.conditions.as_slice());
        let generation = run.metadata.generation;
        let stalled = conditions::merge(old.unwrap_or_default(), vec![draft], generation, now);
        new.conditions
            .retain(|condition| condition.type_ != conditions::STALLED);
        new.conditions.extend(stalled);
    }
    write(context, run, new).await
}

/// Writes to the status that `run` was refused.
pub async fn rejected(
    context: &Context,
    run: &BenchmarkRun,
    invalid: &Invalid,
) -> Result<(), Error> {
    write(
        context,
        run,
        status::rejected(run, invalid, context.clock.now()),
    )
    .await
}

async fn write(
    context: &Context,
    run: &BenchmarkRun,
    new: BenchmarkRunStatus,
) -> Result<(), Error> {
    if status::same(run.status.as_ref(), &new) {
        return Ok(());
    }
    let api: Api<BenchmarkRun> =
        Api::namespaced(context.client.clone(), &run.namespace().unwrap_or_default());
    // The uid keeps the status of a deleted run off a new one of the same name.
    let patch = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "BenchmarkRun",
        "metadata": { "name": run.name_any(), "uid": run.meta().uid },
        "status": new,
    });
    let params = PatchParams::apply(MANAGER).force();
    match api
        .patch_status(&run.name_any(), &params, &Patch::Apply(&patch))
        .await
    {
        Ok(_) => {}
        // Deleted in the meantime: nobody is left to read it.
        Err(kube::Error::Api(s)) if s.is_not_found() => return Ok(()),
        Err(source) => return Err(Error::Report { source }),
    }
    announce(context, run, &new).await;
    Ok(())
}

/// Publishes an Event when the run ends. Events may get lost; the status never depends on them.
async fn announce(context: &Context, run: &BenchmarkRun, new: &BenchmarkRunStatus) {
    let finished = |conditions: &[_]| conditions::is_true(conditions, conditions::FINISHED);
    let before = run.status.as_ref().is_some_and(|s| finished(&s.conditions));
    if before || !finished(&new.conditions) {
        return;
    }
    let succeeded = new
        .conditions
        .iter()
        .find(|c| c.type_ == conditions::SUCCEEDED);
    let (reason, message) = succeeded.map_or(("Finished", ""), |c| {
        (c.reason.as_str(), c.message.as_str())
    });
    let good = succeeded.is_some_and(|c| c.status == "True");
    let note = match &new.verdict {
        Some(verdict) => format!("{message}. {verdict}"),
        None => message.to_owned(),
    };
    let event = Event {
        type_: if good {
            EventType::Normal
        } else {
            EventType::Warning
        },
        reason: reason.to_owned(),
        note: Some(shorten(&note, NOTE)),
        action: "Measure".into(),
        secondary: None,
    };
    if let Err(error) = context.events.publish(&event, &run.object_ref(&())).await {
        tracing::debug!(error = %error, "an event could not be published");
    }
}

/// Writes to the status of a run that does not decode what is wrong with it.
pub async fn undecodable(context: &Context, invalid: &InvalidObject) -> Result<Action, Error> {
    let message = format!(
        "the object does not fit this operator's API: {}: its results are kept; to measure again, \
         create a new run with the CRD that belongs to the operator",
        invalid.error
    );
    let drafts = vec![
        conditions::no(conditions::ACCEPTED, UNDECODABLE, message.clone()),
        conditions::no(conditions::SUCCEEDED, UNDECODABLE, message.clone()),
        conditions::yes(conditions::FINISHED, UNDECODABLE, "the run was refused"),
        conditions::yes(conditions::STALLED, UNDECODABLE, message),
    ];
    report_undecodable::<BenchmarkRun>(context, invalid, drafts).await
}

/// Writes the conditions of an object that does not decode. It is reconciled again when it changes.
pub async fn report_undecodable<K>(
    context: &Context,
    invalid: &InvalidObject,
    drafts: Vec<Draft>,
) -> Result<Action, Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + DeserializeOwned,
{
    let meta = &invalid.metadata;
    let (Some(namespace), Some(name)) = (&meta.namespace, &meta.name) else {
        return Ok(Action::await_change());
    };
    let kind = K::kind(&());
    tracing::warn!(%kind, namespace, name, error = %invalid.error, "an object does not decode");
    context.metrics.failed(UNDECODABLE);
    let patch = json!({
        "apiVersion": K::api_version(&()),
        "kind": kind,
        "metadata": { "name": name, "uid": meta.uid },
        "status": {
            "observedGeneration": meta.generation,
            "conditions": conditions::merge(&[], drafts, meta.generation, creation(invalid)),
        },
    });
    let api: Api<K> = Api::namespaced(context.client.clone(), namespace);
    // Not as the manager of the status, so that what an earlier version wrote there, including
    // results, stays.
    let params = PatchParams::apply(UNDECODABLE_MANAGER).force();
    // The response is the undecodable object again, so a decoding error means success.
    match api.patch_status(name, &params, &Patch::Apply(&patch)).await {
        Ok(_) | Err(kube::Error::SerdeError(_)) => Ok(Action::await_change()),
        Err(kube::Error::Api(s)) if s.is_not_found() || s.is_conflict() || s.is_invalid() => {
            Ok(Action::await_change())
        }
        Err(source) => Err(Error::Report { source }),
    }
}

/// The time of the conditions: fixed, so that writing them again changes nothing.
fn creation(invalid: &InvalidObject) -> Timestamp {
    invalid
        .metadata
        .creation_timestamp
        .as_ref()
        .map_or(Timestamp::UNIX_EPOCH, |time| time.0)
}
