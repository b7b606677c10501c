//! What is served where, and what changes the cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::sse::Sse;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form as Sent, Router, middleware};
use futures::Stream;
use kube::ResourceExt;
use maud::Markup;
use tokio::sync::{Mutex, OnceCell};
use wasmbench_api::BenchmarkRun;
use wasmbench_report::files::report_files_of;

use crate::cluster::Cluster;
use crate::compare;
use crate::dashboard::access::{Access, guard};
use crate::dashboard::draft::Form;
use crate::dashboard::followed::{Followed, Recorded};
use crate::dashboard::pages::change::Change;
use crate::dashboard::pages::{self, compared, frame, list, new, schedule};
use crate::dashboard::stream::{self, Event};
use crate::dashboard::watched::{Seen, Watched};
use crate::error::Error;
use crate::init::{self, manifest::Told};
use crate::{history, read};

type Shared = State<Arc<Dashboard>>;

/// Everything that pages are made of.
pub struct Dashboard {
    /// The cluster, in the namespace that new runs go to.
    pub cluster: Cluster,
    /// The runs.
    pub watched: Watched,
    /// The address.
    pub access: Access,
    /// Which runs are shown, in words.
    pub shown: String,
    followed: Mutex<BTreeMap<String, Arc<Mutex<Followed>>>>,
    told: OnceCell<Told>,
}

impl Dashboard {
    /// A dashboard of these runs.
    pub fn new(cluster: Cluster, watched: Watched, access: Access, shown: String) -> Self {
        let (followed, told) = (Mutex::default(), OnceCell::new());
        Self {
            cluster,
            watched,
            access,
            shown,
            followed,
            told,
        }
    }

    /// The run of this namespace and name, as it is now.
    pub fn run(&self, namespace: &str, name: &str) -> Option<Arc<BenchmarkRun>> {
        self.watched.now().run(namespace, name).cloned()
    }

    /// What the records of `run` say so far.
    pub async fn recorded(&self, run: &BenchmarkRun) -> Arc<Recorded> {
        let uid = run.uid().unwrap_or_default();
        let followed = {
            let mut all = self.followed.lock().await;
            let cluster = || self.cluster.at(&run.namespace().unwrap_or_default());
            let new = || Arc::new(Mutex::new(Followed::new(cluster())));
            all.entry(uid).or_insert_with(new).clone()
        };
        followed.lock().await.of(run).await
    }

    /// RuntimeClasses and nodes, asked for once.
    async fn told(&self) -> Told {
        let asked = || init::asked(&self.cluster);
        self.told.get_or_init(asked).await.clone()
    }
}

/// What went wrong, as a page.
pub struct Failure(Arc<Dashboard>, StatusCode, String);

impl Failure {
    fn of(dashboard: &Arc<Dashboard>, error: &Error) -> Self {
        Self(
            dashboard.clone(),
            StatusCode::BAD_GATEWAY,
            error.to_string(),
        )
    }

    fn not_found(dashboard: &Arc<Dashboard>, what: &str) -> Self {
        let message = format!("There is no {what}. It may be deleted, or of another namespace.");
        Self(dashboard.clone(), StatusCode::NOT_FOUND, message)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Self(dashboard, status, message) = self;
        (status, frame::message(&dashboard, &message)).into_response()
    }
}

/// All pages, below the token.
pub fn router(dashboard: Arc<Dashboard>) -> Router {
    let at = |page: &str| dashboard.access.path(page);
    let run = |page: &str| at(&format!("runs/{{namespace}}/{{name}}{page}"));
    Router::new()
        .route(&at(""), get(all))
        .route(&at("events"), get(all_events))
        .route(&at("page.css"), get(async || css(pages::STYLE)))
        .route(
            &at("report.css"),
            get(async || css(wasmbench_report::html::STYLE)),
        )
        .route(&at("page.js"), get(script))
        .route(&at("icon.svg"), get(icon))
        .route(&at("new"), get(form).post(submit))
        .route(&at("new/plan"), post(plan))
        .route(&at("new/manifest"), post(manifest))
        .route(&run(""), get(one))
        .route(&run("/events"), get(one_events))
        .route(&run("/files/{file}"), get(file))
        .route(&run("/{change}"), get(confirm).post(change))
        .route(&at("compare"), get(compare))
        .route(&at("schedules/{namespace}/{name}"), get(scheduled))
        .layer(middleware::from_fn_with_state(dashboard.clone(), guard))
        .with_state(dashboard)
}

