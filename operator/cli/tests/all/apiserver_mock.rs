//! Responses of an API server, and the errors that people see.

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use kubectl_wasmbench::cluster::Cluster;
use kubectl_wasmbench::error::Error;
use serde_json::{Value, json};
use tower_test::mock;

/// A cluster that gives these responses, one after the other.
fn cluster(answers: Vec<(u16, Value)>) -> Cluster {
    let (service, mut handle) = mock::pair::<Request<Body>, Response<Body>>();
    tokio::spawn(async move {
        for (code, body) in answers {
            let (_, send) = handle.next_request().await.expect("a request");
            let body = Body::from(serde_json::to_vec(&body).expect("an answer"));
            let response = Response::builder().status(code).body(body);
            send.send_response(response.expect("a response"));
        }
    });
    Cluster::new(Client::new(service, "default"), "default".into())
}

fn failure(code: u16, message: &str) -> (u16, Value) {
    let reason = if code == 404 { "NotFound" } else { "Forbidden" };
    let body = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure",
        "code": code, "reason": reason, "message": message,
    });
    (code, body)
}

fn no_runs() -> (u16, Value) {
    let kind = "BenchmarkRunList";
    let body = json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": kind, "metadata": {}, "items": [],
    });
    (200, body)
}

#[tokio::test]
async fn a_wrong_name_is_distinguished_from_a_missing_crd() {
    let missing = failure(404, "benchmarkruns.wasmbench.dev \"fast\" not found");
    let error = cluster(vec![missing, no_runs()])
        .run("fast")
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NoSuchRun { .. }), "{error}");
    let unknown = failure(404, "the server could not find the requested resource");
    let error = cluster(vec![unknown.clone(), unknown])
        .run("fast")
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NotInstalled), "{error}");
}

#[tokio::test]
async fn a_run_for_a_missing_namespace_names_the_namespace() {
    let (code, mut body) = failure(404, "namespaces \"nope\" not found");
    body["details"] = json!({"name": "nope", "kind": "namespaces"});
    let run = json!({"metadata": {"name": "fast"}});
    let created = cluster(vec![(code, body)]).create_run(&run).await;
    let error = created.unwrap_err().to_string();
    assert!(
        error.starts_with("there is no namespace 'nope'; choose another one"),
        "{error}"
    );
}

#[tokio::test]
async fn the_name_of_a_schedule_is_recognised() {
    let missing = failure(404, "benchmarkruns.wasmbench.dev \"nightly\" not found");
    let schedule = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {"name": "nightly", "namespace": "default"},
    });
    let error = cluster(vec![missing, no_runs(), (200, schedule)])
        .run("nightly")
        .await
        .unwrap_err();
    assert!(matches!(&error, Error::IsSchedule(_)), "{error}");
    assert!(
        error.to_string().contains("start --schedule nightly"),
        "{error}"
    );
}

#[tokio::test]
async fn a_refusal_repeats_what_the_api_server_says() {
    let message = "user cannot list benchmarkruns";
    let error = cluster(vec![failure(403, message)])
        .all_runs(true)
        .await
        .unwrap_err();
    assert!(matches!(&error, Error::Refused { .. }) && error.to_string().contains(message));
}

#[tokio::test]
async fn only_what_may_change_by_itself_is_to_be_tried_again() {
    for (code, reason, remedy) in [
        (409, "AlreadyExists", "choose another name"),
        (409, "Conflict", "try again"),
        (400, "BadRequest", "correct what it names"),
        (422, "Invalid", "correct what it names"),
        (429, "TooManyRequests", "try again"),
        (500, "InternalError", "try again"),
    ] {
        let (code, mut body) = failure(code, "message of the API server");
        body["reason"] = json!(reason);
        let created = cluster(vec![(code, body)]).create_run(&json!({})).await;
        let error = created.unwrap_err().to_string();
        assert!(error.contains("(message of the API server)"), "{error}");
        assert!(error.ends_with(remedy), "{reason}: {error}");
    }
}

#[tokio::test]
async fn a_report_of_another_run_of_the_name_is_not_taken() {
    let other = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": "fast-report", "namespace": "default",
            "labels": {"wasmbench.dev/run-uid": "older"},
        },
    });
    let run = serde_json::from_value(json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
        "metadata": {"name": "fast", "namespace": "default", "uid": "newer"},
        "spec": {"variants": [], "workloads": [], "sweeps": {}},
    }));
    let error = cluster(vec![(200, other)])
        .report(&run.unwrap())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::NoReport(_)), "{error}");
}
