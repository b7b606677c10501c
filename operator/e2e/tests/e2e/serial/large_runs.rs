//! Runs as large as the API server accepts from a tenant. The operator reads all of them when it
//! starts.

use std::collections::BTreeMap;

use kube::api::PostParams;
use kube::{Api, Client};
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::tenant::tenant;
use wasmbench_e2e::{operator, runs};

const COUNT: usize = 120;
/// The chart gives the operator 256 MiB.
const MOST_MEBIBYTES: f64 = 64.0;

/// A suspended run with this many characters of text, annotations, and labels. An eighth of the text
/// is arguments, as much a header, and the rest a body. All workloads have the longest path, and as
/// many values in JSON as they may have.
fn run(name: &str, text: usize, annotations: usize, labels: usize) -> BenchmarkRun {
    let part = text / 8;
    let arguments = vec!["a".repeat(part / 4); 4].join("', '");
    let (header, body) = ("v".repeat(part), "b".repeat(text - 2 * part));
    let path = "p".repeat(1023);
    let json: Vec<String> = (0..8)
        .map(|place| format!("'/{place:0>95}': '{}'", "j".repeat(128)))
        .collect();
    let json = json.join(", ");
    let others: Vec<String> = (0..15)
        .map(|number| format!("{{name: w{number}, path: '/{path}', expect: {{json: {{{json}}}}}}}"))
        .collect();
    let others = others.join(", ");
    let spec = format!(
        "suspend: true\nvariants: [{{name: own, container: {{image: 'x', port: 80, args: ['{arguments}']}}}}]\n\
         workloads: [{{name: hello, method: POST, headers: [{{name: X, value: '{header}'}}], body: '{body}'}}, {others}]\n\
         sweeps: {{warmLatency: {{requests: 50}}}}\n"
    );
    let spec = serde_yaml::from_str(&spec).expect("the spec is YAML");
    let mut run = BenchmarkRun::new(name, spec);
    let label = |number| (format!("l{number:062}"), "v".repeat(63));
    run.metadata.labels = Some((0..labels).map(label).collect());
    let annotation = ("large".to_owned(), "a".repeat(annotations));
    run.metadata.annotations = Some(BTreeMap::from([annotation]));
    run
}

async fn refused_beyond(mallory: &Client, namespace: &str) {
    let api: Api<BenchmarkRun> = Api::namespaced(mallory.clone(), namespace);
    for (run, message) in [
        (run("wordy", 17_000, 0, 0), "16384 characters"),
        (run("noted", 800, 140_000, 0), "metadata.annotations"),
        (run("labelled", 800, 0, 65), "metadata.labels"),
    ] {
        let refused = api.create(&PostParams::default(), &run).await;
        let refused = refused.expect_err("more than a run may have").to_string();
        assert!(refused.contains(message), "{refused}");
    }
}

#[tokio::test]
async fn runs_as_large_as_they_may_be_do_not_keep_the_operator_from_starting() {
    with_namespace("large", |client, namespace| async move {
        let mallory = tenant(&client, &namespace).await;
        refused_beyond(&mallory, &namespace).await;
        let api: Api<BenchmarkRun> = Api::namespaced(mallory.clone(), &namespace);
        let mut bytes = 0;
        for number in 1..=COUNT {
            let large = run(&format!("large-{number}"), 16_376, 130_000, 64);
            let created = api.create(&PostParams::default(), &large).await;
            let created = created.expect("the API server takes it");
            bytes += serde_json::to_vec(&created).expect("JSON").len();
        }
        operator::restarted().await;
        // The other tenants' runs continue.
        let mut small = run("small", 800, 0, 0);
        small.spec.suspend = false;
        let created = Api::namespaced(client.clone(), &namespace)
            .create(&PostParams::default(), &small)
            .await;
        created.expect("the run is created");
        runs::finished(&client, &namespace, "small", 120).await;
        let peak = operator::memory("VmHWM");
        println!("{COUNT} runs of {bytes} bytes in all: at most {peak:.1} MiB");
        assert!(peak < MOST_MEBIBYTES, "{peak} MiB");
    })
    .await;
}