fn css(text: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], text)
}

async fn script() -> impl IntoResponse {
    (
        [(CONTENT_TYPE, "text/javascript; charset=utf-8")],
        pages::SCRIPT,
    )
}

async fn icon() -> impl IntoResponse {
    ([(CONTENT_TYPE, "image/svg+xml")], pages::ICON)
}

async fn all(State(dashboard): Shared) -> Markup {
    list::page(&dashboard)
}

async fn all_events(State(dashboard): Shared) -> Sse<impl Stream<Item = Event>> {
    stream::of(
        dashboard,
        |seen| Some(seen.heard.to_string()),
        |dashboard| async move { list::regions(&dashboard) },
    )
}

async fn one(
    State(dashboard): Shared,
    Path((namespace, name)): Path<(String, String)>,
) -> Result<Markup, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    let recorded = dashboard.recorded(&run).await;
    Ok(pages::run::page(&dashboard, &run, &recorded))
}

async fn one_events(
    State(dashboard): Shared,
    Path((namespace, name)): Path<(String, String)>,
) -> Sse<impl Stream<Item = Event>> {
    let place = (namespace.clone(), name.clone());
    let version = move |seen: &Seen| seen.runs.get(&place)?.resource_version();
    stream::of(dashboard, version, move |dashboard| {
        let run = dashboard.run(&namespace, &name);
        async move {
            let Some(run) = run else {
                return pages::run::gone();
            };
            let recorded = dashboard.recorded(&run).await;
            pages::run::regions(&dashboard, &run, &recorded)
        }
    })
}

fn found(
    dashboard: &Arc<Dashboard>,
    namespace: &str,
    name: &str,
) -> Result<Arc<BenchmarkRun>, Failure> {
    let what = || format!("BenchmarkRun {namespace}/{name}");
    let run = dashboard.run(namespace, name);
    run.ok_or_else(|| Failure::not_found(dashboard, &what()))
}

async fn file(
    State(dashboard): Shared,
    Path((namespace, name, file)): Path<(String, String, String)>,
) -> Result<Response, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    let recorded = dashboard.recorded(&run).await;
    let what = || Failure::not_found(&dashboard, &format!("file {file} of {namespace}/{name}"));
    let summary = recorded.summary.as_ref().ok_or_else(what)?;
    let files = report_files_of(summary);
    let mut files = files.map_err(|error| Failure::of(&dashboard, &Error::Report(error)))?;
    let content = files.remove(&file).ok_or_else(what)?;
    let attached = format!("attachment; filename=\"{name}-{file}\"");
    let headers = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_DISPOSITION, attached),
    ];
    Ok((headers, content).into_response())
}

async fn form(
    State(dashboard): Shared,
    Query(asked): Query<BTreeMap<String, String>>,
) -> Result<Markup, Failure> {
    let form = match asked.get("like").and_then(|like| like.split_once('/')) {
        Some((namespace, name)) => Form::like(&*found(&dashboard, namespace, name)?),
        None => Form::sample(),
    };
    Ok(new::page(&dashboard, &form, None))
}

async fn plan(Sent(form): Sent<Form>) -> Markup {
    new::plan(&form)
}

/// The manifest that the fields make, for the text below them.
async fn manifest(State(dashboard): Shared, Sent(form): Sent<Form>) -> Response {
    match form.manifest_of_fields(dashboard.told().await) {
        Ok(manifest) => ([(CONTENT_TYPE, "text/yaml; charset=utf-8")], manifest).into_response(),
        // Not a failure: one types.
        Err(error) => error.into_response(),
    }
}

