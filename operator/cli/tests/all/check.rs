//! `check` against a mock API server, and its rules one by one.

use std::collections::BTreeSet;
use std::path::Path;

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use kubectl_wasmbench::check::finding::{Finding, State, text};
use kubectl_wasmbench::check::judge::{POLICIES, SCALE};
use kubectl_wasmbench::check::observed::{
    ObservedInstallation, ObservedNode, ObservedOperator, ObservedRuntimeClass,
};
use kubectl_wasmbench::check::{findings, judge, presets};
use kubectl_wasmbench::cluster::Cluster;
use kubectl_wasmbench::error::Error;
use serde_json::{Value, json};
use tower_test::mock;
use wasmbench_model::version::VERSION;

/// A cluster that responds to each path with the result of `answer`.
fn cluster(answer: impl Fn(&str) -> (u16, Value) + Send + 'static) -> Cluster {
    let (service, mut handle) = mock::pair::<Request<Body>, Response<Body>>();
    tokio::spawn(async move {
        while let Some((request, send)) = handle.next_request().await {
            let (code, body) = answer(request.uri().path());
            let body = Body::from(serde_json::to_vec(&body).expect("an answer"));
            let response = Response::builder().status(code).body(body);
            send.send_response(response.expect("a response"));
        }
    });
    Cluster::new(Client::new(service, "default"), "bench".into())
}

fn list(kind: &str, items: &Value) -> (u16, Value) {
    let version = match kind {
        "Deployment" => "apps/v1",
        "RuntimeClass" => "node.k8s.io/v1",
        "NetworkPolicy" => "networking.k8s.io/v1",
        "Node" => "v1",
        _ => "admissionregistration.k8s.io/v1",
    };
    let list = json!({
        "apiVersion": version, "kind": format!("{kind}List"), "metadata": {}, "items": items,
    });
    (200, list)
}

fn refused() -> (u16, Value) {
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 403,
        "reason": "Forbidden", "message": "forbidden",
    });
    (403, status)
}

fn policies(of: impl Fn(&str) -> Value) -> Value {
    let names = POLICIES.map(|policy| of(&format!("wasmbench-{policy}")));
    json!(names)
}

/// A cluster with everything, seen by an administrator.
fn whole(path: &str) -> (u16, Value) {
    let requested = path.rsplit('/').next().unwrap_or_default();
    match requested {
        "v1alpha1" => {
            let resource = |name| {
                json!({
                    "name": name, "singularName": "", "namespaced": true, "kind": "K", "verbs": [],
                })
            };
            let resources = [resource("benchmarkruns"), resource("benchmarkschedules")];
            let list = json!({
                "kind": "APIResourceList", "groupVersion": "wasmbench.dev/v1alpha1",
                "resources": resources,
            });
            (200, list)
        }
        "deployments" => list(
            "Deployment",
            &json!([{
                "metadata": {
                    "name": "wasmbench", "namespace": "wasmbench-system",
                    "labels": {"app.kubernetes.io/version": VERSION},
                },
                "status": {"conditions": [{"type": "Available", "status": "True"}]},
            }]),
        ),
        "wasmbench-config" => (
            200,
            json!({"metadata": {}, "data": {"config.yaml": "not: one"}}),
        ),
        "bench" => (200, json!({"metadata": {"name": "bench"}})),
        "wasmbench-system" => (200, json!({"metadata": {"name": "wasmbench-system"}})),
        "validatingadmissionpolicies" => list(
            "ValidatingAdmissionPolicy",
            &policies(|name| json!({"metadata": {"name": name}})),
        ),
        "validatingadmissionpolicybindings" => list(
            "ValidatingAdmissionPolicyBinding",
            &policies(|name| {
                json!({
                    "metadata": {"name": name},
                    "spec": {"policyName": name, "validationActions": ["Deny"]},
                })
            }),
        ),
        "selfsubjectaccessreviews" => (
            201,
            json!({"metadata": {}, "spec": {}, "status": {"allowed": true}}),
        ),
        "networkpolicies" => list("NetworkPolicy", &json!([])),
        "runtimeclasses" => list(
            "RuntimeClass",
            &json!([
                {"metadata": {"name": "wasmtime"}, "handler": "wasmtime"},
                {"metadata": {"name": "wasmedge"}, "handler": "wasmedge"},
            ]),
        ),
        "nodes" => list(
            "Node",
            &json!([{
                "metadata": {"name": "node-1"},
                "status": {"runtimeHandlers": [{"name": ""}, {"name": "runc"}, {"name": "wasmtime"}, {"name": "wasmedge"}]},
            }]),
        ),
        other => panic!("nobody plays {other}"),
    }
}

