//! Requests with a method, headers, a `Host` and a body reach a service that takes no other, and its
//! answers are JSON that is compared by value.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::runs;
use wasmbench_model::digest::sha256;
use wasmbench_model::wire::record::Record;

/// The only body that `/strict` takes (`hack/misbehave`).
const BODY: &str = r#"{"items": [1, 2, 3], "name": "pen"}"#;
/// The `ConfigMap` with the body.
const ORDERS: &str = "orders";

/// A workload whose request differs by these fields.
fn workload(name: &str, fields: &Value) -> Value {
    let mut workload = json!({
        "name": name,
        "path": "/strict",
        "method": "POST",
        "headers": [
            {"name": "Host", "value": "shop.example.com"},
            {"name": "Content-Type", "value": "application/json"},
            {"name": "X-Api-Key", "value": "let me in"},
        ],
        "expect": {
            "status": 200,
            "contentType": "application/json",
            "json": {"/total": 42, "/paid": "true", "/currency": "EUR"},
            "sameAcrossVariants": true,
        },
    });
    for (field, value) in fields.as_object().expect("fields") {
        workload[field] = value.clone();
    }
    workload
}

fn inline() -> Value {
    workload("inline", &json!({ "body": BODY }))
}

fn stored() -> Value {
    let from = json!({ "configMap": ORDERS, "key": "order.json" });
    workload("stored", &json!({ "bodyFrom": from }))
}

/// Two variants of one image, and these workloads.
fn spec(image: &str, blocks: u32, workloads: &[Value]) -> String {
    let container = json!({ "image": image });
    json!({
        "blocks": blocks,
        "seed": 1,
        "noiseFloor": false,
        "subjectReadyTimeoutSeconds": 30,
        "variants": [
            {"name": "one", "container": container},
            {"name": "other", "container": container},
        ],
        "workloads": workloads,
        "sweeps": {
            "warmLatency": {"requests": 50},
            "throughput": {"connections": [4], "durationSeconds": 1, "warmupSeconds": 0},
        },
    })
    .to_string()
}

async fn store(client: &Client, namespace: &str) -> Api<ConfigMap> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let mut map = ConfigMap {
        data: Some(BTreeMap::from([("order.json".to_owned(), BODY.to_owned())])),
        ..ConfigMap::default()
    };
    map.metadata.name = Some(ORDERS.to_owned());
    let created = maps.create(&PostParams::default(), &map).await;
    created.expect("the ConfigMap is created");
    maps
}

fn all_right(record: &Record) {
    let document = record.load().expect("a load");
    let timed = document.timed.as_ref().expect("a window");
    for run in timed.runs() {
        let codes = run["RetCodes"].as_object().expect("statuses");
        assert_eq!(
            codes.keys().collect::<Vec<_>>(),
            ["200"],
            "{}",
            record.trial
        );
    }
    let answer = document.answer_before.as_ref().expect("an answer");
    assert!(answer.json_sha256.is_some(), "{answer:?}");
}

/// The digest in the status.
fn noted(run: &BenchmarkRun) -> Vec<(&str, &str)> {
    let status = run.status.as_ref().expect("a status");
    let bodies = status.bodies.iter();
    bodies
        .map(|body| (body.workload.as_str(), body.sha256.as_str()))
        .collect()
}

#[tokio::test]
async fn a_service_that_takes_one_request_only_is_measured_with_it() {
    with_namespace("requests", |client, namespace| async move {
        store(&client, &namespace).await;
        let image = test_image(&client, "misbehave").await;
        let spec = spec(&image, 2, &[inline(), stored()]);
        let run = ("strict", &*spec);
        let (run, records) = runs::measured(&client, &namespace, run, 420, 16).await;
        records.iter().for_each(all_right);
        let digest = sha256(BODY.as_bytes());
        assert_eq!(noted(&run), [("stored", digest.as_str())]);
    })
    .await;
}

/// Three of four connections ask for a page, and one orders.
#[tokio::test]
async fn a_mix_is_shared_by_its_weights_and_each_request_is_counted() {
    with_namespace("mix", |client, namespace| async move {
        let image = test_image(&client, "misbehave").await;
        let mut order = inline();
        order["weight"] = json!(1);
        let expect = order["expect"].as_object_mut().expect("an expectation");
        expect.remove("sameAcrossVariants");
        let home = json!({"name": "home", "weight": 3, "expect": {"body": "hello"}});
        let shop = json!({"name": "shop", "requests": [home, order]});
        let spec = spec(&image, 2, &[shop])
            .replace(r#"{"requests":50}"#, r#"{"requests":50,"connections":4}"#);
        let run = ("shop", &*spec);
        let (_, records) = runs::measured(&client, &namespace, run, 300, 8).await;
        for record in &records {
            let document = record.load().expect("a load");
            let orders = &document.further_answers[0];
            assert_eq!(orders.request, "inline", "{orders:?}");
            assert!(
                orders.before.is_some() && orders.after.is_some(),
                "{orders:?}"
            );
            for run in document.timed.as_ref().expect("a window").runs() {
                let connections = |part: usize| run["Parts"][part]["Connections"].as_u64();
                assert_eq!((connections(0), connections(1)), (Some(3), Some(1)));
                assert_eq!(run["Parts"][1]["Failed"], 0, "{}", record.trial);
                assert!(
                    run["Parts"][1]["Expected"].as_u64() > Some(0),
                    "{}",
                    record.trial
                );
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_to_an_address_is_a_wrong_answer_where_a_host_is_asked_for() {
    with_namespace("address", |client, namespace| async move {
        let image = test_image(&client, "misbehave").await;
        let mut addressed = inline();
        let headers = addressed["headers"].as_array_mut().expect("headers");
        headers.retain(|header| header["name"] != "Host");
        // Long enough for a service that has nothing to do before it listens.
        let spec = spec(&image, 1, &[addressed]).replace(r#"Seconds":30"#, r#"Seconds":5"#);
        runs::create(&client, &namespace, "addressed", &spec).await;
        let run = runs::finished(&client, &namespace, "addressed", 240).await;
        let status = run.status.expect("a status");
        let reasons: Vec<&str> = status.skipped.iter().map(|one| &*one.reason).collect();
        assert_eq!(reasons, ["WrongAnswer"; 2], "{:#?}", status.skipped);
    })
    .await;
}

#[tokio::test]
async fn a_body_that_changes_ends_the_run_with_a_message() {
    with_namespace("changes", |client, namespace| async move {
        let maps = store(&client, &namespace).await;
        let image = test_image(&client, "misbehave").await;
        let spec = spec(&image, 20, &[stored()]);
        runs::create(&client, &namespace, "changes", &spec).await;
        runs::recorded(&client, &namespace, "changes", 1).await;
        let other = json!({ "data": { "order.json": "{}" } });
        let patched = maps
            .patch(ORDERS, &PatchParams::default(), &Patch::Merge(&other))
            .await;
        patched.expect("the ConfigMap is changed");
        let run = runs::finished(&client, &namespace, "changes", 240).await;
        assert_eq!(noted(&run).len(), 1);
        let records = runs::records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        let changed = outcomes
            .values()
            .filter(|word| word.ends_with("BodyChanged"));
        assert!(changed.count() >= 2, "{outcomes:#?}");
    })
    .await;
}
