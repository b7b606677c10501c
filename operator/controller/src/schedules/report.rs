//! The status of a schedule, written only when it changes, and Events on transitions.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Patch, PatchParams};
use kube::core::error_boundary::InvalidObject;
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType};
use kube::{Api, Resource, ResourceExt};
use serde_json::json;
use wasmbench_api::schedule::LeftOutTime;
use wasmbench_api::{BenchmarkSchedule, BenchmarkScheduleStatus, GROUP, VERSION, conditions};
use wasmbench_core::schedule::LeftOut;

use crate::context::{Context, NOTE};
use crate::error::Error;
use crate::report::{MANAGER, UNDECODABLE, report_undecodable};

/// Writes `new`, and publishes Events about what has changed.
pub async fn report(
    context: &Context,
    schedule: &BenchmarkSchedule,
    new: BenchmarkScheduleStatus,
) -> Result<(), Error> {
    if schedule.status.as_ref() == Some(&new) {
        return Ok(());
    }
    let name = schedule.name_any();
    let namespace = schedule.namespace().unwrap_or_default();
    let api: Api<BenchmarkSchedule> = Api::namespaced(context.client.clone(), &namespace);
    // The uid keeps the status of a deleted schedule off a new one of the same name.
    let patch = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "BenchmarkSchedule",
        "metadata": { "name": name, "uid": schedule.uid() },
        "status": new,
    });
    let params = PatchParams::apply(MANAGER).force();
    match api
        .patch_status(&name, &params, &Patch::Apply(&patch))
        .await
    {
        Ok(_) => {}
        // Deleted in the meantime, or deleted and recreated: nobody is left to read it.
        Err(kube::Error::Api(s)) if s.is_not_found() || s.is_conflict() => return Ok(()),
        Err(source) => return Err(Error::Report { source }),
    }
    announce_changes(context, schedule, &new).await;
    Ok(())
}

async fn announce_changes(
    context: &Context,
    schedule: &BenchmarkSchedule,
    new: &BenchmarkScheduleStatus,
) {
    let old = schedule.status.clone().unwrap_or_default();
    if let Some(left_out) = new
        .left_out
        .as_ref()
        .filter(|_| new.left_out != old.left_out)
    {
        let note = format!("no run starts for {}: {}", left_out.time.0, why(left_out));
        let kind = (EventType::Warning, left_out.reason.as_str());
        announce(context, schedule, kind, note).await;
    }
    let stalled = |conditions: &[Condition]| {
        let mut conditions = conditions.iter();
        let found = conditions.find(|condition| condition.type_ == conditions::STALLED)?;
        Some((found.reason.clone(), found.message.clone()))
    };
    let (before, now) = (stalled(&old.conditions), stalled(&new.conditions));
    if let Some((reason, message)) = now.filter(|now| before.as_ref() != Some(now)) {
        let kind = (EventType::Warning, reason.as_str());
        announce(context, schedule, kind, message).await;
    }
}

fn why(left_out: &LeftOutTime) -> &'static str {
    let is = |why: LeftOut| left_out.reason == <&str>::from(why);
    if is(LeftOut::AlreadyActive) {
        "an earlier run goes on, and concurrencyPolicy is Forbid"
    } else if is(LeftOut::TooManyActive) {
        "as many runs of the schedule go on as may be active"
    } else {
        "it is longer ago than startingDeadlineSeconds"
    }
}

/// Publishes an Event of this type and reason. Events may get lost; nothing depends on them.
pub async fn announce(
    context: &Context,
    schedule: &BenchmarkSchedule,
    (type_, reason): (EventType, &str),
    note: String,
) {
    let event = Event {
        type_,
        reason: reason.to_owned(),
        note: Some(note.chars().take(NOTE).collect()),
        action: "Schedule".into(),
        secondary: None,
    };
    let about = schedule.object_ref(&());
    if let Err(error) = context.events.publish(&event, &about).await {
        tracing::debug!(error = %error, "an event could not be published");
    }
}

/// Writes to the status of a schedule that does not decode what is wrong with it.
pub async fn undecodable(context: &Context, invalid: &InvalidObject) -> Result<Action, Error> {
    let message = format!(
        "the object does not fit this operator's API: {}: it starts no runs; apply it again with \
         the CRD that belongs to the operator",
        invalid.error
    );
    let drafts = vec![
        conditions::no(conditions::ACCEPTED, UNDECODABLE, message.clone()),
        conditions::yes(conditions::STALLED, UNDECODABLE, message),
    ];
    report_undecodable::<BenchmarkSchedule>(context, invalid, drafts).await
}