fn failing(found: &[Finding]) -> Vec<&str> {
    let failing = found.iter().filter(|finding| finding.fails());
    failing.map(|finding| finding.what.as_str()).collect()
}

fn finding<'a>(found: &'a [Finding], what: &str) -> &'a Finding {
    found
        .iter()
        .find(|finding| finding.what == what)
        .expect("a finding")
}

#[tokio::test]
async fn an_installation_with_everything_is_fine() {
    let found = findings(&cluster(whole), None).await.unwrap();
    assert!(failing(&found).is_empty(), "{found:#?}");
    insta::assert_snapshot!(text(&found, "bench"));
}

#[tokio::test]
async fn in_an_empty_cluster_the_remedy_says_what_to_install_first() {
    let empty = |path: &str| match path.rsplit('/').next().unwrap_or_default() {
        "v1alpha1" => (
            404,
            json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                "reason": "NotFound", "message": "not found",
            }),
        ),
        "deployments" => list("Deployment", &json!([])),
        "runtimeclasses" => list("RuntimeClass", &json!([])),
        _ => whole(path),
    };
    let found = findings(&cluster(empty), None).await.unwrap();
    assert_eq!(failing(&found), ["API", "operator"]);
    assert!(
        finding(&found, "operator")
            .remedy
            .starts_with("helm install")
    );
    assert_eq!(
        finding(&found, "RuntimeClass wasmtime").state,
        State::Skipped
    );
}

#[tokio::test]
async fn objects_that_may_not_be_read_are_unknown_and_an_operator_is_needed() {
    let narrow = |path: &str| match path.rsplit('/').next().unwrap_or_default() {
        "v1alpha1" | "selfsubjectaccessreviews" => whole(path),
        _ => refused(),
    };
    let found = findings(&cluster(narrow), None).await.unwrap();
    assert_eq!(failing(&found), ["operator"]);
    let operator = finding(&found, "operator");
    assert_eq!(operator.state, State::Unknown);
    assert!(
        operator.remedy.contains("--operator-namespace"),
        "{operator:?}"
    );
    assert_eq!(
        finding(&found, "RuntimeClass wasmtime").state,
        State::Unknown
    );
}

#[tokio::test]
async fn a_namespace_that_does_not_exist_fails() {
    let gone = |path: &str| match path.rsplit('/').next().unwrap_or_default() {
        "bench" => (
            404,
            json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                "reason": "NotFound", "message": "namespaces \"bench\" not found",
            }),
        ),
        _ => whole(path),
    };
    let found = findings(&cluster(gone), None).await.unwrap();
    assert_eq!(failing(&found), ["namespace"]);
    assert_eq!(
        finding(&found, "namespace").found,
        "there is no namespace bench"
    );
}

#[tokio::test]
async fn the_operators_namespace_may_be_the_only_one_that_is_read() {
    let narrow = |path: &str| {
        let is_elsewhere = path.ends_with("/apis/apps/v1/deployments");
        if is_elsewhere { refused() } else { whole(path) }
    };
    let found = findings(&cluster(narrow), Some("wasmbench-system"))
        .await
        .unwrap();
    assert!(failing(&found).is_empty(), "{found:#?}");
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_is_an_error() {
    let (service, handle) = mock::pair::<Request<Body>, Response<Body>>();
    drop(handle);
    let cluster = Cluster::new(Client::new(service, "default"), "bench".into());
    let error = findings(&cluster, None).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable(_)), "{error}");
}

