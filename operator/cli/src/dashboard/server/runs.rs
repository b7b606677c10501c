//! Runs, and the results of their records.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::sse::Sse;
use axum::response::{IntoResponse, Response};
use futures::Stream;
use kube::ResourceExt;
use maud::Markup;
use wasmbench_api::BenchmarkRun;
use wasmbench_report::files::report_files_of;

use crate::dashboard::pages::{list, run};
use crate::dashboard::server::Shared;
use crate::dashboard::server::failure::Failure;
use crate::dashboard::state::Dashboard;
use crate::dashboard::stream::{self, Event};
use crate::dashboard::watched::ObservedRuns;
use crate::error::Error;

pub async fn all(State(dashboard): Shared) -> Markup {
    let cluster = &dashboard.cluster;
    let schedules = cluster.all_schedules(dashboard.all_namespaces).await;
    list::page(&dashboard, &schedules)
}

pub async fn all_events(State(dashboard): Shared) -> Sse<impl Stream<Item = Event>> {
    stream::events(
        dashboard,
        |observed| Some(observed.heard.to_string()),
        |dashboard| async move { list::regions(&dashboard) },
    )
}

pub async fn one(
    State(dashboard): Shared,
    Path((namespace, name)): Path<(String, String)>,
) -> Result<Markup, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    let recorded = dashboard.recorded(&run).await;
    Ok(run::page(&dashboard, &run, &recorded))
}

pub async fn one_events(
    State(dashboard): Shared,
    Path((namespace, name)): Path<(String, String)>,
) -> Sse<impl Stream<Item = Event>> {
    let place = (namespace.clone(), name.clone());
    let version = move |observed: &ObservedRuns| observed.runs.get(&place)?.resource_version();
    stream::events(dashboard, version, move |dashboard| {
        let run = dashboard.run(&namespace, &name);
        async move {
            let Some(run) = run else {
                return run::gone();
            };
            let recorded = dashboard.recorded(&run).await;
            run::regions(&dashboard, &run, &recorded)
        }
    })
}

/// The run of this namespace and name.
pub fn found(
    dashboard: &Arc<Dashboard>,
    namespace: &str,
    name: &str,
) -> Result<Arc<BenchmarkRun>, Failure> {
    let what = || format!("BenchmarkRun {namespace}/{name}");
    let run = dashboard.run(namespace, name);
    run.ok_or_else(|| Failure::not_found(dashboard, &what()))
}

pub async fn file(
    State(dashboard): Shared,
    Path((namespace, name, file)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    let recorded = dashboard.recorded(&run).await;
    let what = || Failure::not_found(&dashboard, &format!("file {file} of {namespace}/{name}"));
    let summary = recorded.summary.as_ref().ok_or_else(what)?;
    let mut files = report_files_of(summary)
        .map_err(|error| Failure::new(&dashboard, &Error::Report(error)))?;
    let content = files.remove(&file).ok_or_else(what)?;
    let attached = format!("attachment; filename=\"{name}-{file}\"");
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_DISPOSITION, attached),
    ];
    Ok((headers, content).into_response())
}
