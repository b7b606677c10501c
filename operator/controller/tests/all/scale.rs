//! A claim that notes an object is released only after the object is as before, or its owner has taken it back.

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::labels;
use wasmbench_controller::act::act;
use wasmbench_controller::error::Error;
use wasmbench_controller::observe::forbidden;
use wasmbench_controller::scale::{autoscalers, read};
use wasmbench_controller::sweep::{run_is_gone, run_of};
use wasmbench_core::observed::Forbidden;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::Step;
use wasmbench_core::scale::{ObservedTarget, Scaled, Target};
use wasmbench_core::validate::validate;

use crate::apiserver_mock::{Call, config, conversation, outcome_of, plan_of, run, status};

/// Group, version, plural and name of a kind.
type Kind = [&'static str; 4];

const DEPLOYMENT: Kind = ["apps", "v1", "deployments", "Deployment"];

fn note([group, version, resource, kind]: Kind) -> String {
    let target = Target {
        group: group.into(),
        version: version.into(),
        resource: resource.into(),
        kind: kind.into(),
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

/// The claim of the run on its node, with the note of an object of this kind.
fn lease(kind: Kind) -> Value {
    let annotations = json!({
        labels::NODE: "bench-1", labels::RUN_NAMESPACE: "team-a", labels::RUN_NAME: "gatekeeper",
        labels::SCALED: note(kind),
    });
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "wasmbench-node-bench-1", "namespace": "ops", "annotations": annotations},
        "spec": {"holderIdentity": run().metadata.uid},
    })
}

