//! An API server that dies in the middle of a run.

use std::time::{Duration, Instant};

use kube::Client;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::processes::{api_server, send_signal};
use wasmbench_e2e::{PATIENCE, eventually, runs};

const SHORT: &str = r"
blocks: 6
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: hello, expect: {bodySuffix: hello}}]
sweeps: {warmLatency: {requests: 100}}
";

/// A trial takes a few seconds, and a call without an answer ends after ten. Calls that hang on dead
/// connections took a minute each.
const SOON: Duration = Duration::from_secs(45);

/// Trials of the run that are done, where the API server answers.
async fn completed(namespace: &str, name: &str) -> Option<u32> {
    let path = "jsonpath={.status.progress.completedTrials}";
    let output = kubectl(&[
        "get",
        "benchmarkrun",
        name,
        "-n",
        namespace,
        "-o",
        path,
        "--request-timeout=2s",
    ])
    .await;
    output.stdout.trim().parse().ok()
}

#[tokio::test]
async fn a_run_goes_on_at_once_when_the_api_server_is_back_and_loses_nothing() {
    with_namespace("apiserver", |client: Client, namespace| async move {
        runs::create(&client, &namespace, "survivor", SHORT).await;
        let first = eventually(PATIENCE, "a trial is done", || async {
            completed(&namespace, "survivor")
                .await
                .filter(|done| *done > 0)
        });
        first.await;
        let pid = api_server().expect("the API server runs");
        assert!(send_signal("KILL", pid));
        let done = eventually(PATIENCE, "the API server answers again", || async {
            completed(&namespace, "survivor").await
        })
        .await;
        let since = Instant::now();
        eventually(PATIENCE, "the next trial is done", || async {
            completed(&namespace, "survivor")
                .await
                .filter(|now| *now > done)
        })
        .await;
        let paused = since.elapsed();
        println!("went on {} s after it was back", paused.as_secs());
        assert!(paused < SOON, "{paused:?}");
        let run = runs::finished(&client, &namespace, "survivor", 300).await;
        let records = runs::records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        assert_eq!((records.len(), outcomes.len()), (12, 12), "{outcomes:#?}");
        assert!(
            outcomes.values().all(|outcome| outcome == "Measured"),
            "{outcomes:#?}"
        );
    })
    .await;
}
