//! What of a run the cluster will never measure, or not start, as far as the user may see. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::ResourceExt as _;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::quantity::thousandths;
use wasmbench_api::run::{CpuAndMemory, SubjectResources, Variant};
use wasmbench_core::subject::subject;

use crate::assumed;
use crate::check::seen::{Answer, Seen};

/// A cluster, as far as it decides what can be measured.
pub struct ClusterSeen {
    /// The installation, the nodes and the user's rights.
    pub seen: Seen,
    /// The quotas of the namespace.
    pub quotas: Answer<Vec<ResourceQuota>>,
}

/// What stands in the way of a run in this cluster, and what is not known.
pub fn obstacles(spec: &BenchmarkRunSpec, cluster: &ClusterSeen) -> String {
    let mut lines = not_started(&cluster.seen);
    let variants = spec.variants.iter();
    lines.extend(variants.filter_map(|variant| not_scaled(variant, &cluster.seen)));
    lines.extend(skipped(spec, &cluster.seen));
    lines.extend(nodes(spec, &cluster.seen));
    lines.extend(quotas(spec, cluster));
    if lines.is_empty() {
        lines.push("nothing is known to stand in the way".to_owned());
    }
    lines.extend(unknown(cluster));
    format!("\nIn this cluster\n{}\n", lines.join("\n"))
}

fn not_started(seen: &Seen) -> Vec<String> {
    let namespace = &seen.namespace;
    if seen.namespace_exists == Ok(false) {
        return vec![format!(
            "there is no namespace {namespace}: choose another one with -n, or create it"
        )];
    }
    let missing = seen.rights.iter().filter(|(_, may)| *may == Ok(false));
    missing
        .map(|(words, _)| {
            format!("you may not {words} in namespace {namespace}: see kubectl wasmbench check -n {namespace}")
        })
        .collect()
}

/// Variants that are skipped, and whether anything is left to compare.
fn skipped(spec: &BenchmarkRunSpec, seen: &Seen) -> Vec<String> {
    let reasons: BTreeMap<&str, String> = spec
        .variants
        .iter()
        .filter_map(|variant| Some((variant.name.as_str(), why_skipped(variant, seen)?)))
        .collect();
    let mut lines: Vec<String> = reasons
        .iter()
        .map(|(variant, why)| format!("{variant} is never measured: {why}"))
        .collect();
    let (all, left) = (spec.variants.len(), spec.variants.len() - reasons.len());
    if left == 0 {
        lines.push("nothing is left to measure: do not start this run".to_owned());
    } else if all > 1 && reasons.contains_key(spec.baseline_name()) {
        lines.push(
            "nothing can be compared, because the baseline is not measured: set spec.baseline to another variant".to_owned(),
        );
    } else if all > 1 && left == 1 {
        lines.push(
            "nothing can be compared, because one variant is left: remove the cause, or name another variant".to_owned(),
        );
    }
    lines
}

/// Why the operator refuses a run that scales this; unknown without its settings.
fn not_scaled(variant: &Variant, seen: &Seen) -> Option<String> {
    let (scale, config) = (variant.scale.as_ref()?, seen.config.as_ref().ok()?);
    let kind = format!("{}.{}", scale.resource, scale.group);
    let name = &variant.name;
    if config.scale.target(scale).is_none() {
        return Some(format!(
            "{name}: the administrator does not allow runs to scale {kind}; have it added to scale.resources of the chart"
        ));
    }
    let namespace = &seen.namespace;
    (!config.scale.allows(namespace)).then(|| {
        format!(
            "{name}: the administrator does not allow runs of namespace {namespace} to scale anything; have it added to \
             scale.namespaces of the chart"
        )
    })
}

fn why_skipped(variant: &Variant, seen: &Seen) -> Option<String> {
    let config = seen.config.clone().unwrap_or_else(|_| assumed::config());
    let subject = subject(variant, &config)?;
    if let Some(why) = subject.not_allowed {
        return Some(why.to_owned());
    }
    let class = subject.runtime_class?;
    let classes = seen.runtime_classes.as_ref().ok()?;
    let exists = classes.contains_key(&class);
    (!exists).then(|| {
        format!("there is no RuntimeClass '{class}'; install the shim and its RuntimeClass, or remove the variant")
    })
}

