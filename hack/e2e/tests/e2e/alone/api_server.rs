//! An API server that dies in the middle of a run.

use std::time::{Duration, Instant};

use kube::Client;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::processes::{api_server, send_signal};
use wasmbench_e2e::{PATIENCE, eventually, operator_namespace, runs};

/// The cluster's own controllers may die with the API server, and start no pod for a minute.
const SHORT: &str = r"
blocks: 3
noiseFloor: false
subjectReadyTimeoutSeconds: 300
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: hello, expect: {bodySuffix: hello}}]
sweeps: {warmLatency: {requests: 100}}
";

/// Calls that hung on dead connections, and pauses that had grown, took one to three minutes. How soon a pod runs
/// is up to the cluster, whose own controllers may have died with the API server.
const SOON: Duration = Duration::from_secs(45);

/// Which trials have begun or ended, as far as the operator has come; `None` while the API server does not answer.
async fn steps(namespace: &str, name: &str) -> Option<String> {
    let ask = async |arguments: &[&str]| {
        let output = kubectl(&[arguments, &["--request-timeout=2s"]].concat()).await;
        output.ok.then_some(output.stdout)
    };
    let done = "jsonpath={.status.progress.completedTrials}";
    let done = ask(&["get", "benchmarkrun", name, "-n", namespace, "-o", done]).await?;
    let jobs = ["get", "jobs", "-n", &operator_namespace(), "-o", "name"];
    let jobs = ask(&jobs).await?;
    let of_run = jobs.lines().filter(|job| job.contains(name));
    Some(format!("{done} {}", of_run.collect::<String>()))
}

#[tokio::test]
async fn a_run_goes_on_at_once_when_the_api_server_is_back_and_loses_nothing() {
    with_namespace("apiserver", |client: Client, namespace| async move {
        runs::create(&client, &namespace, "survivor", SHORT).await;
        eventually(PATIENCE, "a trial is done", || async {
            let steps = steps(&namespace, "survivor").await?;
            steps.starts_with(|first: char| first > '0').then_some(())
        })
        .await;
        let pid = api_server().expect("the API server runs");
        assert!(send_signal("KILL", pid));
        let before = eventually(PATIENCE, "the API server answers again", || async {
            steps(&namespace, "survivor").await
        })
        .await;
        let since = Instant::now();
        eventually(PATIENCE, "the next step is done", || async {
            let now = steps(&namespace, "survivor").await?;
            (now != before).then_some(())
        })
        .await;
        let paused = since.elapsed();
        println!("went on {} s after it was back", paused.as_secs());
        assert!(paused < SOON, "{paused:?}");
        let run = runs::finished(&client, &namespace, "survivor", 300).await;
        let records = runs::records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        assert_eq!((records.len(), outcomes.len()), (6, 6), "{outcomes:#?}");
        assert!(
            outcomes.values().all(|outcome| outcome == "Measured"),
            "{outcomes:#?}"
        );
    })
    .await;
}
