//! Runs side by side: selected ones, or all runs of a schedule.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use kube::ResourceExt;
use maud::Markup;
use wasmbench_api::BenchmarkRun;
use wasmbench_results::runs::across::Across;

use crate::args::init::object_name;
use crate::dashboard::pages::{compared, schedule};
use crate::dashboard::server::Shared;
use crate::dashboard::server::failure::Failure;
use crate::dashboard::server::runs::found;
use crate::dashboard::state::Dashboard;
use crate::error::Error;
use crate::{compare as comparison, history, read};

pub async fn compare(
    State(dashboard): Shared,
    Query(parameters): Query<Vec<(String, String)>>,
) -> Result<Markup, Failure> {
    let mut runs = vec![];
    for (_, place) in parameters.iter().filter(|(key, _)| key == "run") {
        let (namespace, name) = place.split_once('/').unwrap_or_default();
        runs.push(found(&dashboard, namespace, name)?);
    }
    runs.sort_by_key(|run| run.creation_timestamp().map(|time| time.0));
    runs.dedup_by_key(|run| run.uid());
    let force = parameters.iter().any(|(key, _)| key == "force");
    let found = compared_runs(&dashboard, &runs, force).await;
    Ok(compared::page(&dashboard, &runs, &found))
}

/// The last of the runs as a multiple of those before it, or why they cannot be compared.
async fn compared_runs(
    dashboard: &Dashboard,
    runs: &[Arc<BenchmarkRun>],
    force: bool,
) -> Result<Across, Error> {
    let Some((after, before)) = runs.split_last().filter(|(_, before)| !before.is_empty()) else {
        return Err(Error::TooFewRuns);
    };
    comparison::check_number(before.len())?;
    let cluster = |run: &BenchmarkRun| dashboard.cluster.at(&run.namespace().unwrap_or_default());
    let mut earlier = vec![];
    // The earlier runs, newest first.
    for run in before.iter().rev() {
        earlier.push(read::from_cluster(&cluster(run), &run.name_any(), false).await?);
    }
    let there = cluster(after);
    let after = read::from_cluster(&there, &after.name_any(), false).await?;
    let followed = comparison::followed(&there, &after.0).await?;
    Ok(comparison::compared(
        &earlier,
        &after,
        followed.as_ref(),
        after.0.spec.run_scatter(),
        force,
    ))
}

pub async fn scheduled(
    State(dashboard): Shared,
    Path((namespace, name)): Path<(String, String)>,
) -> Result<Markup, Failure> {
    // Both become part of the request's URL.
    if object_name(&namespace).and(object_name(&name)).is_err() {
        let what = format!("schedule {namespace}/{name}");
        return Err(Failure::not_found(&dashboard, &what));
    }
    let found = history::read(&dashboard.cluster.at(&namespace), &name).await;
    let history = found.map_err(|error| Failure::new(&dashboard, &error))?;
    Ok(schedule::page(&dashboard, &namespace, &name, &history))
}
