//! What must happen promptly: a suspended or deleted run stops, and a run continues after an outage
//! of its API server.

use std::time::{Duration, Instant};

use kube::Client;
use wasmbench_e2e::evidence::{left_of, undeleted_of};
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::selftest::found;
use wasmbench_e2e::{PATIENCE, eventually, outage, runs};

/// A window that is far from its end when the run stops.
const LASTING: &str = r"
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [1], durationSeconds: 600, warmupSeconds: 0}}
";

/// By then each pod and Job of a run that is to stop has been deleted.
const STOPPED: Duration = Duration::from_secs(10);

/// Calls that hung on dead connections and backoffs that had grown took one to three minutes. How
/// soon a pod runs is up to the cluster, whose own controllers may have died with the API server.
const GOES_ON: Duration = Duration::from_secs(45);

/// Runs kubectl in the middle of a run's window, and returns the time until everything of the run
/// has been deleted.
async fn stopped_by(client: &Client, namespace: &str, name: &str, arguments: &[&str]) -> Duration {
    let run = runs::create(client, namespace, name, LASTING).await;
    let uid = run.metadata.uid.expect("a uid");
    runs::measuring(client, namespace, name, 120).await;
    let begin = Instant::now();
    let output = kubectl(arguments).await;
    assert!(output.ok, "{output:?}");
    eventually(PATIENCE, "every pod and Job is deleted", || async {
        undeleted_of(client, &uid).await.is_empty().then_some(())
    })
    .await;
    let took = begin.elapsed();
    eventually(PATIENCE, "everything of the run is gone", || async {
        left_of(client, &uid).await.is_empty().then_some(())
    })
    .await;
    took
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_run_that_is_suspended_or_deleted_stops_within_ten_seconds() {
    with_namespace("stops", |client, namespace| async move {
        let suspend = [
            "patch",
            "brun",
            "suspended",
            "-n",
            &namespace,
            "--type=merge",
            "-p",
            r#"{"spec":{"suspend":true}}"#,
        ];
        let delete = [
            "delete",
            "brun",
            "deleted",
            "-n",
            &namespace,
            "--wait=false",
        ];
        let suspended = stopped_by(&client, &namespace, "suspended", &suspend).await;
        let deleted = stopped_by(&client, &namespace, "deleted", &delete).await;
        found(
            "a run stops",
            &format!(
                "{:.1} s after it was suspended, {:.1} s after it was deleted",
                suspended.as_secs_f64(),
                deleted.as_secs_f64()
            ),
            "at most 10 s",
        );
        assert!(suspended < STOPPED && deleted < STOPPED);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_run_goes_on_at_once_when_the_api_server_is_back() {
    with_namespace("outage", |client: Client, namespace| async move {
        runs::create(&client, &namespace, "survivor", outage::RUN).await;
        let paused = outage::survived(&namespace, "survivor").await;
        // The following tests need a working cluster.
        runs::finished(&client, &namespace, "survivor", 300).await;
        found(
            "a run goes on when the API server is back",
            &format!("after {:.1} s", paused.as_secs_f64()),
            "at most 45 s",
        );
        assert!(paused < GOES_ON, "{paused:?}");
    })
    .await;
}
