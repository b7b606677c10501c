use serde_json::{Value, json};

use super::*;
use crate::check::judge::{POLICIES, SCALE};
use crate::check::observed::{ObservedNode, ObservedOperator, ObservedRuntimeClass};

fn node(name: &str, handlers: &[&str]) -> ObservedNode {
    let labels = [("kubernetes.io/os", "linux")];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
    ObservedNode {
        name: name.to_owned(),
        labels: labels.into(),
        handlers: Some(handlers.iter().map(|one| (*one).to_owned()).collect()),
        cpus: Some(2),
    }
}

fn cluster() -> ObservedCluster {
    let class = ObservedRuntimeClass {
        handler: "wasmtime".to_owned(),
        ..ObservedRuntimeClass::default()
    };
    let class = ("wasmtime".to_owned(), class);
    let policies = POLICIES.into_iter().chain([SCALE]);
    let operator = ObservedOperator {
        namespace: "wasmbench-system".to_owned(),
        name: "wasmbench".to_owned(),
        version: None,
        available: true,
    };
    let observed = ObservedInstallation {
        namespace: "bench".into(),
        namespace_exists: Ok(true),
        resources: Ok(vec!["benchmarkruns".into(), "benchmarkschedules".into()]),
        operators: Ok(vec![operator]),
        config: Ok(assumed::config()),
        policies: Ok(policies.map(|one| format!("wasmbench-{one}")).collect()),
        pod_security: Ok(None),
        rights: vec![("start runs", Ok(true))],
        network_policies: Ok(vec![]),
        runtime_classes: Ok([class].into()),
        nodes: Ok(vec![node("node-1", &["runc", "wasmtime"])]),
    };
    ObservedCluster {
        observed,
        cold_starts: Ok(true),
        quotas: Ok(vec![]),
        scaled: BTreeMap::new(),
    }
}

fn quota(resource: &str, hard: &str, used: &str) -> ResourceQuota {
    let quota = json!({
        "metadata": {"name": "small"},
        "status": {"hard": {resource: hard}, "used": {resource: used}},
    });
    serde_json::from_value(quota).unwrap()
}

/// A container, and a Wasm variant with this RuntimeClass.
fn run(class: &str, more: &Value) -> BenchmarkRun {
    let image = "registry.example.com/a:1";
    let mut spec = json!({
        "variants": [
            {"name": "container", "container": {"image": image}},
            {"name": "wasm", "container": {"image": image, "runtimeClassName": class}},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"warmLatency": {}},
    });
    for (field, value) in more.as_object().unwrap() {
        spec[field] = value.clone();
    }
    BenchmarkRun::new("own", serde_json::from_value(spec).unwrap())
}

#[test]
fn a_cluster_with_everything_has_no_obstacle() {
    assert_eq!(
        obstacles(&run("wasmtime", &json!({})), &cluster()),
        "\nIn this cluster\nnothing is known to stand in the way\n"
    );
}

#[test]
fn a_missing_runtime_class_is_named_with_what_is_left_to_compare() {
    let text = obstacles(&run("wasmedge", &json!({})), &cluster());
    assert!(
        text.contains("wasm is never measured: there is no RuntimeClass 'wasmedge'"),
        "{text}"
    );
    assert!(
        text.contains("nothing can be compared, because one variant is left"),
        "{text}"
    );
    let text = obstacles(&run("wasmedge", &json!({"baseline": "wasm"})), &cluster());
    assert!(
        text.contains("set spec.baseline to another variant"),
        "{text}"
    );
}

#[test]
fn an_object_that_the_administrator_does_not_let_runs_scale_is_named() {
    let shop = json!({"name": "shop", "scale": {"resource": "deployments", "name": "shop"}});
    let run = run("wasmtime", &json!({"variants": [shop]}));
    let mut cluster = cluster();
    let allowed = obstacles(&run, &cluster);
    assert!(allowed.contains("nothing is known"), "{allowed}");
    let scale = &mut cluster.observed.config.as_mut().unwrap().scale;
    scale.namespaces = vec!["team-a".to_owned()];
    let elsewhere = obstacles(&run, &cluster);
    assert!(elsewhere.contains("scale.namespaces"), "{elsewhere}");
    cluster
        .observed
        .config
        .as_mut()
        .unwrap()
        .scale
        .resources
        .clear();
    let unlisted = obstacles(&run, &cluster);
    assert!(
        unlisted.contains("spec.variants[0].scale.resource: the administrator does not allow"),
        "{unlisted}"
    );
}

