//! Carries out a step: deletes replaced runs, starts the run that is due, removes expired runs.
//! Each action can be repeated.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::runtime::events::EventType;
use kube::{Api, ResourceExt};
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule};
use wasmbench_core::schedule::{ScheduledRun, Step, run_of};

use super::report::announce;
use crate::context::Context;
use crate::error::Error;
use crate::remove::delete_run;

/// Carries out `step` of `schedule`, whose runs are `runs`.
pub async fn act(
    context: &Context,
    schedule: &BenchmarkSchedule,
    runs: &[ScheduledRun],
    step: &Step,
) -> Result<(), Error> {
    for name in &step.replaced {
        remove(context, schedule, runs, name).await?;
        let note = format!("deleted run {name}, which had not finished: the next one is due");
        announce(context, schedule, (EventType::Normal, "Replaced"), note).await;
    }
    if let Some(due) = step.start {
        let run = run_of(schedule, due);
        if start(context, schedule, &run).await? {
            let note = format!("started run {}, due at {due}", run.name_any());
            announce(context, schedule, (EventType::Normal, "RunStarted"), note).await;
        }
    }
    for name in &step.expired {
        remove(context, schedule, runs, name).await?;
    }
    Ok(())
}

async fn remove(
    context: &Context,
    schedule: &BenchmarkSchedule,
    runs: &[ScheduledRun],
    name: &str,
) -> Result<(), Error> {
    let run = runs.iter().find(|run| run.name == name);
    let meta = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: schedule.namespace(),
        uid: run.map(|run| run.uid.clone()),
        ..ObjectMeta::default()
    };
    delete_run(context, &meta).await
}

/// Starts `run`, and returns whether it is new: an earlier reconcile may have started it already.
async fn start(
    context: &Context,
    schedule: &BenchmarkSchedule,
    run: &BenchmarkRun,
) -> Result<bool, Error> {
    let (name, namespace) = (run.name_any(), run.namespace().unwrap_or_default());
    let api: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), &namespace);
    match api.create(&PostParams::default(), run).await {
        // The response is the run as stored, which may not decode if the CRD is newer.
        Ok(_) | Err(kube::Error::SerdeError(_)) => Ok(true),
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let found = api.get_metadata_opt(&name).await;
            let found = found.map_err(|source| failed(&name, source))?;
            let uid = schedule.uid().unwrap_or_default();
            match found {
                Some(found) if !belongs_to::<BenchmarkSchedule>(&found.metadata, &uid) => {
                    let kind = "BenchmarkRun";
                    Err(Error::NameTaken { kind, name })
                }
                _ => Ok(false),
            }
        }
        Err(kube::Error::Api(status)) if status.is_forbidden() || status.is_invalid() => {
            let message = status.message.clone();
            Err(Error::RunRefused { name, message })
        }
        Err(source) => Err(failed(&name, source)),
    }
}

fn failed(run: &str, source: kube::Error) -> Error {
    let what = format!("start run {run}");
    Error::Act { what, source }
}
