//! The routes of the dashboard.

mod changes;
mod comparisons;
mod costs;
mod failure;
mod runs;
mod starts;

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Router, middleware};

use crate::dashboard::access::guard;
use crate::dashboard::pages;
use crate::dashboard::server::failure::Failure;
use crate::dashboard::state::Dashboard;

type Shared = State<Arc<Dashboard>>;

/// All pages, under the token's path.
pub fn router(dashboard: Arc<Dashboard>) -> Router {
    let at = |page: &str| dashboard.access.path(page);
    let run = |page: &str| at(&format!("runs/{{namespace}}/{{name}}{page}"));
    let access = Arc::new(dashboard.access.clone());
    Router::new()
        .route(&at(""), get(runs::all))
        .route(&at("events"), get(runs::all_events))
        .route(&at("page.css"), get(async || css(pages::STYLE)))
        .route(
            &at("report.css"),
            get(async || css(wasmbench_report::html::STYLE)),
        )
        .route(&at("page.js"), get(script))
        .route(&at("icon.svg"), get(icon))
        .route(&at("new"), get(starts::form).post(starts::submit))
        .route(&at("new/plan"), post(starts::plan))
        .route(&at("new/manifest"), post(starts::manifest))
        .route(&run(""), get(runs::one))
        .route(&run("/events"), get(runs::one_events))
        .route(&run("/files/{file}"), get(runs::file))
        .route(&run("/cost"), get(costs::cost))
        .route(
            &run("/{change}"),
            get(changes::confirm).post(changes::change),
        )
        .route(&at("compare"), get(comparisons::compare))
        .route(
            &at("schedules/{namespace}/{name}"),
            get(comparisons::scheduled),
        )
        .fallback(no_page)
        .layer(middleware::from_fn_with_state(access, guard))
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

async fn no_page(State(dashboard): Shared) -> Failure {
    Failure::not_found(&dashboard, "such page")
}

#[cfg(test)]
mod tests;
