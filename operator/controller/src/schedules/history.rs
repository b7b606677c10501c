//! Stores what finished runs of a schedule measured, before the runs may be removed.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::runtime::events::EventType;
use kube::{Api, ResourceExt};
use wasmbench_api::conditions::Draft;
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, conditions, labels};
use wasmbench_core::build::config_map;
use wasmbench_core::schedule::{RunOutcome, ScheduledRun, status};
use wasmbench_model::names;
use wasmbench_report::across::earlier;
use wasmbench_results::runs::history::History;
use wasmbench_results::runs::history::stored::{HISTORY_KEY, MOST_BYTES};

use super::report::announce;
use crate::context::Context;
use crate::error::Error;
use crate::observe::read_summary;

/// Adds the finished runs that are missing from the history, and returns the condition that says
/// whether the schedule's numbers have become worse and stayed so.
pub async fn keep(
    context: &Context,
    schedule: &BenchmarkSchedule,
    runs: &[ScheduledRun],
) -> Result<Option<Draft>, Error> {
    let measured: Vec<&ScheduledRun> = runs.iter().filter(|run| is_measured(run)).collect();
    let old = schedule
        .status
        .as_ref()
        .map_or(&[][..], |status| &status.conditions);
    let is_known = old
        .iter()
        .any(|condition| condition.type_ == conditions::REGRESSED);
    if measured.is_empty() && !is_known {
        return Ok(None);
    }
    // A history is small as it is stored and large in memory, and any number of schedules may be
    // reconciled at the same time: one history after the other.
    let _turn = context.history_turn.lock().await;
    let history = completed(context, schedule, measured).await?;
    Ok(regressed(schedule, &history))
}

/// The condition, with a message of the length that a condition may have.
fn regressed(schedule: &BenchmarkSchedule, history: &History) -> Option<Draft> {
    let spec = &schedule.spec;
    let accepted = spec.accept_changes_before.as_ref().map(|time| time.0);
    let mut draft = history.condition(&spec.template.spec, accepted)?;
    draft.message = status::truncated(&draft.message);
    Some(draft)
}

/// The stored history with those of the `measured` runs that it lacks, which is stored.
async fn completed(
    context: &Context,
    schedule: &BenchmarkSchedule,
    mut measured: Vec<&ScheduledRun>,
) -> Result<History, Error> {
    let stored = read(context, schedule).await?;
    let mut history = match &stored {
        Some(stored) => unpacked(stored)?,
        None => History::default(),
    };
    let ended = |run: &ScheduledRun| run.completed.unwrap_or(run.due);
    measured.retain(|run| !history.has(&run.name, ended(run)));
    if measured.is_empty() {
        return Ok(history);
    }
    measured.sort_by_key(|run| ended(run));
    let mut notes = vec![];
    for run in measured {
        let Some(found) = summary_of(context, schedule, run).await? else {
            continue;
        };
        for change in history.add(&found.1, &found.0, ended(run)) {
            notes.push(change.text(&history.series[change.series]));
        }
    }
    write(context, schedule, &mut history, stored).await?;
    for note in notes {
        announce(context, schedule, (EventType::Warning, "Changed"), note).await;
    }
    Ok(history)
}

fn is_measured(run: &ScheduledRun) -> bool {
    matches!(
        run.ended,
        Some(RunOutcome::Well | RunOutcome::Untrustworthy)
    )
}

fn api(context: &Context, schedule: &BenchmarkSchedule) -> Api<ConfigMap> {
    let namespace = schedule.namespace().unwrap_or_default();
    Api::namespaced(context.client.clone(), &namespace)
}

/// The history's `ConfigMap`, if it exists. Somebody else's `ConfigMap` of that name is not read.
async fn read(context: &Context, schedule: &BenchmarkSchedule) -> Result<Option<ConfigMap>, Error> {
    let name = names::history(&schedule.name_any());
    let what = "the history of a schedule";
    let failed = |source| Error::Observe { what, source };
    let api = api(context, schedule);
    let Some(found) = api.get_metadata_opt(&name).await.map_err(failed)? else {
        return Ok(None);
    };
    if !is_of(schedule, &found.metadata) {
        let kind = "ConfigMap";
        return Err(Error::NameTaken { kind, name });
    }
    let whole = api.get_opt(&name).await.map_err(failed)?;
    // Another one by now: the next reconcile reads it.
    Ok(whole.filter(|whole| whole.metadata.uid == found.metadata.uid))
}

/// Whether only wasmbench can have written this `ConfigMap` for `schedule`, as the admission policy
/// `origin` sees to it.
fn is_of(schedule: &BenchmarkSchedule, meta: &ObjectMeta) -> bool {
    let uid = schedule.uid().unwrap_or_default();
    let labelled = meta
        .labels
        .as_ref()
        .and_then(|labels| labels.get(labels::SCHEDULE_UID));
    labelled == Some(&uid) && belongs_to::<BenchmarkSchedule>(meta, &uid)
}

fn unpacked(stored: &ConfigMap) -> Result<History, Error> {
    let bytes = stored
        .binary_data
        .as_ref()
        .and_then(|data| data.get(HISTORY_KEY))
        .map_or(&[][..], |bytes| &bytes.0);
    History::unpack(bytes).map_err(|source| Error::History {
        name: stored.name_any(),
        source,
    })
}

type Measured = (
    wasmbench_api::BenchmarkRunSpec,
    wasmbench_results::summary::Summary,
);

/// The spec and the summary of a run; `None` if the run is gone or has no results.
async fn summary_of(
    context: &Context,
    schedule: &BenchmarkSchedule,
    run: &ScheduledRun,
) -> Result<Option<Measured>, Error> {
    let namespace = schedule.namespace().unwrap_or_default();
    let api: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), &namespace);
    let what = "a run of a schedule";
    let found = api.get_opt(&run.name).await;
    let found = found.map_err(|source| Error::Observe { what, source })?;
    let Ok(input) = earlier(&run.name, found.as_ref()) else {
        return Ok(None);
    };
    let (summary, _) = read_summary(context, input.clone()).await?;
    Ok(Some((input.spec, summary)))
}

async fn write(
    context: &Context,
    schedule: &BenchmarkSchedule,
    history: &mut History,
    stored: Option<ConfigMap>,
) -> Result<(), Error> {
    let name = names::history(&schedule.name_any());
    let bytes = history.pack(MOST_BYTES).map_err(|source| Error::History {
        name: name.clone(),
        source,
    })?;
    let mut new = config_map::history(schedule, HISTORY_KEY, bytes);
    let (api, params) = (api(context, schedule), PostParams::default());
    let written = match stored {
        None => api.create(&params, &new).await,
        Some(stored) => {
            // A concurrent writer wins, and this write is retried.
            new.metadata.resource_version = stored.metadata.resource_version;
            api.replace(&name, &params, &new).await
        }
    };
    let what = format!("write {name}");
    written
        .map(drop)
        .map_err(|source| Error::Act { what, source })
}
