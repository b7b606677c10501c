//! An API server that dies in the middle of a run.

use std::time::{Duration, Instant};

use crate::kubectl::kubectl;
use crate::processes::{api_server, send_signal};
use crate::{PATIENCE, eventually, operator_namespace};

/// The run to survive it. The cluster's own controllers may die with the API server and start no
/// pod for a minute.
pub const RUN: &str = r"
blocks: 2
noiseFloor: false
subjectReadyTimeoutSeconds: 300
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {bodySuffix: slept}}]
sweeps: {warmLatency: {requests: 100}}
";

/// The number of trials in [`RUN`].
pub const TRIALS: usize = 4;

/// Kills the API server once the run has completed a trial. Returns the time from the API server's
/// first response to the run's next step.
pub async fn survived(namespace: &str, name: &str) -> Duration {
    eventually(PATIENCE, "a trial is done", || async {
        let steps = steps(namespace, name).await?;
        steps.starts_with(|first: char| first > '0').then_some(())
    })
    .await;
    let pid = api_server().expect("the API server runs");
    assert!(send_signal("KILL", pid));
    let before = eventually(PATIENCE, "the API server answers again", || async {
        steps(namespace, name).await
    })
    .await;
    let since = Instant::now();
    eventually(PATIENCE, "the next step is done", || async {
        let now = steps(namespace, name).await?;
        (now != before).then_some(())
    })
    .await;
    since.elapsed()
}

/// Which trials have begun or ended, as far as the operator has got; `None` while the API server
/// does not respond.
async fn steps(namespace: &str, name: &str) -> Option<String> {
    let ask = async |arguments: &[&str]| {
        let output = kubectl(&[arguments, &["--request-timeout=10s"]].concat()).await;
        output.ok.then_some(output.stdout)
    };
    let path = "jsonpath={.status.progress.completedTrials}";
    let done = ask(&["get", "benchmarkrun", name, "-n", namespace, "-o", path]).await?;
    let jobs = ask(&["get", "jobs", "-n", &operator_namespace(), "-o", "name"]).await?;
    let of_run = jobs.lines().filter(|job| job.contains(name));
    Some(format!("{done} {}", of_run.collect::<String>()))
}
