//! Helpers for the end-to-end tests: a namespace per test, runs from YAML, and waiting with a
//! timeout.
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
pub mod controllers;
pub mod dashboard;
pub mod engines;
pub mod evidence;
pub mod injector;
pub mod kubectl;
pub mod leader;
pub mod namespace;
pub mod nodes;
pub mod operator;
pub mod others;
pub mod outage;
pub mod page;
pub mod plain_http;
pub mod plain_load;
pub mod policy;
pub mod processes;
pub mod prometheus;
pub mod runs;
pub mod runtime_class;
pub mod scale;
pub mod selftest;
pub mod tenant;
pub mod wasm_image;
pub mod windows;

use std::time::Duration;

use kube::Client;

/// The operator's namespace.
pub fn operator_namespace() -> String {
    std::env::var("WASMBENCH_NAMESPACE").unwrap_or_else(|_| "wasmbench-system".into())
}

/// A client for the cluster that KUBECONFIG names.
pub async fn client() -> Client {
    Client::try_default()
        .await
        .expect("KUBECONFIG names no cluster: run 'make e2e'")
}

/// How long the API may fail to answer or be unreachable: a machine that is short of CPUs loses
/// connections, and nothing that is tested depends on them.
const API_PATIENCE: Duration = Duration::from_mins(1);

/// The API's response to `ask`, which is retried while it fails; panics with the last error if it
/// does not succeed in time.
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

/// How long something that is certain to happen may take on a machine on which other tests run.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// How often to check at first, and when that has taken long: then a second more does not matter, but the
/// API server's CPU time does.
const INTERVALS: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// Retries until `check` returns a value; panics after `limit` with what was awaited.
pub async fn eventually<T, F, Fut>(limit: Duration, what: &str, mut check: F) -> T
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Option<T>>,
{
    let begin = tokio::time::Instant::now();
    let [first, last] = INTERVALS;
    loop {
        if let Some(found) = check().await {
            return found;
        }
        let waited = begin.elapsed();
        assert!(waited < limit, "not within {limit:?}: {what}");
        tokio::time::sleep((waited / 50).clamp(first, last)).await;
    }
}
