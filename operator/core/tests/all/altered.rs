//! What was requested compared with what is there: the pods are those of the real builders, changed as
//! API servers, injectors and policies change them.

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use wasmbench_core::build::subject_pod::{desired_subject, subject_pod};
use wasmbench_core::build::upstream_pod::upstream_pod;
use wasmbench_model::altered::{Likeness, compare, compare_pod, likeness};
use wasmbench_model::wire::record::{Cell, Point, SubjectFacts, TrialId};

use crate::common;

fn trial(variant: &str, workload: &str) -> TrialId {
    let (variant, workload) = (variant.into(), workload.into());
    let point = Point::WarmLatency;
    let cell = Cell {
        variant,
        workload,
        point,
    };
    TrialId { cell, block: 1 }
}

/// The subject of a container of its own, which runs on a RuntimeClass and has a variable.
fn desired() -> Pod {
    desired_subject(&common::validated(), &trial("mine", "greet"), "bench-1").unwrap()
}

/// The pod as an API server returns it after `changes`, each a value at a pointer into the pod.
fn changed(pod: &Pod, changes: &[(&str, Value)]) -> Pod {
    let mut found = serde_json::to_value(pod).unwrap();
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/");
        let parent = found
            .pointer_mut(parent)
            .unwrap_or_else(|| panic!("{pointer}"));
        match parent.as_array_mut() {
            Some(items) => items.push(value.clone()),
            None => parent[key] = value.clone(),
        }
    }
    serde_json::from_value(found).unwrap()
}

/// What every API server adds by itself, and what the kubelet reports.
fn served(pod: &Pod) -> Pod {
    let tolerated = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let token =
        json!({"name": "kube-api-access-x", "mountPath": "/var/run/secrets", "readOnly": true});
    changed(
        pod,
        &[
            ("/spec/dnsPolicy", json!("ClusterFirst")),
            ("/spec/schedulerName", json!("default-scheduler")),
            ("/spec/serviceAccount", json!("default")),
            ("/spec/serviceAccountName", json!("default")),
            ("/spec/priority", json!(0)),
            ("/spec/preemptionPolicy", json!("PreemptLowerPriority")),
            ("/spec/nodeName", json!("bench-1")),
            (
                "/spec/tolerations/-",
                tolerated("node.kubernetes.io/not-ready"),
            ),
            (
                "/spec/tolerations/-",
                tolerated("node.kubernetes.io/unreachable"),
            ),
            (
                "/spec/volumes",
                json!([{"name": "kube-api-access-x", "projected": {"sources": []}}]),
            ),
            ("/spec/containers/0/volumeMounts", json!([token])),
            (
                "/spec/containers/0/terminationMessagePath",
                json!("/dev/termination-log"),
            ),
            ("/spec/containers/0/imagePullPolicy", json!("Always")),
            ("/spec/containers/0/ports/0/protocol", json!("TCP")),
            (
                "/status",
                json!({"phase": "Pending", "qosClass": "Burstable"}),
            ),
        ],
    )
}

fn message(found: &Pod) -> String {
    compare(desired().spec.as_ref().unwrap(), found).expect_err("it is altered")
}

#[test]
fn defaults_of_the_api_server_are_no_alteration() {
    let found = served(&desired());
    assert_eq!(
        compare(desired().spec.as_ref().unwrap(), &found),
        Ok(vec![])
    );
    assert_eq!(likeness(&desired(), &found), Likeness::Unaltered);
}

#[test]
fn an_injected_container_is_named_with_its_remedy_wherever_it_is() {
    let proxy = json!({"name": "istio-proxy", "image": "istio/proxyv2:1.27"});
    let mine = served(&desired()).spec.unwrap().containers.remove(0);
    for containers in [json!([mine, proxy]), json!([proxy, mine])] {
        let found = changed(&served(&desired()), &[("/spec/containers", containers)]);
        let text = message(&found);
        assert!(
            text.contains("the container 'istio-proxy' was added"),
            "{text}"
        );
        assert!(
            !text.contains("image"),
            "compared with another container: {text}"
        );
        assert!(text.contains("Exempt namespace team-a"), "{text}");
        assert_eq!(likeness(&desired(), &found), Likeness::Altered(text));
    }
}