async fn submit(State(dashboard): Shared, Sent(form): Sent<Form>) -> Response {
    if form.action != "create" {
        return new::page(&dashboard, &form, None).into_response();
    }
    match create(&dashboard, &form).await {
        Ok(page) => Redirect::to(&dashboard.access.path(&page)).into_response(),
        Err(error) => {
            let page = new::page(&dashboard, &form, Some(&error));
            (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
        }
    }
}

/// Creates the run of the form, and says where its page is.
async fn create(dashboard: &Dashboard, form: &Form) -> Result<String, String> {
    form.plan()?;
    let run = form.object()?;
    let given = run["metadata"]["namespace"].as_str();
    let namespace = given.unwrap_or(dashboard.cluster.namespace()).to_owned();
    let name = run["metadata"]["name"].as_str().unwrap_or_default();
    let created = dashboard.cluster.at(&namespace).create_run(&run).await;
    created.map_err(|error| error.to_string())?;
    let mut runs = dashboard.watched.listen();
    let place = format!("runs/{namespace}/{name}");
    // The watch tells it within moments, and the page needs it. One that is not watched has no page.
    let known = runs.wait_for(|seen| seen.run(&namespace, name).is_some());
    match tokio::time::timeout(std::time::Duration::from_secs(5), known).await {
        Ok(Ok(_)) => Ok(place),
        Ok(Err(_)) | Err(_) => Ok(String::new()),
    }
}

async fn confirm(
    State(dashboard): Shared,
    Path((namespace, name, change)): Path<(String, String, Change)>,
) -> Result<Markup, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    Ok(pages::change::page(&dashboard, &run, change))
}

async fn change(
    State(dashboard): Shared,
    Path((namespace, name, change)): Path<(String, String, Change)>,
) -> Result<Redirect, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    let cluster = dashboard.cluster.at(&namespace);
    let page = format!("runs/{namespace}/{name}");
    let (done, then) = match change {
        Change::Suspend => (cluster.suspend(&name, true).await, page.as_str()),
        Change::Resume => (cluster.suspend(&name, false).await, page.as_str()),
        Change::Delete => {
            let uid = run.uid().unwrap_or_default();
            (cluster.delete(&name, &uid).await, "")
        }
    };
    done.map_err(|error| Failure::of(&dashboard, &error))?;
    Ok(Redirect::to(&dashboard.access.path(then)))
}

async fn compare(
    State(dashboard): Shared,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Markup, Failure> {
    let mut runs = vec![];
    for (_, place) in asked.iter().filter(|(key, _)| key == "run") {
        let (namespace, name) = place.split_once('/').unwrap_or_default();
        runs.push(found(&dashboard, namespace, name)?);
    }
    runs.sort_by_key(|run| run.creation_timestamp().map(|time| time.0));
    runs.dedup_by_key(|run| run.uid());
    let force = asked.iter().any(|(key, _)| key == "force");
    let found = compared_runs(&dashboard, &runs, force).await;
    Ok(compared::page(&dashboard, &runs, &found))
}

/// The last of the runs as a multiple of those before it, or why there is no such thing.
async fn compared_runs(
    dashboard: &Dashboard,
    runs: &[Arc<BenchmarkRun>],
    force: bool,
) -> Result<wasmbench_report::across::Across, Error> {
    let Some((after, before)) = runs.split_last().filter(|(_, before)| !before.is_empty()) else {
        return Err(Error::TooFewRuns);
    };
    compare::check_number(before.len())?;
    let cluster = |run: &BenchmarkRun| dashboard.cluster.at(&run.namespace().unwrap_or_default());
    let mut earlier = vec![];
    // The newest of the earlier ones first.
    for run in before.iter().rev() {
        earlier.push(read::from_cluster(&cluster(run), &run.name_any()).await?);
    }
    let there = cluster(after);
    let after = read::from_cluster(&there, &after.name_any()).await?;
    let followed = compare::followed(&there, &after.0).await?;
    Ok(compare::compared(
        &earlier,
        &after,
        followed.as_ref(),
        force,
    ))
}

async fn scheduled(
    State(dashboard): Shared,
    Path((namespace, name)): Path<(String, String)>,
) -> Result<Markup, Failure> {
    let found = history::read(&dashboard.cluster.at(&namespace), &name).await;
    let history = found.map_err(|error| Failure::of(&dashboard, &error))?;
    Ok(schedule::page(&dashboard, &namespace, &name, &history))
}

#[cfg(test)]
mod tests;