/// What is read of the object, whose replicas `who` has set; its pods are the last.
fn reads(kind: Kind, replicas: u32, who: &str) -> Vec<Call> {
    let [group, version, _, name] = kind;
    let fields = json!([{"manager": who, "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let object = json!({
        "apiVersion": format!("{group}/{version}"), "kind": name,
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
        ("GET", "/wasmbench-node-bench-1", 200, lease(kind)),
        ("GET", "/shop", 200, object),
        ("GET", "/shop/scale", 200, scale),
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
    let mut calls = reads(DEPLOYMENT, 1, labels::OPERATOR);
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
        let mut calls = reads(DEPLOYMENT, replicas, who);
        calls.push(("PUT", "/wasmbench-node-bench-1", 200, lease(DEPLOYMENT)));
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

#[tokio::test]
async fn replicas_that_its_owner_sets_while_the_pods_are_read_are_seen_with_the_pods() {
    let scaled: Scaled = serde_json::from_str(&note(DEPLOYMENT)).unwrap();
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop", "uid": "shop-uid", "controller": true});
    let pod = |name: &str| json!({"metadata": {"name": name, "ownerReferences": [owner]}});
    let pods = json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [pod("a"), pod("b")]});
    let readings = [(1, labels::OPERATOR), (2, "kubectl-scale")];
    let mut calls: Vec<Call> = readings
        .into_iter()
        .flat_map(|(replicas, who)| reads(DEPLOYMENT, replicas, who).split_off(1))
        .collect();
    for call in &mut calls {
        if call.1 == "/team-a/pods" {
            call.3 = pods.clone();
        }
    }
    let (context, server) = conversation(calls);
    let found = read(&context, "team-a", &scaled.target, Some(&scaled), &[]).await;
    let found = found.unwrap();
    assert_eq!((found.observed.replicas, found.pods.len()), (2, 2));
    assert!(
        found.observed.taken_back(&scaled).is_some(),
        "{:?}",
        found.observed
    );
    drop(context);
    server.await.unwrap();
}

const REFUSED: &str = "admission webhook \"no.scaling\" denied the request";

#[tokio::test]
async fn an_object_that_may_not_be_scaled_up_becomes_a_record_with_the_api_servers_message() {
    let valid = validate(&run(), &config()).unwrap();
    let scaled: Scaled = serde_json::from_str(&note(DEPLOYMENT)).unwrap();
    let found = ObservedTarget {
        uid: Some(scaled.uid),
        resource_version: Some("7".into()),
        is_offered: true,
        ..ObservedTarget::default()
    };
    let step = Step::ScaleUp {
        trial: valid.order[0].clone(),
        target: Box::new(scaled.target),
        found: Box::new(found),
    };
    let lease = || lease(DEPLOYMENT);
    let (context, server) = conversation(vec![
        ("GET", "/wasmbench-node-bench-1", 200, lease()),
        ("PUT", "/wasmbench-node-bench-1", 200, lease()),
        (
            "PATCH",
            "/deployments/shop/scale",
            403,
            status(403, "Forbidden", REFUSED),
        ),
        ("GET", "", 404, status(404, "NotFound", "no such ConfigMap")),
        (
            "POST",
            "/team-a/configmaps",
            201,
            json!({"metadata": {"name": "records"}}),
        ),
    ]);
    let done = act(&context, &valid, &Observed::default(), &plan_of(step)).await;
    assert!(done.unwrap().is_break(), "nothing else wakes the run");
    drop(context);
    let text = outcome_of(&server.await.unwrap()[4]);
    for message in ["PodRejected", "no.scaling", "exempt the operator"] {
        assert!(text.contains(message), "{text}");
    }
}

/// Nobody reads the status of a run that is gone.
#[tokio::test]
async fn an_object_that_may_not_be_scaled_down_keeps_its_node_and_its_owner_is_asked_to() {
    let mut calls = reads(DEPLOYMENT, 1, labels::OPERATOR);
    calls.push((
        "PATCH",
        "/deployments/shop/scale",
        422,
        status(422, "Invalid", REFUSED),
    ));
    calls.push(("POST", "/team-a/events", 201, json!({"metadata": {}})));
    let (result, bodies) = release(calls).await;
    let error = result.unwrap_err();
    assert!(error.is_for_people(), "{error}");
    let event = bodies.last().unwrap();
    assert_eq!(event["regarding"]["kind"], "Deployment");
    let note = event["note"].as_str().unwrap();
    assert!(
        note.contains("no.scaling") && note.contains("set them to 0"),
        "{note}"
    );
}

#[tokio::test]
async fn the_owner_of_an_object_that_was_taken_from_the_operator_is_asked_to_look_at_it() {
    const TAKEN: Kind = ["apps", "v1", "daemonsets", "DaemonSet"];
    let (result, bodies) = release(vec![
        ("GET", "/wasmbench-node-bench-1", 200, lease(TAKEN)),
        ("POST", "/team-a/events", 201, json!({"metadata": {}})),
        ("PUT", "/wasmbench-node-bench-1", 200, lease(TAKEN)),
    ])
    .await;
    result.unwrap();
    let event = &bodies[1];
    assert_eq!(event["regarding"]["name"], "shop");
    let note = event["note"].as_str().unwrap();
    assert!(note.contains("scale.namespaces"), "{note}");
}

/// A probe that creates or scales has seconds to end, and may be between two calls.
#[tokio::test]
async fn a_run_that_is_gone_keeps_its_node_until_its_probe_can_scale_the_object_no_more() {
    let list = |items: &[Value]| json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": items});
    let ending = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {"name": "probe-1", "uid": "1", "deletionTimestamp": "2026-01-01T00:00:00Z"},
    });
    for is_ending in [true, false] {
        let pods: Vec<Value> = is_ending.then(|| ending.clone()).into_iter().collect();
        let mut calls = vec![
            ("GET", "/ops/jobs", 200, list(&[])),
            ("GET", "/team-a/pods", 200, list(&[])),
            ("GET", "/ops/leases", 200, list(&[lease(DEPLOYMENT)])),
            (
                "GET",
                "/ops/pods?status.phase%21%3DFailed",
                200,
                list(&pods),
            ),
        ];
        // It is at 0, and nothing of it is left.
        calls.extend(reads(DEPLOYMENT, 0, labels::OPERATOR).split_off(1));
        if !is_ending {
            calls.push(("PUT", "/wasmbench-node-bench-1", 200, lease(DEPLOYMENT)));
        }
        let (context, server) = conversation(calls);
        let gone = run_of(&run().metadata);
        let swept = run_is_gone(&context, &gone).await;
        drop(context);
        server.await.unwrap();
        let waits = matches!(swept, Err(Error::OnItsWayBack { .. }));
        assert!(if is_ending { waits } else { swept.is_ok() }, "{swept:?}");
    }
}

