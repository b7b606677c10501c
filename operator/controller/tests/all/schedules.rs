//! Conversations of the controller of schedules with a mock API server.

use std::sync::Arc;

use kube::runtime::controller::Action;
use serde_json::{Value, json};
use wasmbench_api::labels;
use wasmbench_controller::error::Error;
use wasmbench_controller::schedules::reconcile::reconcile;

use crate::apiserver_mock::{Call, conversation, status};

const UID: &str = "6f0c0e6e-0000-4000-8000-000000000009";

/// A schedule that has existed for years, with this expression and status.
fn schedule(expression: &str, status: &Value) -> Value {
    json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkSchedule",
        "metadata": {
            "name": "often", "namespace": "team-a", "uid": UID, "generation": 1,
            "creationTimestamp": "2024-01-01T00:00:00Z",
        },
        "spec": {
            "schedule": expression,
            "template": {"spec": {
                "variants": [{"name": "native", "preset": "native"}],
                "workloads": [{"name": "greet"}],
                "sweeps": {"warmLatency": {}},
            }},
        },
        "status": status,
    })
}

/// The calls with which each reconcile of a schedule without runs begins.
fn first_calls(schedule: &Value) -> Vec<Call> {
    let none = json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRunList", "metadata": {},
        "items": [],
    });
    vec![
        (
            "GET",
            "/team-a/benchmarkschedules/often",
            200,
            schedule.clone(),
        ),
        ("GET", "/team-a/benchmarkruns", 200, none),
    ]
}

fn patched(schedule: &Value) -> Call {
    (
        "PATCH",
        "/benchmarkschedules/often/status",
        200,
        schedule.clone(),
    )
}

/// Reconciles once, and returns the result and the bodies of all calls.
async fn reconciled(schedule: &Value, more: Vec<Call>) -> (Result<Action, Error>, Vec<Value>) {
    reconciled_with(schedule, [first_calls(schedule), more].concat()).await
}

/// The same with exactly these calls.
async fn reconciled_with(
    schedule: &Value,
    calls: Vec<Call>,
) -> (Result<Action, Error>, Vec<Value>) {
    let (context, server) = conversation(calls);
    let meta = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": schedule["metadata"].clone(),
    });
    let known = Arc::new(serde_json::from_value(meta).unwrap());
    let result = reconcile(known, Arc::clone(&context)).await;
    drop(context);
    (result, server.await.unwrap())
}

fn announced() -> Call {
    (
        "POST",
        "/team-a/events",
        201,
        json!({"metadata": {"name": "event"}}),
    )
}

#[tokio::test]
async fn a_run_that_is_due_is_started_announced_and_noted() {
    let schedule = schedule("* * * * *", &json!({}));
    let mut run = schedule.clone();
    run["kind"] = json!("BenchmarkRun");
    run["spec"] = schedule["spec"]["template"]["spec"].clone();
    let calls = vec![
        ("POST", "/team-a/benchmarkruns", 201, run),
        announced(),
        patched(&schedule),
    ];
    let (result, bodies) = reconciled(&schedule, calls).await;
    result.unwrap();
    let meta = &bodies[2]["metadata"];
    let name = meta["name"].as_str().unwrap();
    assert!(name.starts_with("often-"), "{name}");
    assert_eq!(meta["ownerReferences"][0]["uid"], UID);
    assert_eq!(bodies[3]["reason"], "RunStarted");
    let status = &bodies[4]["status"];
    assert_eq!(
        status["lastScheduleTime"],
        meta["annotations"][labels::SCHEDULED_TIME]
    );
    assert_eq!(status["active"], json!([name]));
    assert_eq!(
        bodies[4]["metadata"]["uid"], UID,
        "a new schedule of the same name could be hit"
    );
}

/// Starts a run whose name is taken by a run of this owner.
async fn start_with_taken_name(owner: &str) -> Result<Action, Error> {
    let schedule = schedule("* * * * *", &json!({}));
    let there = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {"name": "taken", "ownerReferences": [{
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkSchedule", "name": "often", "uid": owner,
        }]},
    });
    let taken = status(409, "AlreadyExists", "exists");
    let mut calls = vec![
        ("POST", "/team-a/benchmarkruns", 409, taken),
        ("GET", "", 200, there),
        patched(&schedule),
    ];
    if owner != UID {
        calls.push(announced());
    }
    reconciled(&schedule, calls).await.0
}

#[tokio::test]
async fn a_run_that_exists_already_counts_as_started() {
    start_with_taken_name(UID).await.unwrap();
}

