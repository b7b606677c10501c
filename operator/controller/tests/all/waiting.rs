//! Runs that wait for their turn: what their reconcile reads and writes.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube::core::DeserializeGuard;
use serde_json::json;
use wasmbench_api::BenchmarkRun;
use wasmbench_controller::context::Context;
use wasmbench_controller::reconcile::reconcile;
use wasmbench_core::observed::{Expected, Outlook, Turn};
use wasmbench_core::queue::Turns;

use crate::apiserver_mock::{conversation, run};

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
    }));
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