/// The chart's policies, with the one that it has only where runs may scale something.
fn all_policies() -> impl Iterator<Item = &'static str> {
    POLICIES.into_iter().chain([SCALE])
}

/// What an administrator sees of a cluster with everything.
fn observed() -> ObservedInstallation {
    let class = |handler: &str| {
        let observed = ObservedRuntimeClass {
            handler: handler.to_owned(),
            ..ObservedRuntimeClass::default()
        };
        (handler.to_owned(), observed)
    };
    let handlers = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    ObservedInstallation {
        namespace: "bench".into(),
        namespace_exists: Ok(true),
        resources: Ok(vec!["benchmarkruns".into(), "benchmarkschedules".into()]),
        operators: Ok(vec![ObservedOperator {
            namespace: "wasmbench-system".into(),
            name: "wasmbench".into(),
            version: Some(VERSION.into()),
            available: true,
        }]),
        config: Ok(kubectl_wasmbench::assumed::config()),
        policies: Ok(all_policies()
            .map(|policy| format!("wasmbench-{policy}"))
            .collect()),
        pod_security: Ok(Some("privileged".into())),
        rights: vec![("start runs", Ok(true))],
        network_policies: Ok(vec![]),
        runtime_classes: Ok([class("wasmtime"), class("wasmedge")].into()),
        nodes: Ok(vec![ObservedNode {
            name: "node-1".into(),
            handlers: handlers(&["runc", "wasmtime", "wasmedge"]),
            ..ObservedNode::default()
        }]),
    }
}

fn installation(change: impl Fn(&mut ObservedInstallation)) -> Vec<Finding> {
    let mut observed = observed();
    change(&mut observed);
    judge::installation(&observed)
}

#[test]
fn every_missing_part_fails_with_its_remedy() {
    type Change = fn(&mut ObservedInstallation);
    let cases: [(Change, &str, &str); 9] = [
        (
            |observed| observed.namespace_exists = Ok(false),
            "namespace",
            "--namespace",
        ),
        (
            |observed| observed.resources = Ok(vec!["benchmarkruns".into()]),
            "API",
            "crds/",
        ),
        (
            |observed| observed.operators.as_mut().unwrap()[0].available = false,
            "operator",
            "kubectl describe pods --namespace wasmbench-system",
        ),
        (
            |observed| {
                let operators = observed.operators.as_mut().unwrap();
                operators.push(operators[0].clone());
            },
            "operator",
            "uninstall all but one",
        ),
        (
            |observed| {
                observed
                    .policies
                    .as_mut()
                    .unwrap()
                    .remove("wasmbench-owned");
            },
            "admission policies",
            "helm upgrade",
        ),
        (
            |observed| {
                observed
                    .policies
                    .as_mut()
                    .unwrap()
                    .remove("wasmbench-scale");
            },
            "admission policies",
            "helm upgrade",
        ),
        (
            |observed| observed.pod_security = Ok(Some("restricted".into())),
            "probes",
            "enforce=privileged",
        ),
        (
            |observed| observed.rights[0].1 = Ok(false),
            "right to start runs",
            "--clusterrole=edit",
        ),
        (
            |observed| {
                let config = observed.config.as_mut().unwrap();
                config.watch_namespaces = vec!["team-a".into(), "team-b".into()];
            },
            "namespace",
            "use one of team-a, team-b",
        ),
    ];
    for (change, what, remedy) in cases {
        let found = installation(change);
        assert_eq!(failing(&found), [what]);
        assert!(finding(&found, what).remedy.contains(remedy), "{found:#?}");
    }
    assert!(failing(&installation(|_| ())).is_empty());
}