/// Whether no node has all the labels.
fn nodes(spec: &BenchmarkRunSpec, seen: &Seen) -> Option<String> {
    let nodes = seen.nodes.as_ref().ok()?;
    let mut labels = spec.placement.clone().unwrap_or_default().node_selector;
    if let Ok(config) = &seen.config {
        labels.extend(config.limits.node_selector.clone());
    }
    if nodes.iter().any(|node| node.has(&labels)) {
        return None;
    }
    let labels: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    Some(format!(
        "none of the {} nodes has the labels {}: the run fails after ten minutes; correct spec.placement.nodeSelector",
        nodes.len(),
        labels.join(", ")
    ))
}

/// Quotas that refuse the pod of a variant. More than one pod at once is not reckoned with.
fn quotas(spec: &BenchmarkRunSpec, cluster: &ClusterSeen) -> Vec<String> {
    let quotas = cluster.quotas.iter().flatten();
    let mut lines = vec![];
    for quota in quotas {
        // What is scaled has the resources of its own template, which is not read here.
        let ours = spec.variants.iter();
        for variant in ours.filter(|variant| variant.scale.is_none()) {
            let resources = spec.resources_of(variant);
            let refusal = refusal(quota, &resources);
            lines.extend(refusal.map(|why| format!("{}: {why}", variant.name)));
        }
    }
    lines
}

fn refusal(quota: &ResourceQuota, resources: &SubjectResources) -> Option<String> {
    let name = quota.name_any();
    let status = quota.status.clone().unwrap_or_default();
    let used = status.used.unwrap_or_default();
    for (key, hard) in status.hard.unwrap_or_default() {
        let Some(needed) = needed(&key, resources) else {
            continue;
        };
        let Some(needed) = needed else {
            return Some(format!(
                "quota {name} asks every pod for {key}, and there is none; set it in spec.resources, unless a LimitRange does"
            ));
        };
        let amount = |text: &str| thousandths(text).unwrap_or_default();
        let taken = used.get(&key).map_or(0, |used| amount(&used.0));
        if taken + amount(&needed) > amount(&hard.0) {
            let used = used.get(&key).map_or("0", |used| used.0.as_str());
            return Some(format!(
                "quota {name} allows {} of {key}, of which {used} are taken, and a pod needs {needed}; free some, or request less",
                hard.0
            ));
        }
    }
    None
}

/// How much of a quota's resource a pod needs: `None` if it is none of a pod's, and inside it `None`
/// if the pod states no amount.
#[expect(clippy::option_option, reason = "both are answers, and differ")]
fn needed(key: &str, resources: &SubjectResources) -> Option<Option<String>> {
    let cpu = |amounts: &Option<CpuAndMemory>| amounts.clone()?.cpu;
    let memory = |amounts: &Option<CpuAndMemory>| amounts.clone()?.memory;
    let SubjectResources { requests, limits } = resources;
    Some(match key {
        "pods" | "count/pods" => Some("1".to_owned()),
        "cpu" | "requests.cpu" => cpu(requests).or_else(|| cpu(limits)),
        "memory" | "requests.memory" => memory(requests).or_else(|| memory(limits)),
        "limits.cpu" => cpu(limits),
        "limits.memory" => memory(limits),
        _ => return None,
    })
}

