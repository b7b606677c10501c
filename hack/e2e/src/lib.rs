//! Helpers of the end-to-end tests: a namespace per test, runs from YAML, and waiting with a limit.
//! The tests need a cluster in which the chart is installed; `make e2e` prepares one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a broken fixture must stop the test"
)]

pub mod accounts;
pub mod audit;
pub mod browser;
pub mod dashboard;
pub mod engines;
pub mod evidence;
pub mod kubectl;
pub mod namespace;
pub mod nodes;
pub mod operator;
pub mod others;
pub mod outage;
pub mod page;
pub mod plain_http;
pub mod processes;
pub mod prometheus;
pub mod runs;
pub mod runtime_class;
pub mod selftest;
pub mod tenant;
pub mod wasm_image;
pub mod windows;

use std::time::Duration;

use kube::Client;

/// Namespace of the operator.
pub fn operator_namespace() -> String {
    std::env::var("WASMBENCH_NAMESPACE").unwrap_or_else(|_| "wasmbench-system".into())
}

/// A client for the cluster that KUBECONFIG names.
pub async fn client() -> Client {
    Client::try_default()
        .await
        .expect("KUBECONFIG names no cluster: run 'make e2e'")
}

/// For so long the API may refuse to answer, or be out of reach: a machine that is short of CPUs loses
/// connections, and nothing that is tested depends on them.
const API_PATIENCE: Duration = Duration::from_mins(1);

/// What the API answers to `ask`, which is asked again while it fails; panics with the last error when that
/// does not end.
pub async fn answered<T, E, F, Fut>(what: &str, mut ask: F) -> T
where
    E: std::fmt::Display,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let deadline = tokio::time::Instant::now() + API_PATIENCE;
    loop {
        match ask().await {
            Ok(found) => return found,
            Err(error) => assert!(
                tokio::time::Instant::now() < deadline,
                "not within {API_PATIENCE:?}: {what}: {error}"
            ),
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// How long something may take that will surely come, on a machine on which other tests run.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// Asks again and again until `check` answers; panics after `limit` with what was waited for.
pub async fn eventually<T, F, Fut>(limit: Duration, what: &str, mut check: F) -> T
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Option<T>>,
{
    let deadline = tokio::time::Instant::now() + limit;
    loop {
        if let Some(found) = check().await {
            return found;
        }
        assert!(
            tokio::time::Instant::now() < deadline,
            "not within {limit:?}: {what}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
