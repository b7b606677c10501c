//! What a run costs.

use axum::extract::{Path, Query, State};
use maud::Markup;

use crate::dashboard::pages;
use crate::dashboard::priced::Priced;
use crate::dashboard::server::Shared;
use crate::dashboard::server::failure::Failure;
use crate::dashboard::server::runs::found;

pub async fn cost(
    State(dashboard): Shared,
    Path((namespace, name)): Path<(String, String)>,
    Query(priced): Query<Priced>,
) -> Result<Markup, Failure> {
    let run = found(&dashboard, &namespace, &name)?;
    let recorded = dashboard.recorded(&run).await;
    let summary = recorded.summary.as_ref();
    Ok(pages::cost::page(&dashboard, &run, summary, &priced))
}
