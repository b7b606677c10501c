//! `/livez` (the process answers), `/readyz` (the watch has seen all runs once) and `/metrics`.
//! Read-only: nothing here changes anything.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::net::TcpListener;
use wasmbench_core::status::is_finished;

use crate::context::Context;
use crate::metrics::StateLabel;

/// Serves until the listener breaks.
pub async fn serve(listener: TcpListener, context: Arc<Context>) -> std::io::Result<()> {
    let router = Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .with_state(context);
    axum::serve(listener, router).await
}

async fn readyz(State(context): State<Arc<Context>>) -> impl IntoResponse {
    if context.ready.load(Ordering::Relaxed) {
        (StatusCode::OK, "ok\n")
    } else {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "the BenchmarkRuns have not been listed yet\n",
        )
    }
}

async fn metrics(State(context): State<Arc<Context>>) -> impl IntoResponse {
    count_runs(&context);
    let mut text = String::new();
    match prometheus_client::encoding::text::encode(&mut text, &context.metrics.registry) {
        Ok(()) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            (StatusCode::OK, [(CONTENT_TYPE, kind)], text)
        }
        Err(error) => {
            let kind = "text/plain; charset=utf-8";
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                [(CONTENT_TYPE, kind)],
                error.to_string(),
            )
        }
    }
}

fn count_runs(context: &Context) {
    let runs = context.known_runs();
    let finished = runs
        .iter()
        .filter(|run| run.0.as_ref().is_ok_and(is_finished))
        .count();
    let set = |state, count: usize| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        context
            .metrics
            .runs
            .get_or_create(&StateLabel { state })
            .set(count);
    };
    set("finished", finished);
    set("active", runs.len() - finished);
}
