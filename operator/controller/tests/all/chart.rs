//! The chart, rendered by the real Helm: what it must never contain, and that it fits the operator
//! that it installs.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wasmbench_controller::metrics::{Metrics, StateLabel};
use wasmbench_core::config::OperatorConfig;
use wasmbench_model::variants::catalogue::catalogue;

use crate::support::chart::{
    NAMESPACE, folder, of_kind, render, renderings, repository, run, strings, template,
    values_files,
};
use crate::support::runs;

#[test]
fn helm_lint_accepts_every_values_file() {
    for file in values_files() {
        let result = run(&["lint", ".", "--strict", "--values", &file]);
        assert!(result.is_ok(), "{file}: {result:?}");
    }
}

/// Collects the values of all fields named `image`.
fn images(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_str() {
                    Some(image) if name == "image" => found.push(image.to_owned()),
                    _ => images(field, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| images(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn config(objects: &[Value]) -> OperatorConfig {
    let maps = of_kind(objects, "ConfigMap");
    assert_eq!(maps.len(), 1);
    let text = maps[0]["data"]["config.yaml"].as_str().unwrap();
    serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn every_image_has_a_version_and_none_is_latest() {
    for (file, objects) in renderings() {
        let mut found = vec![];
        for deployment in of_kind(&objects, "Deployment") {
            images(deployment, &mut found);
        }
        found.extend(config(&objects).images.references.into_values());
        assert_eq!(found.len(), 1 + catalogue().unwrap().images.len(), "{file}");
        for image in found {
            let name = image.rsplit('/').next().unwrap();
            assert!(
                name.contains(':') || name.contains('@'),
                "{file}: {image} has no version"
            );
            assert!(!name.ends_with(":latest"), "{file}: {image}");
        }
    }
}

#[test]
fn a_released_chart_takes_images_by_digest_from_any_registry_unless_a_tag_is_set() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let option = format!("image.digests.native={digest}");
    let native = |more: &[&str]| {
        let registry = "image.registry=mirror.example.com/w";
        let arguments = [&["--set", option.as_str(), "--set", registry][..], more].concat();
        config(&render(&arguments)).images.references["native"].clone()
    };
    let mirrored = native(&[]);
    assert!(
        mirrored.starts_with("mirror.example.com/w/native:"),
        "{mirrored}"
    );
    assert!(mirrored.ends_with(&format!("@{digest}")), "{mirrored}");
    let tagged = native(&["--set", "image.tag=dev"]);
    assert_eq!(tagged, "mirror.example.com/w/native:dev");
}

#[test]
fn the_operator_reads_the_configuration_that_the_chart_writes() {
    for (file, objects) in renderings() {
        let config = config(&objects);
        assert_eq!(config.operator_namespace, NAMESPACE, "{file}");
    }
    let defaults = config(&render(&[]));
    assert_eq!(defaults.limits, wasmbench_core::config::Limits::default());
    // Nothing is scaled unless somebody says where; the kinds are those that the plugin assumes.
    assert!(defaults.scale.namespaces.is_empty());
    let assumed = wasmbench_core::scale::ScaleConfig::assumed();
    assert_eq!(defaults.scale.resources, assumed.resources);
    assert_eq!(
        defaults.probe,
        wasmbench_core::config::ProbeConfig::default()
    );
    assert_eq!(defaults.containerd_socket, None);
    assert!(defaults.watches("any"));
    let few = config(&render(&["--set", "watchNamespaces={team-a,team-b}"]));
    assert!(few.watches("team-b") && !few.watches("any") && !few.watches(NAMESPACE));
    let node = config(&render(&["--set", "meter.level=node"]));
    let socket = node.containerd_socket.as_deref();
    assert_eq!(socket, Some("/run/containerd/containerd.sock"));
    assert_eq!(node.meter, defaults.meter);
    let file = folder().join("ci/restricted-values.yaml");
    let restricted = config(&render(&["--values", &file.to_string_lossy()]));
    assert_eq!(
        restricted.meter,
        wasmbench_model::wire::request::MeterLevel::None
    );
    assert_eq!(restricted.limits.connections, 200);
    assert!(!restricted.limits.own_containers);
}

#[test]
fn a_changed_configuration_replaces_the_operator_s_pod() {
    let checksum = |arguments: &[&str]| {
        let objects = render(arguments);
        let deployment = of_kind(&objects, "Deployment")[0].clone();
        deployment["spec"]["template"]["metadata"]["annotations"]["checksum/config"].clone()
    };
    assert!(checksum(&[]).is_string());
    assert_ne!(checksum(&[]), checksum(&["--set", "limits.trials=10"]));
}

#[test]
fn the_pods_of_operator_and_helm_test_pass_the_restricted_standard() {
    for (file, objects) in renderings() {
        let deployment = of_kind(&objects, "Deployment")[0];
        assert_eq!(deployment["spec"]["replicas"], 1, "{file}");
        assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate", "{file}");
        assert_restricted(&deployment["spec"]["template"]["spec"], &file);
        // The pod of `helm test` asks the Service, which not every values file has.
        let tests = of_kind(&objects, "Pod");
        assert_eq!(tests.len(), of_kind(&objects, "Service").len(), "{file}");
        for test in tests {
            assert_restricted(&test["spec"], &file);
        }
    }
}

/// A process of the operator learns its pod's name, and the kubelet never runs more of them than the chart
/// asks for: with two, an update replaces one after the other.
#[test]
fn an_update_never_runs_more_processes_of_the_operator_than_desired() {
    let spec = |arguments: &[&str]| of_kind(&render(arguments), "Deployment")[0]["spec"].clone();
    let one = spec(&[]);
    assert_eq!(one["strategy"], json!({ "type": "Recreate" }));
    let env = one["template"]["spec"]["containers"][0]["env"].as_array();
    let pod = env
        .unwrap()
        .iter()
        .find(|one| one["name"] == "WASMBENCH_POD");
    let name = &pod.unwrap()["valueFrom"]["fieldRef"]["fieldPath"];
    assert_eq!(name, "metadata.name");
    let two = spec(&["--set", "replicas=2"]);
    assert_eq!(two["replicas"], 2);
    let rolling = json!({ "maxSurge": 0, "maxUnavailable": 1 });
    assert_eq!(
        two["strategy"],
        json!({ "type": "RollingUpdate", "rollingUpdate": rolling })
    );
}

fn assert_restricted(pod: &Value, file: &str) {
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{file}");
    assert!(
        pod["securityContext"]["runAsUser"].as_i64().unwrap() > 0,
        "{file}"
    );
    assert_eq!(
        pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault",
        "{file}"
    );
    let containers = pod["containers"].as_array().unwrap();
    assert_eq!(containers.len(), 1, "{file}");
    for container in containers {
        let security = &container["securityContext"];
        assert_eq!(security["allowPrivilegeEscalation"], false, "{file}");
        assert_eq!(security["readOnlyRootFilesystem"], true, "{file}");
        assert_eq!(
            strings(&security["capabilities"]["drop"]),
            BTreeSet::from(["ALL"])
        );
        assert!(
            container["resources"]["limits"]["memory"].is_string(),
            "{file}"
        );
    }
}

#[test]
fn the_chart_installs_the_crds_of_the_repository_and_keeps_them() {
    let read = |plural: &str| -> Value {
        let path = repository().join(format!("crds/wasmbench.dev_{plural}.yaml"));
        serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut wanted = ["benchmarkruns", "benchmarkschedules"].map(read);
    let crds = |arguments: &[&str]| -> Vec<Value> {
        let objects = render(arguments);
        let crds = of_kind(&objects, "CustomResourceDefinition");
        crds.into_iter().cloned().collect()
    };
    assert_eq!(crds(&["--set", "crds.keep=false"]), wanted);
    for crd in &mut wanted {
        crd["metadata"]["annotations"]["helm.sh/resource-policy"] = "keep".into();
    }
    assert_eq!(crds(&[]), wanted);
    assert!(crds(&["--set", "crds.enabled=false"]).is_empty());
}

#[test]
fn a_packaged_chart_renders_the_same_objects() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().to_string_lossy().into_owned();
    run(&["package", ".", "--destination", &target]).unwrap();
    let package = std::fs::read_dir(folder.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let package = package.to_string_lossy().into_owned();
    let arguments = ["--namespace", NAMESPACE, "--kube-version", "1.33.0"];
    let packed = run(&[&["template", "wasmbench", &package], &arguments[..]].concat());
    assert_eq!(packed.unwrap(), template(&[]).unwrap());
}

#[test]
fn impossible_values_are_refused_in_plain_words() {
    let cases = [
        ("imagee.tag=1", "imagee"),
        ("limits.conections=1", "conections"),
        ("limits.connections=2001", "maximum"),
        ("limits.trials=0", "minimum"),
        ("meter.level=root", "meter"),
        ("meter.containerdSocket=../containerd.sock", "meter"),
        ("image.tag=latest", "'latest' is refused"),
        (
            "images.probe=registry.example.com/probe:latest",
            "'latest' is refused",
        ),
        (
            "images.native=example.com/native",
            "without a tag or a digest",
        ),
        (
            "images.nativ=example.com/native:1",
            "images.nativ replaces no image of wasmbench: there are operator, probe, native,",
        ),
        ("images.native.tag=1", "/images/native"),
        ("serviceAccount.create=false", "name the ServiceAccount"),
        ("serviceAccount.name=default", "choose another name"),
        (
            "serviceMonitor.enabled=true,metrics.service.enabled=false",
            "enable both or neither",
        ),
        ("limits.coldStartConcurrency=65", "maximum"),
        ("limits.densityInstances=101", "maximum"),
        (
            "coldStart.serviceAccountName=wasmbench",
            "choose a ServiceAccount that nothing else uses",
        ),
        ("fullnameOverride=A_B", "/fullnameOverride"),
        ("watchNamespaces={Team}", "/watchNamespaces/0"),
        (
            "watchNamespaces={team-a},coldStart.namespaces={team-b}",
            "List it in both or in neither",
        ),
        (
            "watchNamespaces={team-a},scale.namespaces={team-b}",
            "List it in both or in neither",
        ),
        (
            "scale.namespaces={team-a},admissionPolicies.enabled=false",
            "only the policies check that whoever starts a run may scale what it names",
        ),
        ("scale.namespaces={*}", "/scale/namespaces/0"),
        (
            "admissionPolicies.mayChangePods={a'b}",
            "/admissionPolicies/mayChangePods/0",
        ),
        (
            "admissionPolicies.mayChangePods={system:authenticated}",
            "/admissionPolicies/mayChangePods/0",
        ),
        ("nameOverride=A_B", "/nameOverride"),
        ("resources.limts.memory=1Gi", "limts"),
        ("resources.limits.memry=1Gi", "memry"),
        (
            "image.registry=https://registry.example.com",
            "/image/registry",
        ),
        ("image=null", "missing property 'image'"),
        ("serviceAccount.name=A_B", "/serviceAccount/name"),
        (
            "coldStart.serviceAccountName=A_B",
            "/coldStart/serviceAccountName",
        ),
        ("priorityClassName=A_B", "/priorityClassName"),
        ("nodeSelector.disk=fast disk", "/nodeSelector/disk"),
        ("podLabels.a b=c", "invalid propertyName 'a b'"),
        ("replicas=0", "/replicas"),
        ("replicas=3", "/replicas"),
        ("logLevel=loud", "/logLevel"),
        ("logLevel=info;debug", "/logLevel"),
    ];
    for (value, message) in cases {
        let error = template(&["--set", value]).expect_err(&format!("{value} is accepted"));
        assert!(
            error.contains(message),
            "{value} should be refused with '{message}': {error}"
        );
    }
    let error = template(&["--namespace", "kube-system"]).unwrap_err();
    assert!(error.contains("choose a namespace of its own"), "{error}");
}

#[test]
fn the_chart_carries_the_version_of_the_operator() {
    let text = std::fs::read_to_string(folder().join("Chart.yaml")).unwrap();
    let chart: Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
    assert_eq!(chart["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn every_value_is_described_by_the_schema_and_by_the_readme() {
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).unwrap();
    let values: Value = serde_yaml::from_str(&read("values.yaml")).unwrap();
    let schema: Value = serde_json::from_str(&read("values.schema.json")).unwrap();
    let readme = read("README.md");
    let mut stack = vec![(String::new(), &values, &schema)];
    while let Some((path, value, schema)) = stack.pop() {
        let Some(fields) = value
            .as_object()
            .filter(|_| schema["properties"].is_object())
        else {
            assert!(
                readme.contains(&format!("`{path}`")),
                "README.md lacks {path}"
            );
            continue;
        };
        assert_eq!(
            schema["additionalProperties"], false,
            "{path} takes unknown keys"
        );
        for (name, field) in fields {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            let described = &schema["properties"][name];
            assert!(
                described["description"].is_string(),
                "values.schema.json lacks {path}"
            );
            stack.push((path, field, described));
        }
    }
}

#[test]
fn nobody_reaches_a_probe_and_of_the_operator_only_its_port() {
    let objects = render(&[]);
    let policies = of_kind(&objects, "NetworkPolicy");
    let [operator, probes] = policies.as_slice() else {
        panic!("{policies:#?}")
    };
    let selects = |policy: &serde_json::Value| policy["spec"]["podSelector"]["matchLabels"].clone();
    assert_eq!(
        operator["spec"]["ingress"],
        json!([{ "ports": [{ "port": "http" }] }])
    );
    let deployment = of_kind(&objects, "Deployment").remove(0);
    assert_eq!(
        selects(operator),
        deployment["spec"]["selector"]["matchLabels"]
    );
    assert!(probes["spec"]["ingress"].is_null());
    assert_eq!(probes["spec"]["policyTypes"], json!(["Ingress"]));
    let job = runs::cold_job();
    let labels = job["spec"]["template"]["metadata"]["labels"]
        .as_object()
        .unwrap();
    let wanted = selects(probes);
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(labels[key], *value, "{key}");
    }
    assert!(
        of_kind(
            &render(&["--set", "networkPolicy.enabled=false"]),
            "NetworkPolicy"
        )
        .is_empty()
    );
}

/// The objects of the chart with everything for Prometheus and Grafana enabled.
fn monitored(more: &[&str]) -> Vec<Value> {
    let on =
        "serviceMonitor.enabled=true,prometheusRule.enabled=true,grafanaDashboard.enabled=true";
    render(&[&["--set", on], more].concat())
}

fn dashboards(objects: &[Value]) -> Vec<&Value> {
    let mut maps = of_kind(objects, "ConfigMap");
    maps.retain(|map| map["metadata"]["labels"]["grafana_dashboard"] == "1");
    maps
}

#[test]
fn objects_for_prometheus_and_grafana_are_rendered_on_request_only() {
    let objects = render(&[]);
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        assert!(of_kind(&objects, kind).is_empty(), "{kind}");
    }
    assert!(dashboards(&objects).is_empty());
}

#[test]
fn a_service_monitor_finds_the_operator_and_leaves_runs_their_namespace() {
    let objects = monitored(&[]);
    let monitor = of_kind(&objects, "ServiceMonitor").remove(0);
    let service = of_kind(&objects, "Service").remove(0);
    let wanted = monitor["spec"]["selector"]["matchLabels"].as_object();
    for (key, value) in wanted.unwrap() {
        assert_eq!(service["metadata"]["labels"][key], *value, "{key}");
    }
    let endpoint = &monitor["spec"]["endpoints"][0];
    assert_eq!(endpoint["port"], service["spec"]["ports"][0]["name"]);
    assert_eq!(endpoint["honorLabels"], true);
}

#[test]
fn every_alert_has_a_severity_a_summary_and_a_command_to_go_on_with() {
    let more = ["--set", "prometheusRule.labels.release=prometheus"];
    let place = ["--set", "prometheusRule.namespace=monitoring"];
    let objects = monitored(&[more, place].concat());
    let rule = of_kind(&objects, "PrometheusRule").remove(0);
    assert_eq!(rule["metadata"]["namespace"], "monitoring");
    assert_eq!(rule["metadata"]["labels"]["release"], "prometheus");
    let rules = rule["spec"]["groups"][0]["rules"].as_array().unwrap();
    let names: Vec<&str> = rules
        .iter()
        .filter_map(|one| one["alert"].as_str())
        .collect();
    let wanted = [
        "WasmbenchRunFailed",
        "WasmbenchUntrustworthy",
        "WasmbenchRegressed",
        "WasmbenchQueueStuck",
        "WasmbenchOperatorFailing",
    ];
    assert_eq!(names, wanted);
    for one in rules {
        let (severity, notes) = (&one["labels"]["severity"], &one["annotations"]);
        assert!(severity == "warning" || severity == "critical", "{one}");
        assert!(notes["summary"].is_string(), "{one}");
        let description = notes["description"].as_str().unwrap();
        assert!(description.contains("kubectl "), "{one}");
    }
}

#[test]
fn the_dashboard_is_json_that_grafana_s_sidecar_finds() {
    let objects = monitored(&["--set", "grafanaDashboard.annotations.grafana_folder=Bench"]);
    let found = dashboards(&objects);
    let [map] = found.as_slice() else {
        panic!("{found:#?}")
    };
    assert_eq!(map["metadata"]["annotations"]["grafana_folder"], "Bench");
    let text = map["data"]["wasmbench.json"].as_str().unwrap();
    let dashboard: Value = serde_json::from_str(text).unwrap();
    let variables = dashboard["templating"]["list"].as_array().unwrap().iter();
    let names: Vec<&str> = variables.filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["datasource", "namespace", "schedule"]);
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(
            panel["fieldConfig"]["defaults"]["unit"].is_string(),
            "{panel}"
        );
    }
}

/// Names of all series in `/metrics`.
fn exported() -> BTreeSet<String> {
    let metrics = Metrics::default();
    metrics.failed("Observe");
    metrics.stepped("ClaimNode");
    metrics.recorded("measured", 1);
    let active = StateLabel { state: "active" };
    metrics.runs.get_or_create(&active).set(0);
    let text = metrics.text().unwrap();
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names = types.flat_map(|described| {
        let (name, kind) = described.split_once(' ').unwrap();
        let suffixes: &[&str] = match kind {
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        suffixes.iter().map(move |suffix| format!("{name}{suffix}"))
    });
    names.collect()
}

#[test]
fn alerts_their_tests_and_the_dashboard_name_series_that_the_operator_has() {
    let known = exported();
    let series = regex::Regex::new("wasmbench_[a-z_]+").unwrap();
    let files = [
        "charts/wasmbench/monitoring/prometheus-rules.yaml",
        "charts/wasmbench/monitoring/grafana-dashboard.json",
        "hack/ui/rules_test.yaml",
        "docs/prometheus.md",
    ];
    for file in files {
        let text = std::fs::read_to_string(repository().join(file)).unwrap();
        let named: BTreeSet<&str> = series.find_iter(&text).map(|one| one.as_str()).collect();
        assert!(named.len() >= 5, "{file}: {named:?}");
        for name in named {
            assert!(known.contains(name), "{file}: nobody exports {name}");
        }
    }
}

#[test]
fn every_series_of_runs_and_schedules_is_described() {
    let docs = std::fs::read_to_string(repository().join("docs/prometheus.md")).unwrap();
    for name in exported() {
        let is_result = ["wasmbench_run_", "wasmbench_schedule_"];
        if is_result.iter().any(|prefix| name.starts_with(prefix)) {
            assert!(
                docs.contains(&format!("`{name}`")),
                "docs/prometheus.md lacks {name}"
            );
        }
    }
}
