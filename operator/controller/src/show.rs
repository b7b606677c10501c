//! Reads what [`crate::exported`] shows: each finished run and its report, once. Never while a probe measures.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::reflector::Store;
use kube::{Api, ResourceExt};
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, BenchmarkScheduleStatus, labels};
use wasmbench_core::schedule::ScheduledRun;
use wasmbench_model::names;
use wasmbench_report::files::SUMMARY_JSON;
use wasmbench_results::summary::Summary;

use crate::context::{Context, GuardedRun};
use crate::error::Error;
use crate::exported::family::Sample;
use crate::exported::last_runs::{self, LastRuns};
use crate::exported::numbers::{self, Owner};
use crate::exported::store::MOST_SERIES_OF_ALL;

fn failed(what: &'static str) -> impl Fn(kube::Error) -> Error {
    move |source| Error::Observe { what, source }
}

/// Shows a finished run if its label requests that. Reads nothing while a probe measures, and then
/// returns how long that may last.
pub async fn run(context: &Context, run: &BenchmarkRun) -> Result<Option<Duration>, Error> {
    let exported = &context.metrics.exported;
    let uid = run.uid().unwrap_or_default();
    if run.labels().get(labels::METRICS).map(String::as_str) != Some("true") {
        exported.forget_run(&uid);
        return Ok(None);
    }
    if exported.has_run(&uid) {
        return Ok(None);
    }
    let silence = context.quiet.left();
    if silence.is_some() {
        return Ok(silence);
    }
    let name = run.name_any();
    let owner = Owner {
        namespace: run.namespace().unwrap_or_default(),
        kind: "run",
        name: name.clone(),
    };
    if let Some(samples) = samples_of(context, &owner, &name, &uid).await? {
        forget_gone(context);
        warn_if_full(&name, exported.show_run(&uid, samples));
    }
    Ok(None)
}

/// Shows the series of a schedule and its `runs`, and the numbers of the latest finished run.
pub async fn schedule(
    context: &Context,
    schedule: &BenchmarkSchedule,
    runs: &[ScheduledRun],
    status: &BenchmarkScheduleStatus,
) -> Result<(), Error> {
    let exported = &context.metrics.exported;
    let uid = schedule.uid().unwrap_or_default();
    let owner = Owner {
        namespace: schedule.namespace().unwrap_or_default(),
        kind: "schedule",
        name: schedule.name_any(),
    };
    let last = LastRuns::after(exported.last_runs(&uid), runs);
    exported.show_schedule(&uid, last, last_runs::samples(&owner, last, status));
    forget_gone(context);
    let Some(latest) = last.and_then(|last| last.latest(runs)) else {
        exported.show_latest(&uid, None);
        return Ok(());
    };
    if exported.has_latest(&uid, &latest.uid) {
        return Ok(());
    }
    let samples = samples_of(context, &owner, &latest.name, &latest.uid).await?;
    let shown = samples.map(|samples| (latest.uid.clone(), samples));
    warn_if_full(&latest.name, exported.show_latest(&uid, shown));
    Ok(())
}

fn warn_if_full(run: &str, is_shown: bool) {
    if !is_shown {
        let most = MOST_SERIES_OF_ALL;
        tracing::warn!(
            run,
            most,
            "a run is not in /metrics: all runs have too many series"
        );
    }
}

/// Drops the series of runs and schedules that are gone.
pub fn forget_gone(context: &Context) {
    let is_listed = context.ready.load(Ordering::Relaxed);
    let runs = is_listed.then(|| uids(&context.known_runs()));
    let schedules = context
        .schedules
        .get()
        .map(Store::state)
        .map(|schedules| uids(&schedules));
    let exported = &context.metrics.exported;
    exported.keep_only(runs.as_ref(), schedules.as_ref());
}

fn uids<K: ResourceExt>(objects: &[std::sync::Arc<K>]) -> BTreeSet<String> {
    objects.iter().filter_map(|object| object.uid()).collect()
}

/// The samples of the run with this name and uid; `None` if it is gone.
async fn samples_of(
    context: &Context,
    owner: &Owner,
    name: &str,
    uid: &str,
) -> Result<Option<Vec<Sample>>, Error> {
    let runs: Api<GuardedRun> = Api::namespaced(context.client.clone(), &owner.namespace);
    let found = runs.get_opt(name).await.map_err(failed("a finished run"))?;
    let decoded = found.and_then(|run| run.0.ok());
    let Some(run) = decoded.filter(|run| run.uid().as_deref() == Some(uid)) else {
        return Ok(None);
    };
    let summary = summary_of(context, &run, uid).await?;
    let samples = numbers::samples(owner, &run, summary.as_ref());
    Ok(Some(numbers::bounded(name, samples)))
}

/// The summary in the run's report; `None` if there is no report, or if it cannot be read, as when
/// another version of the operator wrote it.
async fn summary_of(
    context: &Context,
    run: &BenchmarkRun,
    uid: &str,
) -> Result<Option<Summary>, Error> {
    let namespace = run.namespace().unwrap_or_default();
    let maps: Api<ConfigMap> = Api::namespaced(context.client.clone(), &namespace);
    let name = names::report(&run.name_any());
    let found = maps.get_opt(&name).await.map_err(failed("a report"))?;
    let report = found.filter(|map| belongs_to::<BenchmarkRun>(&map.metadata, uid));
    let files = report.and_then(|map| map.data).unwrap_or_default();
    let Some(text) = files.get(SUMMARY_JSON) else {
        return Ok(None);
    };
    let read = Summary::read(text);
    if let Err(error) = &read {
        tracing::warn!(report = name, %error, "a summary is not read");
    }
    Ok(read.ok())
}