/// What the user's rights do not show.
fn unknown(cluster: &ClusterSeen) -> Vec<String> {
    let seen = &cluster.seen;
    let answers = [
        ("RuntimeClasses", seen.runtime_classes.as_ref().err()),
        ("nodes", seen.nodes.as_ref().err()),
        ("quotas", cluster.quotas.as_ref().err()),
        ("the operator's limits", seen.config.as_ref().err()),
    ];
    let unknown = answers
        .into_iter()
        .filter_map(|(what, why)| Some((what, why?)));
    unknown
        .map(|(what, why)| format!("not known: {what} ({why})"))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::check::seen::{NodeSeen, RuntimeClassSeen};

    fn cluster() -> ClusterSeen {
        let class = ("wasmtime".to_owned(), RuntimeClassSeen::default());
        let seen = Seen {
            namespace: "bench".into(),
            namespace_exists: Ok(true),
            resources: Ok(vec![]),
            operators: Ok(vec![]),
            config: Ok(assumed::config()),
            policies: Ok([].into()),
            pod_security: Ok(None),
            rights: vec![("start runs", Ok(true))],
            network_policies: Ok(vec![]),
            runtime_classes: Ok([class].into()),
            nodes: Ok(vec![NodeSeen::default()]),
        };
        ClusterSeen {
            seen,
            quotas: Ok(vec![]),
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
    fn spec(class: &str, more: &Value) -> BenchmarkRunSpec {
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
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn a_cluster_with_everything_has_no_obstacle() {
        assert_eq!(
            obstacles(&spec("wasmtime", &json!({})), &cluster()),
            "\nIn this cluster\nnothing is known to stand in the way\n"
        );
    }

    #[test]
    fn a_missing_runtime_class_is_named_with_what_is_left_to_compare() {
        let text = obstacles(&spec("wasmedge", &json!({})), &cluster());
        assert!(
            text.contains("wasm is never measured: there is no RuntimeClass 'wasmedge'"),
            "{text}"
        );
        assert!(
            text.contains("nothing can be compared, because one variant is left"),
            "{text}"
        );
        let text = obstacles(&spec("wasmedge", &json!({"baseline": "wasm"})), &cluster());
        assert!(
            text.contains("set spec.baseline to another variant"),
            "{text}"
        );
    }

    #[test]
    fn what_the_administrator_does_not_let_runs_scale_is_named() {
        let shop = json!({"name": "shop", "scale": {"resource": "deployments", "name": "shop"}});
        let spec = spec("wasmtime", &json!({"variants": [shop]}));
        let mut cluster = cluster();
        let allowed = obstacles(&spec, &cluster);
        assert!(allowed.contains("nothing is known"), "{allowed}");
        let scale = &mut cluster.seen.config.as_mut().unwrap().scale;
        scale.namespaces = vec!["team-a".to_owned()];
        let elsewhere = obstacles(&spec, &cluster);
        assert!(elsewhere.contains("scale.namespaces"), "{elsewhere}");
        cluster
            .seen
            .config
            .as_mut()
            .unwrap()
            .scale
            .resources
            .clear();
        let unlisted = obstacles(&spec, &cluster);
        assert!(
            unlisted.contains("to scale deployments.apps; have it"),
            "{unlisted}"
        );
    }

    #[test]
    fn labels_that_no_node_has_are_named() {
        let placement = json!({"placement": {"nodeSelector": {"pool": "bench"}}});
        let text = obstacles(&spec("wasmtime", &placement), &cluster());
        assert!(
            text.contains("none of the 1 nodes has the labels pool=bench"),
            "{text}"
        );
    }

    #[test]
    fn a_quota_that_is_full_or_asks_for_more_is_named() {
        let text = |quota| {
            let cluster = ClusterSeen {
                quotas: Ok(vec![quota]),
                ..cluster()
            };
            obstacles(&spec("wasmtime", &json!({})), &cluster)
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
    fn what_the_user_may_not_see_is_not_assumed_to_be_fine() {
        let mut cluster = cluster();
        cluster.quotas = Err("you may not list quotas".to_owned());
        cluster.seen.rights = vec![("start runs", Ok(false))];
        let text = obstacles(&spec("wasmtime", &json!({})), &cluster);
        assert!(
            text.contains("not known: quotas (you may not list quotas)"),
            "{text}"
        );
        assert!(
            text.contains("you may not start runs in namespace bench"),
            "{text}"
        );
    }
}
