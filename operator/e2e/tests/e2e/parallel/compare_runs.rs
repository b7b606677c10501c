//! Two runs on one node: the later one names the earlier one, and the plugin compares them too.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt};
use serde_json::Value;
use wasmbench_api::labels;
use wasmbench_api::status::VersusRun;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{placement, with_own_node};
use wasmbench_e2e::runs;

const SHORT: &str = r"
blocks: 2
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: hello, expect: {bodySuffix: hello}}]
sweeps: {warmLatency: {requests: 100}}
";

/// Measures a run that names an earlier one, and returns what its status says about both.
async fn versus(
    (client, namespace, node): (&Client, &str, &str),
    later: &str,
    earlier: &str,
    more: &str,
) -> VersusRun {
    let node = placement(node);
    let spec = format!("{SHORT}{more}\n{node}baselineRunName: {earlier}\n");
    runs::create(client, namespace, later, &spec).await;
    let run = runs::finished(client, namespace, later, 180).await;
    let versus = run.status.and_then(|status| status.versus_run);
    versus.expect("versusRun is in the status")
}

#[tokio::test]
async fn a_run_is_compared_with_the_one_that_it_names() {
    with_namespace("compare", |client, namespace| async move {
        with_own_node(&client, async |node| {
            compare(&client, &namespace, &node).await;
        })
        .await;
    })
    .await;
}

async fn compare(client: &Client, namespace: &str, node: &str) {
    let place = (client, namespace, node);
    let missing = versus(place, "first", "nobody", "").await;
    assert!(!missing.compared, "{missing:?}");
    let nobody = "there is no BenchmarkRun 'nobody'";
    assert!(missing.message.contains(nobody), "{missing:?}");

    let compared = versus(place, "second", "first", "").await;
    assert!(compared.compared, "{compared:?}");
    // At least warm p50 of the variant: CPU and memory are missing if the
    // beginning of such a short window was not observed. On a busy node it may be that no number is
    // judged.
    assert!(compared.message.contains(" number"), "{compared:?}");
    let nothing = "no number is valid";
    assert!(!compared.message.contains(nothing), "{compared:?}");
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let report = maps.get("second-report").await.expect("the report");
    check_documents(namespace, "second", report.annotations()).await;
    let files = report.data.expect("files");
    let versus_run = &files["versus-run.txt"];
    for part in ["warm p50 latency", "OF BASELINE", "x -> ", "not judged"] {
        assert!(versus_run.contains(part), "{part}: {versus_run}");
    }
    let few = kubectl(&[
        "wasmbench",
        "compare",
        "first",
        "second",
        "second",
        "-n",
        namespace,
    ])
    .await;
    assert!(
        few.code == Some(1) && few.stderr.contains("name one, or 5"),
        "{few:?}"
    );

    let memory = "resources: {limits: {memory: 256Mi}}";
    let refused = versus(place, "third", "first", memory).await;
    assert!(!refused.compared, "{refused:?}");
    assert!(refused.message.contains("spec.resources"), "{refused:?}");

    let again = kubectl(&["wasmbench", "compare", "first", "second", "-n", namespace]).await;
    // Two blocks are too few to be trusted.
    assert_eq!(again.code, Some(3), "{again:?}");
    assert_eq!(&again.stdout, versus_run);
    let refused = kubectl(&["wasmbench", "compare", "first", "third", "-n", namespace]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let why = "Not comparable: spec.resources";
    assert!(refused.stdout.contains(why), "{refused:?}");
}

/// Checks what programs read of a finished run, and which build wrote its report.
async fn check_documents(namespace: &str, run: &str, report: &BTreeMap<String, String>) {
    let got = kubectl(&["wasmbench", "get", run, "-n", namespace, "-o", "json"]).await;
    let document: Value = serde_json::from_str(&got.stdout).expect("nothing but JSON");
    assert_eq!(document["schema"], "wasmbench.dev/run/v1", "{got:?}");
    assert_eq!(document["exitCode"], 3, "{got:?}");
    assert!(document["status"]["summary"][0].is_object(), "{got:?}");

    let version = kubectl(&["wasmbench", "--version"]).await;
    let build = &report[labels::OPERATOR_BUILD];
    assert!(version.stdout.contains(build), "{version:?}: {build}");
    let check = kubectl(&["wasmbench", "report", run, "-n", namespace, "--check"]).await;
    assert!(check.stdout.contains("byte for byte"), "{check:?}");
}