#[tokio::test]
async fn a_strangers_run_of_the_same_name_is_not_the_schedules() {
    let error = start_with_taken_name("somebody-else").await.unwrap_err();
    assert!(matches!(error, Error::NameTaken { .. }), "{error}");
}

#[tokio::test]
async fn a_run_that_the_api_server_refuses_is_reported_and_tried_again() {
    let text = "exceeded quota: runs, requested: 1, used: 5, limited: 5";
    let schedule = schedule("* * * * *", &json!({}));
    let calls = vec![
        (
            "POST",
            "/team-a/benchmarkruns",
            403,
            status(403, "Forbidden", text),
        ),
        patched(&schedule),
        announced(),
    ];
    let (result, bodies) = reconciled(&schedule, calls).await;
    assert!(
        matches!(result, Err(Error::RunRefused { .. })),
        "{result:?}"
    );
    let status = &bodies[3]["status"];
    assert_eq!(status["lastScheduleTime"], Value::Null);
    let stalled = status["conditions"].as_array().unwrap().iter();
    let stalled: Vec<&Value> = stalled.filter(|one| one["type"] == "Stalled").collect();
    assert_eq!(stalled[0]["reason"], "RunRefused");
    assert!(stalled[0]["message"].as_str().unwrap().contains(text));
}

#[tokio::test]
async fn an_unchanged_status_of_a_schedule_is_not_written() {
    // Every first of January: the last scheduled time is far in the future, so no run is due.
    let last = json!({"lastScheduleTime": "2999-01-01T00:00:00Z"});
    let before = schedule("0 0 1 1 *", &last);
    let (result, bodies) = reconciled(&before, vec![patched(&before)]).await;
    result.unwrap();
    let after = schedule("0 0 1 1 *", &bodies[2]["status"]);
    let (result, _) = reconciled(&after, vec![]).await;
    result.unwrap();
}

#[tokio::test]
async fn an_invalid_cron_expression_starts_nothing_and_is_reported() {
    let schedule = schedule("at three", &json!({}));
    let (result, bodies) = reconciled(&schedule, vec![patched(&schedule), announced()]).await;
    result.unwrap();
    assert_eq!(bodies[2]["status"]["conditions"][0]["reason"], "Invalid");
    assert_eq!(bodies[3]["reason"], "Invalid");
}

/// A run of the schedule that has measured.
fn ended(schedule: &Value) -> Value {
    let is = |type_: &str| {
        json!({
            "type": type_, "status": "True", "reason": "Completed", "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
        "metadata": {
            "name": "often-1", "namespace": "team-a", "uid": "1",
            "creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [owner("BenchmarkSchedule")],
        },
        "spec": schedule["spec"]["template"]["spec"],
        "status": { "conditions": [is("Finished"), is("Succeeded")] },
    })
}

/// An owner of this kind with the uid of the schedule.
fn owner(kind: &str) -> Value {
    json!({ "apiVersion": "wasmbench.dev/v1alpha1", "kind": kind, "name": "often", "uid": UID })
}

#[tokio::test]
async fn a_foreign_config_map_with_the_historys_name_is_reported_and_not_touched() {
    let last = json!({"lastScheduleTime": "2999-01-01T00:00:00Z"});
    let schedule = schedule("0 0 1 1 *", &last);
    let labelled = json!({ labels::SCHEDULE_UID: UID });
    for (owner, labels) in [
        (owner("Foo"), &labelled),
        (owner("BenchmarkRun"), &labelled),
        (owner("BenchmarkSchedule"), &json!({})),
    ] {
        let meta = json!({ "name": "often-history", "ownerReferences": [owner], "labels": labels });
        let strangers = json!({
            "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": meta,
        });
        let runs = json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRunList", "metadata": {},
            "items": [ended(&schedule)],
        });
        let gone = status(404, "NotFound", "no such run");
        let mut calls = first_calls(&schedule);
        calls[1].3 = runs;
        calls.extend([
            ("GET", "/team-a/configmaps/often-history", 200, strangers),
            ("GET", "/team-a/benchmarkruns/often-1", 404, gone),
            patched(&schedule),
            announced(),
        ]);
        let (result, bodies) = reconciled_with(&schedule, calls).await;
        assert!(matches!(result, Err(Error::NameTaken { .. })), "{result:?}");
        let conditions = bodies[4]["status"]["conditions"].to_string();
        let text =
            "ConfigMap often-history exists and belongs to somebody else: rename or remove it";
        assert!(conditions.contains(text), "{conditions}");
    }
}
