//! A run that is being written, and its creation.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Form as Sent;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Redirect, Response};
use maud::Markup;

use crate::dashboard::draft::Form;
use crate::dashboard::pages::new;
use crate::dashboard::server::Shared;
use crate::dashboard::server::failure::Failure;
use crate::dashboard::server::runs::found;
use crate::dashboard::state::Dashboard;

/// How long to wait for a created run to appear in the watch. A run outside the watched namespaces
/// never does.
const KNOWN_WITHIN: Duration = Duration::from_secs(5);

pub async fn form(
    State(dashboard): Shared,
    Query(parameters): Query<BTreeMap<String, String>>,
) -> Result<Markup, Failure> {
    let form = match parameters.get("like").and_then(|like| like.split_once('/')) {
        Some((namespace, name)) => Form::like(&*found(&dashboard, namespace, name)?),
        None => Form::sample(),
    };
    Ok(new::page(&dashboard, &form, None).await)
}

pub async fn plan(State(dashboard): Shared, Sent(form): Sent<Form>) -> Markup {
    new::plan(&dashboard, &form).await
}

/// The manifest that the fields produce, for the text area below them.
pub async fn manifest(State(dashboard): Shared, Sent(form): Sent<Form>) -> Response {
    match form.manifest_of_fields(dashboard.cluster_view().await) {
        Ok(manifest) => ([(CONTENT_TYPE, "text/yaml; charset=utf-8")], manifest).into_response(),
        // Not a failure: the user is still typing.
        Err(error) => error.into_response(),
    }
}

pub async fn submit(State(dashboard): Shared, Sent(form): Sent<Form>) -> Response {
    if form.action != "create" {
        return new::page(&dashboard, &form, None).await.into_response();
    }
    match create(&dashboard, &form).await {
        Ok(page) => Redirect::to(&dashboard.access.path(&page)).into_response(),
        Err(error) => {
            let page = new::page(&dashboard, &form, Some(&error)).await;
            (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
        }
    }
}

/// Creates the run of the form, and returns the path of its page, or of the list if it is not
/// watched.
async fn create(dashboard: &Dashboard, form: &Form) -> Result<String, String> {
    form.plan(&[])?;
    let run = form.object()?;
    let given = run["metadata"]["namespace"].as_str();
    let namespace = given.unwrap_or(dashboard.cluster.namespace()).to_owned();
    let name = run["metadata"]["name"].as_str().unwrap_or_default();
    let created = dashboard.cluster.at(&namespace).create_run(&run).await;
    created.map_err(|error| error.to_string())?;
    let mut runs = dashboard.watched.listen();
    let place = format!("runs/{namespace}/{name}");
    let known = runs.wait_for(|observed| observed.run(&namespace, name).is_some());
    match tokio::time::timeout(KNOWN_WITHIN, known).await {
        Ok(Ok(_)) => Ok(place),
        Ok(Err(_)) | Err(_) => Ok(String::new()),
    }
}
