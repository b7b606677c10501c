//! Whom the task wakes.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;

use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use http::{Request, Response};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::client::Body;
use kube::runtime::reflector;
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::Event;
use serde_json::{Value, json};
use wasmbench_api::labels;
use wasmbench_core::observed::Outlook;
use wasmbench_model::images::Images;

use super::*;

const MINUTE: Duration = Duration::from_mins(1);

/// A run of about ten minutes that was created in this second.
fn run(name: &str, second: u32, finished: &str) -> GuardedRun {
    let condition = json!({
        "type": "Finished", "status": finished, "reason": "Because", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    serde_json::from_value(json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
        "metadata": {
            "name": name, "namespace": "team-a", "uid": format!("uid-{name}"), "generation": 1,
            "creationTimestamp": format!("2026-01-01T00:00:{second:02}Z"),
        },
        "spec": {
            "blocks": 1, "noiseFloor": false,
            "variants": [{ "name": "native", "preset": "native" }],
            "workloads": [{ "name": "hello" }],
            "sweeps": { "throughput": {
                "connections": [1], "durationSeconds": 600, "warmupSeconds": 0,
            } },
        },
        "status": { "conditions": [condition] },
    }))
    .unwrap()
}

fn lease(holder: Option<&str>) -> Lease {
    let holder: Value = holder.map_or(Value::Null, |name| format!("uid-{name}").into());
    serde_json::from_value(json!({
        "metadata": {
            "name": "wasmbench-node-bench-1", "namespace": "ops",
            "annotations": { labels::NODE: "bench-1" },
        },
        "spec": { "holderIdentity": holder },
    }))
    .unwrap()
}

/// A store that has listed these objects.
fn listed<K>(objects: Vec<K>) -> (reflector::Store<K>, Writer<K>)
where
    K: kube::Resource<DynamicType = ()> + Clone + 'static,
{
    let (store, mut writer) = reflector::store();
    writer.apply_watcher_event(&Event::Init);
    for object in objects {
        writer.apply_watcher_event(&Event::InitApply(object));
    }
    writer.apply_watcher_event(&Event::InitDone);
    (store, writer)
}

/// Names of the runs that were woken within a second.
async fn woken(receiver: &mut UnboundedReceiver<ObjectRef<GuardedRun>>) -> Vec<String> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut names = vec![];
    while let Some(Some(reference)) = receiver.next().now_or_never() {
        names.push(reference.name);
    }
    names.sort();
    names
}

fn context() -> Arc<Context> {
    let service =
        tower::service_fn(|_: Request<Body>| pending::<Result<Response<Body>, Infallible>>());
    let config = json!({
        "operatorNamespace": "ops", "coldStartServiceAccount": "cold",
        "imageArchitectures": ["amd64"], "images": Images::in_registry("example.com", "1"),
    });
    let config = serde_json::from_value(config).unwrap();
    Context::new(Client::new(service, "default"), config)
}

#[tokio::test(start_paused = true)]
async fn a_release_wakes_the_next_run_and_in_a_window_nobody_else() {
    let context = context();
    let all = ["a", "b", "c"].into_iter().zip(0..);
    let all = all.map(|(name, second)| run(name, second, "Unknown"));
    let (runs, mut run_writer) = listed(all.collect());
    let _ = context.runs.set(runs);
    let node = json!({
        "metadata": { "name": "bench-1", "labels": {
            "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
        } },
        "status": { "conditions": [{ "type": "Ready", "status": "True" }] },
    });
    let (leases, mut lease_writer) = listed(vec![]);
    let (nodes, _nodes) = listed(vec![serde_json::from_value(node).unwrap()]);
    let (classes, _classes) = listed(vec![]);
    let sources = Sources {
        leases,
        nodes,
        classes,
    };
    let (sender, mut receiver) = unbounded();
    let story = async {
        assert_eq!(woken(&mut receiver).await, ["a", "b", "c"]);
        let turn = context.turns.turn("uid-a").unwrap();
        assert!(matches!(turn.outlook, Outlook::Free(_)), "{turn:?}");

        lease_writer.apply_watcher_event(&Event::Apply(lease(Some("a"))));
        context.turns.have_changed();
        assert_eq!(woken(&mut receiver).await, ["b", "c"], "they move up");
        assert_eq!(context.turns.turn("uid-a"), None);
        context.turns.have_changed();
        assert!(woken(&mut receiver).await.is_empty(), "nothing is new");

        let trial = "a/hello/warm/b1".parse().unwrap();
        context.quiet.begin("of another node", &trial, MINUTE);
        run_writer.apply_watcher_event(&Event::Apply(run("a", 0, "True")));
        lease_writer.apply_watcher_event(&Event::Apply(lease(None)));
        context.turns.have_changed();
        assert_eq!(woken(&mut receiver).await, ["b"], "the node is free");
        tokio::time::sleep(MINUTE).await;
        assert_eq!(
            woken(&mut receiver).await,
            ["c"],
            "its times are other ones"
        );
    };
    let changes = futures::stream::pending().boxed();
    tokio::select! {
        () = super::run(&context, &sources, changes, sender) => panic!("it has ended"),
        () = story => {}
    }
}