#[test]
fn every_other_alteration_of_a_subject_is_named() {
    let one = |name: &str| json!([{"name": name, "image": "a"}]);
    for (pointer, value, words) in [
        (
            "/spec/initContainers",
            one("istio-init"),
            "the init container 'istio-init' was added",
        ),
        (
            "/spec/ephemeralContainers",
            one("debugger"),
            "the ephemeral container 'debugger' was added",
        ),
        (
            "/spec/containers",
            one("other"),
            "the container 'subject' is missing",
        ),
        (
            "/spec/containers/0/image",
            json!("mirror/mine:1"),
            "its image is mirror/mine:1 instead of registry",
        ),
        (
            "/spec/containers/0/command",
            json!(["/vault-env"]),
            "its command differs",
        ),
        (
            "/spec/containers/0/args",
            json!(["--slow"]),
            "its arguments differ",
        ),
        (
            "/spec/containers/0/env/-",
            json!({"name": "DD_AGENT_HOST"}),
            "the environment variable 'DD_AGENT_HOST' was added",
        ),
        (
            "/spec/containers/0/env",
            json!([]),
            "the environment variable 'MODE' is missing",
        ),
        (
            "/spec/containers/0/envFrom",
            json!([{"secretRef": {"name": "s"}}]),
            "a ConfigMap or Secret",
        ),
        (
            "/spec/containers/0/resources/limits/cpu",
            json!("250m"),
            "limits.cpu is 250m instead of nothing",
        ),
        (
            "/spec/containers/0/resources/requests/memory",
            json!("1Gi"),
            "requests.memory is 1Gi instead of 64Mi",
        ),
        (
            "/spec/resources",
            json!({"limits": {"cpu": "1"}}),
            "resources of the whole pod",
        ),
        (
            "/spec/runtimeClassName",
            json!("gvisor"),
            "its RuntimeClass is 'gvisor' instead of 'spin'",
        ),
        (
            "/spec/runtimeClassName",
            Value::Null,
            "its RuntimeClass is none instead of 'spin'",
        ),
        (
            "/spec/hostNetwork",
            json!(true),
            "the node's network instead of its own",
        ),
        (
            "/spec/nodeName",
            json!("bench-2"),
            "it is on node bench-2 instead of bench-1",
        ),
    ] {
        let text = message(&changed(&served(&desired()), &[(pointer, value)]));
        assert!(text.contains(words), "{pointer}: {text}");
    }
}

#[test]
fn only_the_first_differences_are_named_and_the_rest_counted() {
    let many: Vec<Value> = (0..9).map(|n| json!({"name": format!("C{n}")})).collect();
    let text = message(&changed(
        &served(&desired()),
        &[("/spec/initContainers", json!(many))],
    ));
    assert!(
        text.contains("'C3' was added, and 5 more. Exempt"),
        "{text}"
    );
}

#[test]
fn additions_by_cluster_rules_are_named_but_are_no_alteration() {
    let annotation = "LimitRanger plugin set: cpu limit for container subject; \
                ephemeral-storage request for container subject";
    let found = changed(
        &served(&desired()),
        &[
            (
                "/metadata/annotations/kubernetes.io~1limit-ranger",
                json!(annotation),
            ),
            ("/spec/containers/0/resources/limits/cpu", json!("500m")),
            (
                "/spec/containers/0/resources/requests/ephemeral-storage",
                json!("1Gi"),
            ),
            ("/spec/overhead", json!({"memory": "40Mi"})),
            ("/spec/nodeSelector", json!({"shim": "spin"})),
            (
                "/spec/tolerations/-",
                json!({"key": "wasm", "operator": "Exists"}),
            ),
            ("/spec/imagePullSecrets", json!([{"name": "regcred"}])),
        ],
    );
    let added = compare(desired().spec.as_ref().unwrap(), &found).unwrap();
    let words: Vec<String> = added.iter().map(ToString::to_string).collect();
    assert_eq!(
        words,
        [
            "LimitRange: limits.cpu 500m",
            "LimitRange: requests.ephemeral-storage 1Gi",
            "RuntimeClass: overhead.memory 40Mi",
            "RuntimeClass: nodeSelector.shim spin",
            "RuntimeClass: tolerations wasm",
            "ServiceAccount: imagePullSecrets regcred",
        ]
    );
    let facts = SubjectFacts {
        added,
        ..SubjectFacts::default()
    };
    assert_eq!(facts.limited_by().unwrap().value, "500m");
    assert_eq!(SubjectFacts::default().limited_by(), None);
}

#[test]
fn a_limit_from_elsewhere_than_a_limit_range_is_an_alteration() {
    for annotation in [
        "LimitRanger plugin set: memory limit for container subject",
        "LimitRanger plugin set: cpu request for container subject",
        "LimitRanger plugin set: cpu limit for container other",
        "LimitRanger plugin set: cpu limit for init container subject",
        "cpu limit for container subject",
    ] {
        let found = changed(
            &served(&desired()),
            &[
                (
                    "/metadata/annotations/kubernetes.io~1limit-ranger",
                    json!(annotation),
                ),
                ("/spec/containers/0/resources/limits/cpu", json!("500m")),
            ],
        );
        let text = message(&found);
        assert!(
            text.contains("limits.cpu is 500m instead of nothing"),
            "{annotation}: {text}"
        );
    }
}

