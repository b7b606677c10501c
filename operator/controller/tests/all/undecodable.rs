//! An object that does not fit this operator's API, as after a downgrade: its status reports it, and
//! keeps what an earlier version found. The mock API server tracks who applied which field and, like
//! a real one, removes what a manager leaves out of its next apply.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use wasmbench_controller::context::{Context, GuardedRun};
use wasmbench_controller::reconcile::reconcile;
use wasmbench_model::images::Images;

/// The manager of the status of objects that decode.
const OPERATOR: &str = "wasmbench-operator";

/// Fields of a status and who applied them. Each condition is a field, named by its type.
#[derive(Default)]
struct Applied {
    /// What was removed before the first status was applied, and given back.
    swept: Vec<String>,
    fields: BTreeMap<String, Value>,
    owners: BTreeMap<String, BTreeSet<String>>,
    times: u32,
}

impl Applied {
    fn apply(&mut self, manager: &str, status: &Value) {
        self.times += 1;
        let new = fields(status);
        let before = self.owners.remove(manager).unwrap_or_default();
        for gone in before.iter().filter(|name| !new.contains_key(*name)) {
            if !self.owners.values().any(|others| others.contains(gone)) {
                self.fields.remove(gone);
            }
        }
        let names = new.keys().cloned().collect();
        self.owners.insert(manager.to_owned(), names);
        self.fields.extend(new);
    }
}

fn fields(status: &Value) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::new();
    for (name, value) in status.as_object().expect("a status") {
        match value.as_array() {
            Some(conditions) if name == "conditions" => {
                let typed = conditions.iter().map(|condition| {
                    let type_ = condition["type"].as_str().expect("a type");
                    (format!("conditions.{type_}"), condition.clone())
                });
                fields.extend(typed);
            }
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
    }
    fields
}

/// The object as a newer version wrote it, with a preset that this version does not have.
fn object() -> Value {
    json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {
            "name": "tomorrow", "namespace": "team-a", "generation": 1,
            "uid": "6f0c0e6e-0000-4000-8000-000000000002",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "variants": [{"name": "next", "preset": "of-the-next-version"}],
            "workloads": [{"name": "greet"}],
            "sweeps": {"warmLatency": {}},
        },
    })
}

/// What the newer version found.
fn found() -> Value {
    let condition = |type_: &str, status: &str| {
        json!({
            "type": type_, "status": status, "reason": "Completed", "message": "",
            "lastTransitionTime": "2026-01-01T01:00:00Z",
        })
    };
    json!({
        "observedGeneration": 1,
        "verdict": "next serves 1.30x (1.25-1.35) the rate of native",
        "summary": [{"variant": "next", "workload": "greet"}],
        "results": {"report": "tomorrow-report", "records": ["tomorrow-records"]},
        "conditions": [
            condition("Finished", "True"), condition("Succeeded", "True"),
            condition("Trustworthy", "True"),
        ],
    })
}

/// What the run had when it still decoded: a probe's Job, a subject, and a node. Notes what is
/// removed and given back.
fn left_by(request: &Request<Body>, applied: &mut Applied) -> Value {
    let (method, path) = (request.method().as_str(), request.uri().path());
    if method != "GET" {
        assert_eq!(applied.times, 1, "{method} {path} after the conditions");
        applied.swept.push(format!("{method} {path}"));
        return json!({ "metadata": { "name": "x" } });
    }
    let list = |items: Value| json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": items });
    let there = applied.times == 1;
    match path.rsplit('/').next().unwrap() {
        "jobs" if there => list(json!([{ "metadata": { "name": "probe-1", "uid": "1" } }])),
        "pods" if there && path.contains("/team-a/") => {
            list(json!([{ "metadata": { "name": "subject-1", "uid": "2" } }]))
        }
        "leases" if there => {
            let uid = object()["metadata"]["uid"].clone();
            let spec = json!({ "holderIdentity": uid });
            list(json!([{ "metadata": { "name": "node-1" }, "spec": spec }]))
        }
        _ => list(json!([])),
    }
}