#[test]
fn a_network_policy_that_denies_everything_is_named_with_what_to_allow() {
    let policy = json!({
        "metadata": {"name": "default-deny"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    });
    let found = installation(|observed| {
        let policy = serde_json::from_value(policy.clone()).unwrap();
        observed.network_policies = Ok(vec![policy]);
    });
    // Not every network plugin enforces it.
    assert!(failing(&found).is_empty(), "{found:#?}");
    let network = finding(&found, "NetworkPolicies");
    assert!(network.found.contains("default-deny"), "{network:?}");
    let remedy = "allow ingress from namespace wasmbench-system";
    assert!(network.remedy.contains(remedy), "{network:?}");
}

#[test]
fn a_part_that_the_administrator_switched_off_is_no_failure() {
    let found = installation(|observed| {
        let config = observed.config.as_mut().unwrap();
        config.admission_policies = false;
        config.meter = wasmbench_model::wire::request::MeterLevel::None;
        observed.policies = Ok(BTreeSet::new());
        observed.pod_security = Ok(Some("restricted".into()));
    });
    assert!(failing(&found).is_empty(), "{found:#?}");
    assert_eq!(finding(&found, "admission policies").state, State::Skipped);
    assert_eq!(finding(&found, "probes").state, State::Skipped);
}

#[test]
fn a_version_other_than_the_plugins_is_reported() {
    let found = installation(|observed| {
        observed.operators.as_mut().unwrap()[0].version = Some("0.0.9".into());
    });
    let operator = finding(&found, "operator");
    assert!(
        !operator.fails() && operator.remedy.contains(VERSION),
        "{operator:?}"
    );
}

#[test]
fn a_node_without_the_handler_is_named_and_one_with_other_labels_ignored() {
    let mut observed = observed();
    let nodes = observed.nodes.as_mut().unwrap();
    nodes.push(ObservedNode {
        name: "node-2".into(),
        handlers: Some(["runc".to_owned()].into()),
        ..ObservedNode::default()
    });
    let found = presets::presets(&observed);
    let class = finding(&found, "RuntimeClass wasmtime");
    assert_eq!(class.state, State::Skipped);
    assert!(
        class.found.contains("no handler 'wasmtime' on node-2"),
        "{class:?}"
    );
    let labels = [("shim".to_owned(), "wasmtime".to_owned())];
    let classes = observed.runtime_classes.as_mut().unwrap();
    classes.get_mut("wasmtime").unwrap().node_selector = labels.clone().into();
    let none = presets::presets(&observed);
    assert!(
        finding(&none, "RuntimeClass wasmtime")
            .found
            .contains("no node has the labels")
    );
    observed.nodes.as_mut().unwrap()[0].labels = labels.into();
    assert_eq!(
        finding(&presets::presets(&observed), "RuntimeClass wasmtime").state,
        State::Ok
    );
}

#[test]
fn a_node_that_lists_no_handlers_is_not_assumed_to_have_them() {
    let mut observed = observed();
    observed.nodes.as_mut().unwrap()[0].handlers = None;
    let found = presets::presets(&observed);
    let class = finding(&found, "RuntimeClass wasmedge");
    assert_eq!(class.state, State::Unknown);
    assert!(class.found.contains("node-1 does not report"), "{class:?}");
}

#[test]
fn a_preset_that_the_administrator_forbids_has_the_value_of_the_chart() {
    let mut observed = observed();
    observed.config.as_mut().unwrap().host_network = false;
    let found = presets::presets(&observed);
    let forbidden = finding(&found, "preset native-host-network");
    assert!(
        forbidden.remedy.contains("hostNetwork.enabled"),
        "{forbidden:?}"
    );
}

#[test]
fn every_policy_of_the_chart_is_looked_for() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../charts/wasmbench/templates/admission");
    let files = std::fs::read_dir(folder).unwrap();
    let names: BTreeSet<String> = files
        .map(|file| {
            let path = file.unwrap().path();
            path.file_stem().unwrap().to_string_lossy().into_owned()
        })
        .collect();
    assert_eq!(names, all_policies().map(str::to_owned).collect());
}