#[test]
fn amounts_rewritten_by_the_api_server_are_the_same() {
    let mut run = common::parse(common::RUN);
    let text = "limits: {cpu: 1000m, memory: 2048Gi}\nrequests: {memory: 0.5Gi}";
    run.spec.resources = Some(serde_yaml::from_str(text).unwrap());
    let run = wasmbench_core::validate::validate(&run, &common::config()).unwrap();
    let desired = desired_subject(&run, &trial("mine", "greet"), "bench-1").unwrap();
    let resources = json!({
        "limits": {"cpu": "1", "memory": "2Ti"},
        // The API server takes a limit for a request that is not set.
        "requests": {"cpu": "1", "memory": "512Mi"},
    });
    let found = changed(
        &served(&desired),
        &[("/spec/containers/0/resources", resources)],
    );
    assert_eq!(compare(desired.spec.as_ref().unwrap(), &found), Ok(vec![]));
}

#[test]
fn the_echo_servers_address_is_no_difference_but_an_updated_image_is() {
    let run = common::validated();
    let trial = trial("hare", "relay");
    let desired = desired_subject(&run, &trial, "bench-1").unwrap();
    let variant = run.variant(&trial).unwrap();
    let there = subject_pod(&run, variant, &trial, "bench-1", Some("10.0.0.9:8080"));
    assert_eq!(likeness(&desired, &served(&there)), Likeness::Unaltered);
    // As after an update of the operator: the preset has another image now.
    let mut config = common::config();
    let newer = "example.com/embedded:2".to_owned();
    config.images.references.insert("embedded".into(), newer);
    let updated = wasmbench_core::validate::validate(&common::parse(common::RUN), &config).unwrap();
    let desired = desired_subject(&updated, &trial, "bench-1").unwrap();
    assert_eq!(likeness(&desired, &served(&there)), Likeness::Outdated);
}

#[test]
fn the_subject_of_a_scout_is_compared_like_any_other() {
    let run = common::validated();
    let scouts: Vec<&TrialId> = run.order.iter().filter(|trial| trial.is_scout()).collect();
    assert!(!scouts.is_empty());
    for scout in scouts {
        let desired = desired_subject(&run, scout, "bench-1").expect("a subject");
        assert_eq!(likeness(&desired, &served(&desired)), Likeness::Unaltered);
        let added = json!([{"name": "proxy"}]);
        let found = changed(&served(&desired), &[("/spec/initContainers", added)]);
        assert!(
            matches!(likeness(&desired, &found), Likeness::Altered(_)),
            "{scout}"
        );
    }
}

#[test]
fn probes_and_echo_servers_are_compared_like_subjects() {
    let (run, config) = (common::validated(), common::config());
    let upstream = upstream_pod(&run, &config.images, "bench-1", 0);
    let sidecar = [("/spec/containers/-", json!({"name": "linkerd-proxy"}))];
    let found = changed(&upstream, &sidecar);
    let is_altered = |found: &Likeness| matches!(found, Likeness::Altered(text) if text.contains("'linkerd-proxy' was added"));
    assert!(is_altered(&likeness(&upstream, &found)));
    assert_eq!(likeness(&upstream, &upstream), Likeness::Unaltered);

    let trial = trial("hare", "greet");
    let job = common::probe(&run, &trial, "1");
    let template = job.spec.unwrap().template;
    let pod = Pod {
        metadata: template.metadata.unwrap(),
        spec: template.spec.clone(),
        status: None,
    };
    let desired = template.spec.unwrap();
    assert_eq!(compare_pod(&desired, &pod), Likeness::Unaltered);
    assert!(is_altered(&compare_pod(&desired, &changed(&pod, &sidecar))));
}

#[test]
fn all_pods_stay_out_of_service_meshes() {
    let (run, config) = (common::validated_cold(), common::config());
    let trial = trial("hare", "greet");
    let variant = run.variant(&trial).unwrap();
    let job = common::probe(&run, &trial, "1");
    for meta in [
        desired().metadata,
        wasmbench_core::build::subject_pod::cold_subject(&run, variant, &trial, "bench-1", None)
            .metadata,
        upstream_pod(&run, &config.images, "bench-1", 0).metadata,
        job.spec.unwrap().template.metadata.unwrap(),
    ] {
        let (labels, annotations) = (meta.labels.unwrap(), meta.annotations.unwrap());
        assert_eq!(labels["sidecar.istio.io/inject"], "false");
        assert_eq!(labels["istio.io/dataplane-mode"], "none");
        assert_eq!(annotations["linkerd.io/inject"], "disabled");
    }
}
