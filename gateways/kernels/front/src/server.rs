//! Requests in, responses out.
//!
//! | path | response |
//! |---|---|
//! | `/health` | `ok` |
//! | `/engine` | what computes, as JSON, and totals since the start |
//! | `/kernel?name=NAME` | the checksum of a run of the kernel; 404 with all names if there is none |
//! | `/kernel?name=NAME&repeats=N` | the same, with N repeats in place of the table's |

use std::num::NonZeroU16;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::Value;

use crate::kernels::Kernel;
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
    let kernel = match requested(uri.query().unwrap_or_default()) {
        Ok(kernel) => kernel,
        Err(refusal) => return refusal.into_response(),
    };
    match queue.call(kernel).await {
        Ok(bits) => checksum::text(bits).into_response(),
        Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, why).into_response(),
    }
}

/// The kernel that a query asks for.
fn requested(query: &str) -> Result<Kernel, (StatusCode, String)> {
    let name = parameter(query, "name").unwrap_or_default();
    let Some(kernel) = kernels::find(name) else {
        return Err((StatusCode::NOT_FOUND, unknown(name)));
    };
    let Some(repeats) = parameter(query, "repeats") else {
        return Ok(kernel);
    };
    let Ok(repeats) = repeats.parse::<NonZeroU16>() else {
        let most = u16::MAX;
        let why = format!("repeats must be a number from 1 to {most}, not '{repeats}'");
        return Err((StatusCode::BAD_REQUEST, why));
    };
    Ok(Kernel {
        repeats: repeats.get().into(),
        ..kernel
    })
}

/// A parameter of a query. Names of kernels and numbers need no escapes.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    let mut parameters = query.split('&').filter_map(|pair| pair.split_once('='));
    parameters.find_map(|(key, value)| (key == name).then_some(value))
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

    fn repeats(query: &str) -> Result<u32, StatusCode> {
        let kernel = requested(query).map_err(|(status, _)| status);
        kernel.map(|kernel| kernel.repeats)
    }

    #[test]
    fn the_name_is_a_parameter_of_the_query() {
        assert_eq!(parameter("name=gemm", "name"), Some("gemm"));
        assert_eq!(parameter("a=b&name=lu&name=gemm", "name"), Some("lu"));
        for query in ["", "name", "filename=lu"] {
            assert_eq!(parameter(query, "name"), None, "{query}");
        }
    }

    #[test]
    fn a_query_may_ask_for_other_repeats_than_those_of_the_table() {
        let gemm = kernels::find("gemm").map(|kernel| kernel.repeats);
        assert_eq!(repeats("name=gemm").ok(), gemm);
        assert_eq!(repeats("repeats=3&name=gemm"), Ok(3));
        assert_eq!(
            repeats("name=no-kernel&repeats=3"),
            Err(StatusCode::NOT_FOUND)
        );
        for wrong in ["", "0", "-1", "1.5", "65536", "many"] {
            let query = format!("name=gemm&repeats={wrong}");
            assert_eq!(repeats(&query), Err(StatusCode::BAD_REQUEST), "{query}");
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_names() {
        assert!(unknown("x").starts_with("there is no kernel 'x'; there are: "));
        assert!(kernels::all().all(|kernel| unknown("x").contains(kernel.name)));
    }
}