#[test]
fn a_refusal_by_the_administrators_limits_is_named_where_they_are_known() {
    let run = run("wasmtime", &json!({"blocks": 5}));
    let mut cluster = cluster();
    cluster.observed.config.as_mut().unwrap().limits.trials = 7;
    let text = obstacles(&run, &cluster);
    assert!(
        text.contains("the operator refuses the run: spec.blocks: the run has"),
        "{text}"
    );
    assert!(!text.contains("nothing is known"), "{text}");
    let limits = &mut cluster.observed.config.as_mut().unwrap().limits;
    (limits.trials, limits.own_containers) = (500, false);
    let text = obstacles(&run, &cluster);
    assert!(text.contains("the operator refuses the run: "), "{text}");
    cluster.observed.config = Err("the operator was not found".to_owned());
    let text = obstacles(&run, &cluster);
    assert!(
        text.contains(
            "the administrator's limits, which the operator checks when the run is created"
        ),
        "{text}"
    );
}

#[test]
fn labels_that_no_node_has_are_named() {
    let placement = json!({"placement": {"nodeSelector": {"pool": "bench"}}});
    let text = obstacles(&run("wasmtime", &placement), &cluster());
    assert!(
        text.contains(
            "fails after ten minutes: no node has the labels pool=bench (spec.placement.nodeSelector)"
        ),
        "{text}"
    );
    let mut cluster = cluster();
    let class = cluster.observed.runtime_classes.as_mut().unwrap();
    let selector = &mut class.get_mut("wasmtime").unwrap().node_selector;
    selector.insert("shim".to_owned(), "yes".to_owned());
    let text = obstacles(&run("wasmtime", &json!({})), &cluster);
    assert!(
        text.contains("no node has the labels shim=yes (RuntimeClass wasmtime)"),
        "{text}"
    );
}

#[test]
fn more_cpus_than_any_node_has_are_named() {
    let run = run(
        "wasmtime",
        &json!({"resources": {"requests": {"cpu": "8"}}}),
    );
    let text = obstacles(&run, &cluster());
    assert!(text.contains("no node has 9 CPUs"), "{text}");
    assert!(!text.contains("nothing is known"), "{text}");
}

#[test]
fn a_handler_that_nodes_lack_or_do_not_report_is_named() {
    let run = run("wasmtime", &json!({}));
    let text = |nodes: Vec<ObservedNode>| {
        let mut cluster = cluster();
        cluster.observed.nodes = Ok(nodes);
        obstacles(&run, &cluster)
    };
    let (with, without) = (node("a", &["runc", "wasmtime"]), node("b", &["runc"]));
    let nowhere = text(vec![without.clone()]);
    assert!(
        nowhere.contains(
            "wasm is never measured: no handler 'wasmtime' of RuntimeClass wasmtime on b"
        ),
        "{nowhere}"
    );
    let partly = text(vec![with, without]);
    assert!(
        partly.contains("which have no handler 'wasmtime': b;"),
        "{partly}"
    );
    assert!(!partly.contains("never measured"), "{partly}");
    let silent = ObservedNode {
        handlers: None,
        ..node("c", &[])
    };
    let silent = text(vec![silent]);
    assert!(
        silent.contains("not known: whether wasm can be measured: c does not report"),
        "{silent}"
    );
}

#[test]
fn a_part_that_check_finds_missing_is_an_obstacle() {
    let run = run("wasmtime", &json!({}));
    let text = |change: fn(&mut ObservedInstallation)| {
        let mut cluster = cluster();
        change(&mut cluster.observed);
        obstacles(&run, &cluster)
    };
    let elsewhere = text(|observed| {
        observed.config.as_mut().unwrap().watch_namespaces = vec!["team-a".to_owned()];
    });
    assert!(
        elsewhere.contains("the operator does not follow runs in namespace bench"),
        "{elsewhere}"
    );
    let none = text(|observed| observed.operators = Ok(vec![]));
    assert!(
        none.contains("operator: there is none; helm install"),
        "{none}"
    );
    let gone = text(|observed| observed.namespace_exists = Ok(false));
    assert!(gone.contains("there is no namespace bench"), "{gone}");
    for text in [&elsewhere, &none, &gone] {
        assert!(!text.contains("nothing is known"), "{text}");
    }
    let unseen =
        text(|observed| observed.operators = Err("you may not list Deployments".to_owned()));
    assert!(
        unseen.contains("not known: operator (you may not list Deployments)"),
        "{unseen}"
    );
}

