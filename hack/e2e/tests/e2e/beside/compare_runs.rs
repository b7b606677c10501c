//! Two runs on the real node: the later names the earlier, and the plugin compares them too.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt};
use serde_json::Value;
use wasmbench_api::labels;
use wasmbench_api::status::VersusRun;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;

const SHORT: &str = r"
blocks: 3
noiseFloor: false
variants:
- {name: native, preset: native}
workloads: [{name: hello, expect: {bodySuffix: hello}}]
sweeps:
  warmLatency: {requests: 100}
";

#[tokio::test]
async fn a_run_is_compared_with_the_one_that_it_names() {
    with_namespace("compare", |client, namespace| async move {
        let versus = |later: &'static str, earlier: &str, more: &str| {
            let spec = format!("{SHORT}{more}\nbaselineRunName: {earlier}\n");
            let (client, namespace) = (client.clone(), namespace.clone());
            async move {
                let run =
                    runs::finished_on_quiet_node(&client, &namespace, later, &spec, 180).await;
                let versus = run
                    .status
                    .as_ref()
                    .and_then(|status| status.versus_run.clone());
                (run.name_any(), versus.expect("versusRun is in the status"))
            }
        };
        let (first, missing): (String, VersusRun) = versus("first", "nobody", "").await;
        assert!(!missing.compared, "{missing:?}");
        assert!(
            missing
                .message
                .contains("there is no BenchmarkRun 'nobody'"),
            "{missing:?}"
        );
        let (second, compared) = versus("second", &first, "").await;
        assert!(compared.compared, "{compared:?}");
        // Warm p50 at least: CPU and memory are missing where so short a window began unobserved.
        assert!(compared.message.contains(" number"), "{compared:?}");
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
        let report = maps
            .get(&format!("{second}-report"))
            .await
            .expect("the report");
        check_documents(&namespace, &second, report.annotations()).await;
        let files = report.data.expect("files");
        assert!(
            files["versus-run.txt"].contains("warm p50 latency"),
            "{files:?}"
        );
        let (third, refused) =
            versus("third", &first, "resources: {limits: {memory: 256Mi}}").await;
        assert!(!refused.compared, "{refused:?}");
        assert!(refused.message.contains("spec.resources"), "{refused:?}");
        let plugin = |earlier: &str, later: &str| {
            let names = [earlier, later].map(str::to_owned);
            let namespace = namespace.clone();
            async move {
                let [earlier, later] = names;
                kubectl(&["wasmbench", "compare", &earlier, &later, "-n", &namespace]).await
            }
        };
        let again = plugin(&first, &second).await;
        // Three blocks are too few to be trusted.
        assert_eq!(again.code, Some(3), "{again:?}");
        assert_eq!(again.stdout, files["versus-run.txt"]);
        let refused = plugin(&first, &third).await;
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(
            refused.stdout.contains("Not comparable: spec.resources"),
            "{refused:?}"
        );
    })
    .await;
}

/// What programs read of a finished run, and which build wrote its report.
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
