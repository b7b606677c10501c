//! A claim that notes an object is released only after the object is as before, or its owner has taken it back.

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::labels;
use wasmbench_controller::act::act;
use wasmbench_controller::error::Error;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::Step;
use wasmbench_core::scale::{Scaled, Target};
use wasmbench_core::validate::validate;

use crate::apiserver_mock::{Call, config, conversation, plan_of, run};

fn note() -> String {
    let target = Target {
        group: "apps".into(),
        version: "v1".into(),
        resource: "deployments".into(),
        kind: "Deployment".into(),
        name: "shop".into(),
    };
    let scaled = Scaled {
        target,
        uid: "shop-uid".into(),
        selector: "app=shop".into(),
        trial: "shop/greet/warm/b1".parse().unwrap(),
        most: 1,
        generation: Some(1),
        since: Timestamp::UNIX_EPOCH,
    };
    serde_json::to_string(&scaled).unwrap()
}

/// The claim of the run on its node, with the note.
fn lease() -> Value {
    let annotations = json!({
        labels::NODE: "bench-1", labels::RUN_NAMESPACE: "team-a", labels::RUN_NAME: "gatekeeper",
        labels::SCALED: note(),
    });
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "wasmbench-node-bench-1", "namespace": "ops", "annotations": annotations},
        "spec": {"holderIdentity": run().metadata.uid},
    })
}

/// What is read of the object, whose replicas `who` has set.
fn reads(replicas: u32, who: &str) -> Vec<Call> {
    let fields = json!([{"manager": who, "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "shop", "uid": "shop-uid", "resourceVersion": "7", "generation": 2,
            "annotations": {labels::OFFERED: "true"}, "managedFields": fields,
        },
        "spec": {"replicas": replicas},
    });
    let scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "shop"},
        "spec": {"replicas": replicas}, "status": {"replicas": replicas, "selector": "app=shop"},
    });
    let pods = json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": []});
    vec![
        ("GET", "/wasmbench-node-bench-1", 200, lease()),
        ("GET", "/deployments/shop", 200, object),
        ("GET", "/deployments/shop/scale", 200, scale),
        ("GET", "/team-a/pods", 200, pods),
    ]
}

async fn release(calls: Vec<Call>) -> (Result<(), Error>, Vec<Value>) {
    let (context, server) = conversation(calls);
    let valid = validate(&run(), &config()).unwrap();
    let step = Step::ReleaseNode {
        node: "bench-1".into(),
    };
    let plan = plan_of(step);
    let done = act(&context, &valid, &Observed::default(), &plan).await;
    drop(context);
    (done.map(|_| ()), server.await.unwrap())
}

#[tokio::test]
async fn an_object_that_a_run_has_scaled_up_is_scaled_down_before_its_node_is_released() {
    let mut calls = reads(1, labels::OPERATOR);
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {}});
    calls.push(("PATCH", "/deployments/shop/scale", 200, scale));
    let (result, bodies) = release(calls).await;
    let error = result.unwrap_err();
    assert!(matches!(error, Error::OnItsWayBack { .. }), "{error}");
    let patch = bodies.last().unwrap();
    assert_eq!(patch["spec"]["replicas"], 0);
    assert_eq!(
        patch["metadata"]["resourceVersion"], "7",
        "the write is not guarded"
    );
}

#[tokio::test]
async fn a_node_is_released_without_the_note_once_nothing_of_the_object_is_left_or_its_owner_has_kept_it()
 {
    for (replicas, who) in [(0, labels::PROBE_MANAGER), (3, "kubectl-scale")] {
        let mut calls = reads(replicas, who);
        calls.push(("PUT", "/wasmbench-node-bench-1", 200, lease()));
        let (result, bodies) = release(calls).await;
        result.unwrap();
        let written = bodies.last().unwrap();
        assert_eq!(written["spec"]["holderIdentity"], Value::Null, "{who}");
        assert_eq!(
            written["metadata"]["annotations"][labels::SCALED],
            Value::Null,
            "{who}"
        );
    }
}