/// An owner: its `apiVersion`, its kind, and its name after a slash.
type Owner = (&'static str, &'static str, &'static str);

fn metadata(name: &str, owner: Option<&Owner>) -> Value {
    let owner = owner.map(|(version, kind, path)| {
        let name = &path[1..];
        let uid = format!("{name}-uid");
        json!({"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true})
    });
    let owners: Vec<Value> = owner.into_iter().collect();
    json!({"name": name, "uid": format!("{name}-uid"), "ownerReferences": owners})
}

#[tokio::test]
async fn a_node_is_kept_until_no_pod_is_left_whose_owners_lead_to_the_object() {
    const ROLLOUT: Kind = ["argoproj.io", "v1alpha1", "rollouts", "Rollout"];
    // What makes Deployments.
    const APP: Kind = ["core.spinkube.dev", "v1alpha1", "spinapps", "SpinApp"];
    const SET: Owner = ("apps/v1", "ReplicaSet", "/set");
    let chains: [(Kind, &[Owner], bool); 5] = [
        (DEPLOYMENT, &[SET, ("apps/v1", "Deployment", "/shop")], true),
        (
            ROLLOUT,
            &[SET, ("argoproj.io/v1alpha1", "Rollout", "/shop")],
            true,
        ),
        (
            APP,
            &[
                SET,
                ("apps/v1", "Deployment", "/its"),
                ("core.spinkube.dev/v1alpha1", "SpinApp", "/shop"),
            ],
            true,
        ),
        (
            ROLLOUT,
            &[SET, ("argoproj.io/v1alpha1", "Rollout", "/other")],
            false,
        ),
        (DEPLOYMENT, &[SET], false),
    ];
    for (kind, owners, is_kept) in chains {
        let mut calls = reads(kind, 0, labels::OPERATOR);
        let pod = json!({"metadata": metadata("pod", owners.first())});
        calls[3].3["items"] = json!([pod]);
        for (index, (_, _, path)) in owners.iter().enumerate() {
            if *path != "/shop" {
                let found = json!({
                    "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
                    "metadata": metadata(&path[1..], owners.get(index + 1)),
                });
                calls.push(("GET", *path, 200, found));
            }
        }
        if !is_kept {
            calls.push(("PUT", "/wasmbench-node-bench-1", 200, lease(kind)));
        }
        let (result, _) = release(calls).await;
        assert_eq!(result.is_err(), is_kept, "{owners:?}: {result:?}");
    }
}

/// Its owner's last pod was on a node that died.
#[tokio::test]
async fn an_object_whose_last_pod_does_not_go_is_not_offered() {
    let mut meta = metadata("shop-1", Some(&("apps/v1", "Deployment", "/shop")));
    meta["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
    let mut calls = reads(DEPLOYMENT, 0, "kubectl-scale").split_off(1);
    calls[2].3 = page(&[json!({ "metadata": meta })], "");
    let (context, server) = conversation(calls);
    let target = serde_json::from_str::<Scaled>(&note(DEPLOYMENT))
        .unwrap()
        .target;
    let found = read(&context, "team-a", &target, None, &[]).await.unwrap();
    drop(context);
    server.await.unwrap();
    let why = found.observed.not_offered(&target, "team-a").unwrap();
    assert!(why.contains("pod shop-1"), "{why}");
}

/// A page of a list of pods, after which there is more by this token.
fn page(pods: &[Value], more: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PodList", "metadata": {"continue": more}, "items": pods})
}

/// Whoever may create pods decides how many carry the labels of an object, and how large they are.
#[tokio::test]
async fn pods_are_read_a_page_at_a_time_each_owner_once_and_no_more_than_matter() {
    const SET: Owner = ("apps/v1", "ReplicaSet", "/set");
    let decoy = json!({"metadata": metadata("decoy", Some(&SET))});
    let set = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": metadata("set", None),
    });
    let mut calls = reads(DEPLOYMENT, 0, labels::OPERATOR);
    calls[3].1 = "/team-a/pods?labelSelector=app%3Dshop&limit=16";
    calls[3].3 = page(&vec![decoy.clone(); 16], "more");
    calls.push(("GET", "/set", 200, set));
    calls.push((
        "GET",
        "/team-a/pods?limit=16&continue=more",
        200,
        page(&[decoy], ""),
    ));
    calls.push(("PUT", "/wasmbench-node-bench-1", 200, lease(DEPLOYMENT)));
    release(calls).await.0.unwrap();
    let own = json!({"metadata": metadata("pod", Some(&("apps/v1", "Deployment", "/shop")))});
    let mut calls = reads(DEPLOYMENT, 0, labels::OPERATOR);
    calls[3].3 = page(&vec![own; 16], "more");
    let error = release(calls).await.0.unwrap_err();
    assert!(matches!(error, Error::OnItsWayBack { .. }), "{error}");
}

#[tokio::test]
async fn companions_are_read_a_page_at_a_time_and_no_more_of_them_than_a_probe_reads() {
    let mut run = run();
    run.spec.companions = serde_json::from_value(json!({"matchLabels": {"app": "db"}})).unwrap();
    let valid = validate(&run, &config()).unwrap();
    let trial = valid.order[0].clone();
    let pods: Vec<Value> = (0..20)
        .map(|index| {
            json!({
                "metadata": {"name": "db", "uid": format!("db-uid-{index}")},
                "spec": {"nodeName": "bench-1", "containers": []}, "status": {"phase": "Running"},
            })
        })
        .collect();
    let there = json!({
        "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {
            "name": "probe", "labels": {(labels::RUN_UID): valid.uid},
            "annotations": {(labels::TRIAL): trial.to_string()},
        },
    });
    let here = "/team-a/pods?fieldSelector=spec.nodeName%3Dbench-1%2Cstatus.phase%3DRunning&labelSelector=app%3Ddb&limit=16";
    let (context, server) = conversation(vec![
        ("GET", here, 200, page(&pods[..10], "more")),
        (
            "GET",
            "/team-a/pods?continue=more",
            200,
            page(&pods[10..], "still-more"),
        ),
        (
            "POST",
            "/ops/jobs",
            409,
            status(409, "AlreadyExists", "exists"),
        ),
        ("GET", "", 200, there),
    ]);
    let launch = Step::LaunchProbe {
        trial,
        subject_uid: "0a0a".into(),
        address: "10.0.0.8".parse().unwrap(),
        again: false,
    };
    let done = act(&context, &valid, &Observed::default(), &plan_of(launch)).await;
    assert!(done.is_ok());
    drop(context);
    let job = server.await.unwrap()[2].to_string();
    assert_eq!(job.matches("db-uid-").count(), 16, "{job}");
}

#[tokio::test]
async fn probes_that_scale_need_the_right_to_patch_the_scale_of_what_the_run_names() {
    let mut run = run();
    let own = json!([{"name": "shop", "scale": {"resource": "deployments", "name": "shop"}}]);
    run.spec.variants = serde_json::from_value(own).unwrap();
    let sweeps = json!({"coldStart": {"samples": 3, "class": "Scaled"}});
    run.spec.sweeps = serde_json::from_value(sweeps).unwrap();
    let valid = validate(&run, &config()).unwrap();
    let answer =
        |is_allowed: bool| json!({"metadata": {}, "spec": {}, "status": {"allowed": is_allowed}});
    let (context, server) = conversation(vec![
        ("POST", "/subjectaccessreviews", 201, answer(true)),
        ("POST", "/subjectaccessreviews", 201, answer(false)),
    ]);
    let found = forbidden(&context, &valid).await.unwrap();
    drop(context);
    let lacks_scales = Forbidden {
        pods: false,
        scales: true,
    };
    assert_eq!(found, lacks_scales);
    let bodies = server.await.unwrap();
    let wanted = json!({
        "namespace": "team-a", "verb": "patch", "group": "apps", "resource": "deployments", "subresource": "scale",
    });
    assert_eq!(bodies[1]["spec"]["resourceAttributes"], wanted);
}

#[tokio::test]
async fn a_cluster_without_keda_has_the_autoscalers_that_it_has() {
    let scaler = json!({
        "metadata": {"name": "shop"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "shop"}},
    });
    let list = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscalerList", "metadata": {},
        "items": [scaler],
    });
    // Text, as the API server answers for kinds that it does not serve, and no Status.
    let unknown = json!("404 page not found");
    let (context, server) = conversation(vec![
        ("GET", "/team-a/horizontalpodautoscalers", 200, list),
        ("GET", "/team-a/scaledobjects", 404, unknown),
    ]);
    let found = autoscalers(&context, "team-a").await.unwrap();
    drop(context);
    server.await.unwrap();
    let [one] = found.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(one.name, "HorizontalPodAutoscaler shop");
}