#[test]
fn cold_starts_that_the_namespace_may_not_have_are_named_where_a_run_has_some() {
    let text = |sweeps: Value, cold_starts: Answer<bool>| {
        let cluster = ObservedCluster {
            cold_starts,
            ..cluster()
        };
        obstacles(&run("wasmtime", &json!({"sweeps": sweeps})), &cluster)
    };
    let cold = json!({"coldStart": {"samples": 5}});
    let forbidden = text(cold.clone(), Ok(false));
    assert!(
        forbidden.contains("add namespace bench to coldStart.namespaces"),
        "{forbidden}"
    );
    let unknown = text(
        cold,
        Err("you may not ask for the rights of others".to_owned()),
    );
    assert!(
        unknown.contains("not known: whether coldStart.namespaces"),
        "{unknown}"
    );
    let warm = text(json!({"warmLatency": {}}), Ok(false));
    assert!(warm.contains("nothing is known"), "{warm}");
}

#[test]
fn a_quota_that_is_full_or_asks_for_more_is_named() {
    let text = |quota| {
        let cluster = ObservedCluster {
            quotas: Ok(vec![quota]),
            ..cluster()
        };
        obstacles(&run("wasmtime", &json!({})), &cluster)
    };
    let full = text(quota("pods", "3", "3"));
    assert!(
        full.contains("container: quota small allows 3 of pods"),
        "{full}"
    );
    let asks = text(quota("limits.cpu", "4", "0"));
    assert!(
        asks.contains("quota small asks every pod for limits.cpu"),
        "{asks}"
    );
    let other = text(quota("services", "0", "0"));
    assert!(
        other.contains("nothing is known to stand in the way"),
        "{other}"
    );
}

#[test]
fn a_quota_of_some_pods_alone_refuses_nothing_for_certain() {
    let expression = json!({"scopeName": "PriorityClass", "operator": "In", "values": ["high"]});
    for scopes in [
        json!({"scopes": ["BestEffort"]}),
        json!({"scopeSelector": {"matchExpressions": [expression]}}),
    ] {
        let mut quota = quota("pods", "3", "3");
        quota.spec = Some(serde_json::from_value(scopes).unwrap());
        let cluster = ObservedCluster {
            quotas: Ok(vec![quota]),
            ..cluster()
        };
        let text = obstacles(&run("wasmtime", &json!({})), &cluster);
        assert!(
            text.contains("nothing is known to stand in the way"),
            "{text}"
        );
        assert!(
            text.contains("not known: whether the scopes of this quota hold the pod of container: quota small allows 3"),
            "{text}"
        );
    }
}

#[test]
fn objects_that_the_user_may_not_list_are_not_assumed_to_be_fine() {
    let mut cluster = cluster();
    cluster.quotas = Err("you may not list quotas".to_owned());
    cluster.observed.rights = vec![("start runs", Ok(false))];
    let text = obstacles(&run("wasmtime", &json!({})), &cluster);
    assert!(
        text.contains("not known: quotas (you may not list quotas)"),
        "{text}"
    );
    assert!(
        text.contains("right to start runs: not in namespace bench"),
        "{text}"
    );
}

#[test]
fn an_object_that_is_not_offered_or_that_the_user_may_not_scale_is_named() {
    let scale =
        |name: &str| json!({"name": name, "scale": {"resource": "deployments", "name": name}});
    let run = run(
        "wasmtime",
        &json!({"variants": [scale("shop"), scale("next")]}),
    );
    let offered = json!({
        "metadata": {"annotations": {"wasmbench.dev/offered": "true"}},
        "spec": {"replicas": 0, "template": {"spec": {"nodeSelector": {"host": "bench-9"}}}},
    });
    let mut cluster = cluster();
    for (variant, object) in run.spec.variants.iter().zip([&offered, &json!({})]) {
        let target = cluster.target(variant.scale.as_ref().unwrap()).unwrap();
        let found = Scalable {
            object: Ok(as_written(object)),
            is_to_apply: false,
            may_scale: Ok(true),
        };
        cluster.scaled.insert(target, found);
    }
    let text = obstacles(&run, &cluster);
    assert!(
        text.contains("next is never measured: deployments.apps/next is not offered"),
        "{text}"
    );
    assert!(!text.contains("shop is never measured"), "{text}");
    assert!(text.contains("because one variant is left"), "{text}");
    assert!(!text.contains("in the file"), "{text}");
    assert!(
        text.contains("host=bench-9 (the template of deployments.apps/shop)"),
        "{text}"
    );
    for found in cluster.scaled.values_mut() {
        found.is_to_apply = true;
    }
    let text = obstacles(&run, &cluster);
    assert!(
        text.contains("deployments.apps/shop is in the file and not in the cluster: kubectl apply"),
        "{text}"
    );
    for found in cluster.scaled.values_mut() {
        found.may_scale = Ok(false);
        found.object = Err("you may not read it".to_owned());
    }
    let text = obstacles(&run, &cluster);
    assert!(
        text.contains("shop: you may not patch deployments/scale in namespace bench"),
        "{text}"
    );
    assert!(
        text.contains("not known: deployments.apps/shop (you may not read it)"),
        "{text}"
    );
}
