//! Changes to an existing run.

use axum::extract::{Path, State};
use axum::response::Redirect;
use kube::ResourceExt;
use maud::Markup;

use crate::dashboard::pages;
use crate::dashboard::pages::change::Change;
use crate::dashboard::server::Shared;
use crate::dashboard::server::failure::Failure;
use crate::dashboard::server::runs::found;

pub async fn confirm(
    State(dashboard): Shared,
    Path((namespace, name, change)): Path<(String, String, Change)>,
) -> Result<Markup, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    Ok(pages::change::page(&dashboard, &run, change))
}

pub async fn change(
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
    done.map_err(|error| Failure::new(&dashboard, &error))?;
    Ok(Redirect::to(&dashboard.access.path(then)))
}
