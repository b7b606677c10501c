//! Runs that wait for their turn: what their reconcile reads and writes.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response};
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;
use kube::core::DeserializeGuard;
use kube::runtime::controller::Action;
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_controller::context::Context;
use wasmbench_controller::reconcile::reconcile;
use wasmbench_core::demands::TemplateLabels;
use wasmbench_core::observed::{Expected, Outlook, Turn};
use wasmbench_core::queue::Turns;
use wasmbench_core::scale::Target;

use crate::apiserver_mock::{Call, config, conversation, run, status};

fn uid(run: &BenchmarkRun) -> String {
    run.metadata.uid.clone().unwrap()
}

/// Publishes that the run is number `place`, and that it has nothing in the cluster.
fn wait_at(context: &Context, run: &BenchmarkRun, place: u32) {
    let now = Timestamp::now();
    let outlook = Outlook::Later(Some(Expected {
        node: "bench-1".into(),
        holder: None,
        begins: now + SignedDuration::from_mins(20),
        ends: now + SignedDuration::from_mins(50),
        missing_classes: vec![],
    }));
    wait_for(context, run, place, outlook);
}

/// The same, with what it waits for.
fn wait_for(context: &Context, run: &BenchmarkRun, place: u32, outlook: Outlook) {
    let now = Timestamp::now();
    let turns = Turns {
        of: [(uid(run), Turn { place, outlook })].into(),
        gone: vec![],
    };
    let known = [uid(run)].into();
    context.turns.publish(turns, known, false, now);
    context.turns.look(&uid(run));
    context.turns.settle(&uid(run));
}

#[tokio::test]
async fn a_run_that_only_waits_reads_nothing_and_writes_its_place_and_times() {
    let calls = vec![("PATCH", "/gatekeeper/status", 200, json!(run()))];
    let (context, server) = conversation(calls);
    wait_at(&context, &run(), 2);
    let guarded = Arc::new(DeserializeGuard(Ok(run())));
    reconcile(guarded, Arc::clone(&context)).await.unwrap();
    drop(context);
    let status = server.await.unwrap()[0]["status"].clone();
    let progress = &status["progress"];
    assert_eq!(progress["placeInQueue"], 2, "{progress}");
    let time = |name: &str| -> Timestamp { progress[name].as_str().unwrap().parse().unwrap() };
    let length = time("estimatedCompletionTime").duration_since(time("estimatedStartTime"));
    assert_eq!(length.as_mins(), 30, "{progress}");
    let message = progress["message"].as_str().unwrap();
    assert!(message.contains("number 2 in the queue"), "{message}");
    assert_eq!(status["node"], json!(null), "nothing is measured there yet");
}

#[tokio::test]
async fn a_new_run_makes_no_call_before_the_queue_has_placed_it() {
    let (context, server) = conversation(vec![]);
    let guarded = Arc::new(DeserializeGuard(Ok(run())));
    reconcile(guarded, Arc::clone(&context)).await.unwrap();
    drop(context);
    server.await.unwrap();
}

/// A run that scales a Deployment, whose template demands a disk of this kind as far as is known.
fn scaling(context: &Context, disk: &str) -> BenchmarkRun {
    let mut run = run();
    let own = json!([{"name": "shop", "scale": {"resource": "deployments", "name": "shop"}}]);
    run.spec.variants = serde_json::from_value(own).unwrap();
    let sweeps = json!({"coldStart": {"samples": 3, "class": "Scaled"}});
    run.spec.sweeps = serde_json::from_value(sweeps).unwrap();
    context.note_templates(&uid(&run), &template(disk));
    run
}

fn template(disk: &str) -> TemplateLabels {
    let target = Target {
        group: "apps".into(),
        version: "v1".into(),
        resource: "deployments".into(),
        kind: "Deployment".into(),
        name: "shop".into(),
    };
    [(target, [("disk".to_owned(), disk.to_owned())].into())].into()
}

/// What is read of the Deployment, which has no pods.
fn reads(disk: &str) -> Vec<Call> {
    let none = |kind: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {}, "items": []});
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop", "uid": "shop-uid"},
        "spec": {"replicas": 0, "template": {"spec": {"nodeSelector": {"disk": disk}}}},
    });
    let scalers = none("HorizontalPodAutoscalerList");
    vec![
        ("GET", "/team-a/horizontalpodautoscalers", 200, scalers),
        (
            "GET",
            "/team-a/scaledobjects",
            200,
            none("ScaledObjectList"),
        ),
        ("GET", "/deployments/shop", 200, object),
        (
            "GET",
            "/shop/scale",
            404,
            status(404, "NotFound", "no scale"),
        ),
    ]
}