/// A context whose API server applies patches of the status and answers with the object.
fn server(applied: &Arc<Mutex<Applied>>) -> Arc<Context> {
    let applied = Arc::clone(applied);
    let service = tower::service_fn(move |request: Request<Body>| {
        let applied = Arc::clone(&applied);
        async move {
            if request.method() != "PATCH" {
                let answer = left_by(&request, &mut applied.lock().unwrap());
                let body = serde_json::to_vec(&answer).unwrap();
                return Ok(Response::new(Body::from(body)));
            }
            assert!(
                request.uri().path().ends_with("/tomorrow/status"),
                "{}",
                request.uri()
            );
            assert_eq!(
                request.headers()["content-type"],
                "application/apply-patch+yaml"
            );
            let query = request.uri().query().unwrap_or_default().to_owned();
            let manager = query
                .split('&')
                .find_map(|part| part.strip_prefix("fieldManager="))
                .expect("a manager")
                .to_owned();
            let bytes = request.into_body().collect_bytes().await.unwrap();
            let patch: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(patch["metadata"]["uid"], object()["metadata"]["uid"]);
            applied.lock().unwrap().apply(&manager, &patch["status"]);
            let body = serde_json::to_vec(&object()).unwrap();
            Ok::<_, Infallible>(Response::new(Body::from(body)))
        }
    });
    let config = json!({
        "operatorNamespace": "ops", "coldStartServiceAccount": "cold",
        "images": Images::in_registry("example.com", "1"),
    });
    let config = serde_json::from_value(config).unwrap();
    Context::new(Client::new(service, "default"), config)
}

#[tokio::test]
async fn results_survive_in_an_object_that_does_not_decode() {
    let run: GuardedRun = serde_json::from_value(object()).unwrap();
    assert!(run.0.is_err(), "the fixture decodes");
    let applied = Arc::new(Mutex::new(Applied::default()));
    applied.lock().unwrap().apply(OPERATOR, &found());
    let context = server(&applied);
    let run = Arc::new(run);
    // Twice, as after a restart: repeating the conditions must not lose what was written first.
    for times in 2..=3 {
        let result = reconcile(Arc::clone(&run), Arc::clone(&context)).await;
        result.unwrap();
        let applied = applied.lock().unwrap();
        assert_eq!(applied.times, times);
        for kept in ["verdict", "summary", "results"] {
            assert_eq!(applied.fields[kept], found()[kept], "{kept}");
        }
        assert_eq!(applied.fields["conditions.Trustworthy"]["status"], "True");
        assert_eq!(applied.fields["conditions.Accepted"]["status"], "False");
        let stalled = &applied.fields["conditions.Stalled"];
        assert_eq!(stalled["status"], "True");
        let message = stalled["message"].as_str().unwrap();
        assert!(message.contains("of-the-next-version"), "{message}");
        assert!(message.contains("results are kept"), "{message}");
    }
}

#[tokio::test]
async fn a_run_that_stops_decoding_is_swept_before_its_conditions_are_written() {
    let run: GuardedRun = serde_json::from_value(object()).unwrap();
    let applied = Arc::new(Mutex::new(Applied::default()));
    applied.lock().unwrap().apply(OPERATOR, &found());
    let context = server(&applied);
    reconcile(Arc::new(run), context).await.unwrap();
    let applied = applied.lock().unwrap();
    let swept: Vec<&str> = applied
        .swept
        .iter()
        .map(|call| call.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(
        swept,
        ["probe-1", "subject-1", "node-1"],
        "{:?}",
        applied.swept
    );
    assert_eq!(applied.times, 2, "then with the reason");
}

#[test]
fn writing_conditions_as_the_manager_of_the_results_would_remove_these() {
    let mut applied = Applied::default();
    applied.apply(OPERATOR, &found());
    applied.apply(OPERATOR, &json!({"conditions": []}));
    assert!(applied.fields.is_empty(), "{:?}", applied.fields);
}
