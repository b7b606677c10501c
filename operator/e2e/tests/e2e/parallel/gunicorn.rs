//! gunicorn, whose sync workers end the connection after each answer: its rate is that of a plain
//! client, and no request fails.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, LogParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{placement, with_own_node};
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::{PATIENCE, eventually, runs};

const CONNECTIONS: u32 = 4;
const SECONDS: u32 = 5;
/// How far the rates may be apart.
const APART: f64 = 0.15;

fn spec(image: &str) -> String {
    format!(
        r"
blocks: 2
seed: 1
noiseFloor: false
variants:
- {{name: sync, container: {{image: '{image}', listeningLine: 'Booting worker', args: [--worker-class=sync]}}}}
- {{name: gthread, container: {{image: '{image}', listeningLine: 'Booting worker', args: [--worker-class=gthread, --threads=4]}}}}
workloads: [{{name: orders, path: /orders, expect: {{sameAcrossVariants: true}}}}]
sweeps: {{throughput: {{connections: [{CONNECTIONS}], durationSeconds: {SECONDS}, warmupSeconds: 1}}}}
"
    )
}

/// The same server and a client of Python's own library, in one pod.
fn pod(image: &str, node: &str) -> Pod {
    let security =
        json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } });
    let client = [
        "8080",
        "/orders",
        &CONNECTIONS.to_string(),
        &SECONDS.to_string(),
    ];
    let pod = serde_json::from_value(json!({
        "metadata": { "name": "plain" },
        "spec": {
            "nodeSelector": { "kubernetes.io/hostname": node },
            "tolerations": [{ "operator": "Exists" }],
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
            "containers": [
                {
                    "name": "server", "image": image, "args": ["--worker-class=sync"],
                    "securityContext": security,
                },
                {
                    "name": "client", "image": image, "args": client,
                    "command": ["/usr/bin/python3", "/app/client.py"], "securityContext": security,
                },
            ],
        },
    }));
    pod.expect("a pod")
}

/// Requests per second of a plain client.
async fn plain_rate(pods: &Api<Pod>, image: &str, node: &str) -> f64 {
    let created = pods.create(&PostParams::default(), &pod(image, node)).await;
    created.expect("the pod is created");
    let log = LogParams {
        container: Some("client".to_owned()),
        ..LogParams::default()
    };
    let found: Value = eventually(PATIENCE, "the client has printed its rate", || async {
        let text = pods.logs("plain", &log).await.ok()?;
        serde_json::from_str(text.trim()).ok()
    })
    .await;
    assert_eq!(found["failed"], 0, "{found}");
    let deleted = pods.delete("plain", &DeleteParams::default()).await;
    deleted.expect("the pod is deleted");
    eventually(PATIENCE, "the pod is gone", || async {
        pods.get_opt("plain").await.ok()?.is_none().then_some(())
    })
    .await;
    found["perSecond"].as_f64().expect("a rate")
}

#[tokio::test]
#[ignore = "compares rates, and needs an image of 50 MiB: make test-systems"]
async fn sync_workers_of_gunicorn_are_as_fast_as_for_a_plain_client() {
    with_namespace("gunicorn", |client, namespace| async move {
        with_own_node(&client, async |node| {
            compared(&client, &namespace, &node).await;
        })
        .await;
    })
    .await;
}

async fn compared(client: &Client, namespace: &str, node: &str) {
    let image = test_image(client, "gunicorn").await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    // Before and after: the machine's speed changes within minutes.
    let before = plain_rate(&pods, &image, node).await;
    let spec = spec(&image) + &placement(node);
    let run = ("gunicorn", &*spec);
    let (run, records) = runs::measured(client, namespace, run, 300, 4).await;
    let after = plain_rate(&pods, &image, node).await;
    for record in &records {
        let document = record.load().expect("a load");
        let timed = document.timed.as_ref().expect("a window");
        for part in timed.runs() {
            let codes = part["RetCodes"].as_object().expect("statuses");
            let codes: Vec<&str> = codes.keys().map(String::as_str).collect();
            assert_eq!(codes, ["200"], "{}", record.trial);
        }
    }
    let rows = &run.status.as_ref().expect("a status").summary;
    let sync = rows.iter().find(|row| row.variant == "sync");
    let load = sync.and_then(|row| row.throughput.as_ref());
    let rate = load.expect("a load").points[0].rps;
    println!("gunicorn: {rate:.1} requests/s; a plain client {before:.1} and {after:.1}");
    let (low, high) = (before.min(after), before.max(after));
    let expected = (1.0 - APART) * low..=(1.0 + APART) * high;
    assert!(
        expected.contains(&rate),
        "{rate}, compared with {before} and {after}"
    );
}