#[tokio::test]
async fn a_run_that_no_node_takes_learns_that_its_object_demands_another_one() {
    let outlooks = [
        Outlook::Unavailable("node bench-1 is cordoned".into()),
        Outlook::Unmatched("no node has the labels disk=old".into()),
        Outlook::Later(None),
    ];
    for outlook in outlooks {
        let (context, server) = conversation(reads("new"));
        let run = scaling(&context, "old");
        wait_for(&context, &run, 1, outlook);
        let guarded = Arc::new(DeserializeGuard(Ok(run.clone())));
        let action = reconcile(guarded, Arc::clone(&context)).await.unwrap();
        let known = context.templates(&uid(&run));
        assert_eq!(known, Some(template("new")), "the queue is not informed");
        assert_eq!(
            context.turns.turn(&uid(&run)),
            None,
            "the turn is that of the old template"
        );
        assert_ne!(action, Action::await_change());
        drop(context);
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_run_that_no_node_takes_looks_at_its_object_every_minute() {
    let mut calls = reads("old");
    calls.push(("PATCH", "/gatekeeper/status", 200, json!(run())));
    let (context, server) = conversation(calls);
    let run = scaling(&context, "old");
    let outlook = Outlook::Unavailable("node bench-1 is cordoned".into());
    wait_for(&context, &run, 1, outlook);
    let guarded = Arc::new(DeserializeGuard(Ok(run)));
    let action = reconcile(guarded, Arc::clone(&context)).await.unwrap();
    assert_eq!(action, Action::requeue(Duration::from_mins(1)));
    drop(context);
    let message = server.await.unwrap()[4]["status"]["progress"]["message"].clone();
    assert_eq!(message, Value::from("node bench-1 is cordoned"));
}

/// A context whose API server has nothing but the run, and whose responses take so many seconds by their
/// dates; and the server's task, which returns what was written.
fn slow_server(seconds: i64) -> (Arc<Context>, tokio::task::JoinHandle<Vec<(Method, Value)>>) {
    let (service, mut handle) = tower_test::mock::pair::<Request<Body>, Response<Body>>();
    let server = tokio::spawn(async move {
        let mut written = vec![];
        while let Some((request, send)) = handle.next_request().await {
            let is_run = request.uri().path().contains("/gatekeeper");
            let answer = if is_run {
                json!(run())
            } else {
                json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": []})
            };
            let method = request.method().clone();
            let bytes = request.into_body().collect_bytes().await.unwrap();
            if method != Method::GET {
                written.push((method, serde_json::from_slice(&bytes).unwrap_or_default()));
            }
            let now = Timestamp::now() + SignedDuration::from_secs(seconds);
            let date = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            let body = Body::from(serde_json::to_vec(&answer).unwrap());
            let response = Response::builder().header("date", date).body(body);
            send.send_response(response.unwrap());
        }
        written
    });
    (
        Context::new(Client::new(service, "default"), config()),
        server,
    )
}

/// A process may be stopped, or its machine moved, between any two calls.
#[tokio::test]
async fn a_pause_while_a_run_is_observed_exceeds_no_deadline() {
    let (context, server) = slow_server(90);
    let mut run = run();
    let since = Timestamp::now() - SignedDuration::from_secs(9 * 60);
    let condition = json!({
        "type": "Succeeded", "status": "Unknown", "reason": "NoMatchingNode", "message": "",
        "lastTransitionTime": since.to_string(),
    });
    run.status = serde_json::from_value(json!({ "conditions": [condition] })).unwrap();
    let outlook = Outlook::Unmatched("no node has the labels disk=quiet".into());
    wait_for(&context, &run, 1, outlook);
    let guarded = Arc::new(DeserializeGuard(Ok(run)));
    reconcile(guarded, Arc::clone(&context)).await.unwrap();
    let is_paused = context.clock.now() > Timestamp::now() + SignedDuration::from_secs(80);
    assert!(is_paused, "the dates of the responses do not count");
    drop(context);
    let written = server.await.unwrap();
    let [(Method::PATCH, patch)] = written.as_slice() else {
        panic!("after nine of ten minutes, it ends: {written:?}");
    };
    let message = patch["status"]["progress"]["message"].as_str().unwrap();
    assert!(message.contains("the run ends after"), "{message}");
}
