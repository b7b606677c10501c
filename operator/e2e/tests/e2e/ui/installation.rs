//! The chart's life cycle: upgraded while a run is measured, removed, and installed again.

use std::path::Path;

use wasmbench_api::conditions::SUCCEEDED;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::{kubectl, run};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{operator_namespace, runs};

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../charts/wasmbench");

const SHORT: &str = r"
blocks: 5
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: hello, expect: {bodySuffix: hello}}]
sweeps:
  throughput: {connections: [4], durationSeconds: 1, warmupSeconds: 0}
";

/// The kinds of objects that a release creates outside namespaces of runs.
const MADE: &str = "deployments,services,configmaps,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,\
                    networkpolicies,validatingadmissionpolicies,validatingadmissionpolicybindings,\
                    customresourcedefinitions";

/// Runs helm in the operator's namespace, and returns what it printed.
async fn helm(arguments: &[&str]) -> String {
    let namespace = operator_namespace();
    let called = run("helm", &[arguments, &["--namespace", &namespace]].concat()).await;
    assert!(called.ok, "{called:?}");
    called.stdout
}

/// Installs the chart, or upgrades it, with these values.
async fn upgraded(values: &Path, more: &[&str]) {
    let values = values.to_str().expect("a path in UTF-8");
    let upgrade = [
        "upgrade",
        "--install",
        "wasmbench",
        CHART,
        "--values",
        values,
        "--wait",
        "--timeout",
        "600s",
    ];
    helm(&[&upgrade, more].concat()).await;
}

/// The names of the existing objects that the release created.
async fn made() -> Vec<String> {
    let selector = "app.kubernetes.io/instance=wasmbench";
    let get = ["get", MADE, "-A", "-o", "name", "-l", selector];
    let found = kubectl(&get).await;
    assert!(found.ok, "{found:?}");
    found.stdout.lines().map(str::to_owned).collect()
}

/// What `kubectl wasmbench report` prints of the run, recomputed from its records.
async fn report(namespace: &str) -> String {
    let shown = kubectl(&["wasmbench", "report", "lasting", "-n", namespace]).await;
    assert!(shown.ok, "{shown:?}");
    shown.stdout
}

#[tokio::test]
#[ignore = "needs Prometheus: make test-ui"]
async fn an_upgrade_and_an_uninstall_leave_runs_and_their_results() {
    let saved = tempfile::NamedTempFile::new().expect("a file");
    let values = helm(&["get", "values", "wasmbench", "--output", "yaml"]).await;
    std::fs::write(saved.path(), values).expect("written");

    with_namespace("chart", |client, namespace| async move {
        runs::create(&client, &namespace, "lasting", SHORT).await;
        runs::recorded(&client, &namespace, "lasting", 2).await;
        // Another pod of the operator, while a trial is running.
        upgraded(
            saved.path(),
            &["--set-string", "podAnnotations.upgraded=yes"],
        )
        .await;
        let run = runs::finished(&client, &namespace, "lasting", 300).await;
        let succeeded = runs::condition(&run, SUCCEEDED).expect("it has ended");
        let records = runs::records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        assert_eq!(succeeded.status, "True", "{outcomes:#?}");
        assert_eq!((records.len(), outcomes.len()), (10, 10), "{outcomes:#?}");
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
        let before = report(&namespace).await;

        assert!(made().await.len() > 10, "the selector finds the release");
        helm(&["uninstall", "wasmbench", "--wait"]).await;
        assert_eq!(made().await, Vec::<String>::new());
        // The CRDs stay, otherwise this would be gone.
        assert_eq!(report(&namespace).await, before);

        upgraded(saved.path(), &[]).await;
        helm(&["test", "wasmbench"]).await;
        let check = kubectl(&["wasmbench", "check", "--wait", "-n", &namespace]).await;
        assert!(check.ok, "{check:?}");
        let again = runs::get(&client, &namespace, "lasting").await;
        assert_eq!(again.status, run.status, "what has ended is left alone");
    })
    .await;
}
