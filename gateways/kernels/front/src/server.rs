//! Requests in, responses out.
//!
//! | path | response |
//! |---|---|
//! | `/health` | `ok` |
//! | `/engine` | what computes, as JSON, and totals since the start |
//! | `/kernel?name=NAME` | the checksum of a run of the kernel; 404 with all names if there is none |

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::Value;

use crate::queue::Queue;
use crate::{checksum, kernels};

/// The routes of the front.
pub fn routes(queue: Arc<Queue>) -> Router {
    Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/engine", get(engine))
        .route("/kernel", get(kernel))
        .with_state(queue)
}

async fn engine(State(queue): State<Arc<Queue>>) -> Response {
    let facts = Value::Object(queue.facts()).to_string();
    ([(header::CONTENT_TYPE, "application/json")], facts).into_response()
}

async fn kernel(State(queue): State<Arc<Queue>>, uri: Uri) -> Response {
    let name = name(uri.query().unwrap_or_default());
    let Some(kernel) = kernels::find(name) else {
        return (StatusCode::NOT_FOUND, unknown(name)).into_response();
    };
    match queue.call(kernel).await {
        Ok(bits) => checksum::text(bits).into_response(),
        Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, why).into_response(),
    }
}

/// The parameter `name` of a query. Names of kernels need no escapes.
fn name(query: &str) -> &str {
    let mut names = query
        .split('&')
        .filter_map(|parameter| parameter.strip_prefix("name="));
    names.next().unwrap_or_default()
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = kernels::all().map(|kernel| kernel.name).collect();
    format!(
        "there is no kernel '{name}'; there are: {}",
        names.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_a_parameter_of_the_query() {
        assert_eq!(name("name=gemm"), "gemm");
        assert_eq!(name("a=b&name=jacobi-2d&name=lu"), "jacobi-2d");
        for query in ["", "name", "filename=lu"] {
            assert_eq!(name(query), "", "{query}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names() {
        assert!(unknown("x").starts_with("there is no kernel 'x'; there are: "));
        assert!(kernels::all().all(|kernel| unknown("x").contains(kernel.name)));
    }
}
