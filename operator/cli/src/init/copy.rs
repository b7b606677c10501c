//! A copy of a Deployment or StatefulSet for runs, and the run that scales it. Pure: the object as the API server
//! has it in, YAML and what was left out. Whoever uses the original notices nothing: the copy has labels of its
//! own, and makes no pods by itself.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use wasmbench_api::labels;
use wasmbench_report::table::ascii;

use crate::args::InitArgs;
use crate::args::init::Source;
use crate::error::Error;
use crate::init::draft::Request;
use crate::init::manifest::{quoted, sent};
use crate::init::served::Served;

/// The label by which a copy finds its pods; nothing else selects it.
const COPY: &str = "wasmbench.dev/copy-of";
/// The label by which a node is named.
const HOSTNAME: &str = "kubernetes.io/hostname";
/// Stands for a node that nobody has chosen yet.
const CHANGE_ME: &str = "CHANGE-ME";
/// Seconds that a copy's pod has to end, as the containers of a run: nobody uses it any more.
const GRACE_SECONDS: i64 = 1;
/// Longest name of a copy whose pods still have names of their own.
const MAX_NAME: usize = 40;

/// A copy, and what to know about it.
#[derive(Clone, Debug)]
pub struct Copied {
    /// What it is a copy of.
    pub source: Source,
    /// Its name.
    pub name: String,
    /// The object.
    pub object: Value,
    /// Where it listens, and what shows that it is ready.
    pub served: Served,
    /// What was left out or is to be done, for people.
    pub notes: Vec<String>,
}

/// The copy of `found`, which is the `source`, pinned to `node`. It is measured at `port`, or at one that its containers
/// name.
pub fn copy_of(source: &Source, found: &Value, node: Option<&str>, port: Option<u16>) -> Copied {
    let mut notes = vec![];
    let served = Served::new(&found["spec"]["template"]["spec"], port, &mut notes);
    let name = name_of(&source.name);
    let mut pod = found["spec"]["template"]["spec"].clone();
    pin(&mut pod, node, &mut notes);
    without_claims(&mut pod, &mut notes);
    end_soon(&mut pod, &mut notes);
    let mut annotations = found["spec"]["template"]["metadata"]["annotations"].clone();
    if let Some(all) = annotations.as_object_mut() {
        all.remove("kubectl.kubernetes.io/restartedAt");
    }
    let labels = json!({ COPY: name });
    let mut spec = json!({
        "replicas": 0,
        "selector": { "matchLabels": labels },
        "template": { "metadata": { "labels": labels, "annotations": annotations }, "spec": pod },
    });
    if source.kind == "StatefulSet" {
        for field in ["serviceName", "volumeClaimTemplates"] {
            let value = &found["spec"][field];
            if !value.is_null() {
                spec[field] = value.clone();
            }
        }
        notes.push("its pods get volumes of their own, which are empty".to_owned());
    }
    let object = json!({
        "apiVersion": "apps/v1", "kind": source.kind,
        "metadata": { "name": name, "annotations": { labels::OFFERED: "true" } },
        "spec": spec,
    });
    notes.push(
        "it has neither the labels of the original nor its Service, HorizontalPodAutoscaler, PodDisruptionBudget and \
         NetworkPolicies: whoever uses the original does not reach it"
            .to_owned(),
    );
    notes.push(
        "it has the original's ConfigMaps and Secrets, so it asks the same database: name another one unless the requests only read"
            .to_owned(),
    );
    Copied {
        source: source.clone(),
        name,
        object: without_nulls(object),
        served,
        notes,
    }
}

fn name_of(original: &str) -> String {
    let short: String = original.chars().take(MAX_NAME).collect();
    format!("{}-bench", short.trim_end_matches(['-', '.']))
}

/// The pod has to be on the node that is measured, and nowhere else.
fn pin(pod: &mut Value, node: Option<&str>, notes: &mut Vec<String>) {
    for field in ["affinity", "topologySpreadConstraints", "nodeName"] {
        let removed = pod.as_object_mut().and_then(|pod| pod.remove(field));
        if removed.is_some() {
            notes.push(format!("{field} is left out: nodeSelector names the node"));
        }
    }
    if !pod["nodeSelector"].is_object() {
        pod["nodeSelector"] = json!({});
    }
    pod["nodeSelector"][HOSTNAME] = json!(node.unwrap_or(CHANGE_ME));
    if node.is_none() {
        notes.push(format!(
            "{CHANGE_ME} stands for the node to measure on: write the value of its label {HOSTNAME}"
        ));
    }
}

/// A claim may hold what users need: no copy writes to it.
fn without_claims(pod: &mut Value, notes: &mut Vec<String>) {
    let volumes = pod["volumes"].as_array_mut().into_iter().flatten();
    for volume in volumes {
        let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() else {
            continue;
        };
        notes.push(format!(
            "the claim {claim} is left out, and an empty directory is in its place: give it a claim of its own if it needs the data"
        ));
        *volume = json!({ "name": volume["name"], "emptyDir": {} });
    }
}

/// A server that ignores SIGTERM would make each trial wait for the whole grace period.
fn end_soon(pod: &mut Value, notes: &mut Vec<String>) {
    pod["terminationGracePeriodSeconds"] = json!(GRACE_SECONDS);
    notes.push(format!(
        "terminationGracePeriodSeconds is {GRACE_SECONDS}, as for the containers of a run: every trial waits until the pod has ended"
    ));
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
            let kept: Map<String, Value> = kept
                .map(|(name, value)| (name, without_nulls(value)))
                .collect();
            Value::Object(kept)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// The file: the copies, each with its notes, and the run.
pub fn file(copies: &[Copied], args: &InitArgs) -> Result<String, Error> {
    let mut text = String::new();
    for copy in copies {
        let Source { resource, name, .. } = &copy.source;
        let _ = writeln!(text, "# A copy of {resource}/{name}, which runs may scale.");
        for note in &copy.notes {
            let _ = writeln!(text, "# - {}", ascii(note));
        }
        text += &serde_yaml::to_string(&copy.object)?;
        text += "---\n";
    }
    Ok(text + &run(copies, args))
}

/// What was left out or is to be done, of all copies.
pub fn open(copies: &[Copied]) -> Vec<String> {
    let mut open = vec![];
    for copy in copies {
        open.extend(
            copy.notes
                .iter()
                .map(|note| format!("{}: {note}", copy.name)),
        );
    }
    if copies.len() == 1 {
        open.push(
            "one variant alone is compared with nothing: name a second one with --and".to_owned(),
        );
    }
    open
}

/// The run alone.
pub fn run(copies: &[Copied], args: &InitArgs) -> String {
    let mut variants = String::new();
    for copy in copies {
        let Source { resource, name, .. } = &copy.source;
        let _ = write!(
            variants,
            "    - name: {}\n      scale:\n        resource: {resource}\n        name: {}\n        port: {}\n",
            quoted(&variant(name)),
            quoted(&copy.name),
            copy.served.port,
        );
        if copy.served.tls {
            variants.push_str("        scheme: HTTPS\n");
        }
        if let Some(path) = &copy.served.ready {
            let _ = writeln!(variants, "        ready: {{path: {}}}", quoted(path));
        }
    }
    let first = copies.first().map(|copy| copy.name.as_str());
    let name = args.name.as_deref().or(first).unwrap_or_default();
    format!(
        "apiVersion: wasmbench.dev/v1alpha1\nkind: BenchmarkRun\nmetadata:\n  name: {}\nspec:\n  \
         # Five repetitions give a first look; ten decide differences of a few percent.\n  \
         blocks: 10\n  \
         # Each trial sets the replicas of one object to 1 and back. This needs the namespace in scale.namespaces of the chart.\n  \
         variants:\n{variants}  \
         workloads:\n    - name: request\n{}  \
         sweeps:\n    warmLatency: {{}}\n    throughput:\n      connections: [10, 50]\n      durationSeconds: 10\n      \
         warmupSeconds: 2\n",
        quoted(name),
        sent(&Request::from_args(args), "scale"),
    )
}

/// A variant's name has no dots and at most 40 characters.
fn variant(name: &str) -> String {
    let plain: String = name.replace('.', "-").chars().take(MAX_NAME).collect();
    plain.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> Value {
        json!({
            "metadata": { "name": "shop", "labels": { "app": "shop" }, "uid": "1" },
            "spec": {
                "replicas": 3, "selector": { "matchLabels": { "app": "shop" } },
                "template": {
                    "metadata": { "labels": { "app": "shop" } },
                    "spec": {
                        "affinity": {}, "initContainers": [{ "name": "migrate", "image": "a" }],
                        "containers": [
                            { "name": "proxy", "image": "b", "ports": [{ "containerPort": 9000 }] },
                            {
                                "name": "shop", "image": "a", "ports": [{ "name": "http", "containerPort": 3000 }],
                                "readinessProbe": { "httpGet": { "path": "/healthz", "port": 3000 } },
                                "env": [{ "name": "P", "valueFrom": { "secretKeyRef": { "name": "s", "key": "p" } } }],
                            },
                        ],
                        "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "orders" } }],
                    },
                },
            },
            "status": { "replicas": 3 },
        })
    }

    fn source() -> Source {
        Source::parse("deploy/shop").unwrap()
    }

    #[test]
    fn a_copy_is_offered_makes_no_pods_and_is_found_by_nobody_else() {
        let copied = copy_of(&source(), &shop(), Some("bench-1"), None);
        let object = &copied.object;
        assert_eq!(object["spec"]["replicas"], 0);
        assert_eq!(object["metadata"]["annotations"][labels::OFFERED], "true");
        assert_eq!(object["metadata"]["labels"], Value::Null);
        let template = &object["spec"]["template"];
        let labels = json!({ COPY: "shop-bench" });
        assert_eq!(template["metadata"]["labels"], labels);
        assert_eq!(object["spec"]["selector"]["matchLabels"], labels);
        let pod = &template["spec"];
        assert_eq!(pod["nodeSelector"][HOSTNAME], "bench-1");
        assert_eq!(pod["affinity"], Value::Null);
        assert_eq!(pod["terminationGracePeriodSeconds"], 1);
        // What it needs is there: init container, sidecar, Secret.
        let original = shop();
        let original = &original["spec"]["template"]["spec"];
        assert_eq!(pod["initContainers"], original["initContainers"]);
        assert_eq!(pod["containers"], original["containers"]);
    }

    #[test]
    fn a_copy_never_has_the_claims_of_the_original_and_says_so() {
        let copied = copy_of(&source(), &shop(), None, None);
        let volumes = &copied.object["spec"]["template"]["spec"]["volumes"];
        assert_eq!(*volumes, json!([{ "name": "data", "emptyDir": {} }]));
        let notes = copied.notes.join("\n");
        for words in [
            "orders",
            "affinity",
            "CHANGE-ME",
            "same database",
            "terminationGracePeriodSeconds is 1",
        ] {
            assert!(notes.contains(words), "{words}: {notes}");
        }
    }

    #[test]
    fn the_run_scales_the_copies_on_the_ports_of_their_containers() {
        let next = Source::parse("deployment/shop.v2").unwrap();
        let copies = [
            copy_of(&source(), &shop(), Some("a"), None),
            copy_of(&next, &json!({ "spec": {} }), Some("a"), None),
        ];
        let args = InitArgs {
            path: "/items".into(),
            ..InitArgs::default()
        };
        let text = run(&copies, &args);
        let run =
            crate::init::manifest::run_of(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let scales: Vec<_> = run
            .spec
            .variants
            .iter()
            .filter_map(|one| one.scale.as_ref())
            .collect();
        assert_eq!((&*scales[0].name, scales[0].port), ("shop-bench", 3000));
        assert_eq!(
            scales[0].ready.as_ref().map(|ready| &*ready.path),
            Some("/healthz")
        );
        assert_eq!((&*scales[1].name, scales[1].port), ("shop.v2-bench", 8080));
        assert_eq!(run.spec.variants[1].name, "shop-v2");
        let all = file(&copies, &args).unwrap();
        assert_eq!(all.matches("\n---\n").count(), 2, "{all}");
    }

    #[test]
    fn a_probe_that_speaks_tls_is_asked_by_tls_and_one_copy_alone_is_noted() {
        let mut shop = shop();
        let probe = &mut shop["spec"]["template"]["spec"]["containers"][1]["readinessProbe"];
        probe["httpGet"]["scheme"] = json!("HTTPS");
        let copies = [copy_of(&source(), &shop, Some("a"), None)];
        let args = InitArgs {
            path: "/".into(),
            ..InitArgs::default()
        };
        let text = run(&copies, &args);
        let run =
            crate::init::manifest::run_of(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let scale = run.spec.variants[0].scale.as_ref().unwrap();
        assert!(scale.scheme.has_tls(), "{text}");
        let open = open(&copies).join("\n");
        assert!(
            open.contains("shop-bench: ") && open.contains("with --and"),
            "{open}"
        );
        let two = [copies[0].clone(), copies[0].clone()];
        assert!(!super::open(&two).join("\n").contains("--and"));
    }

    #[test]
    fn the_run_of_copies_is_named_and_sends_as_the_arguments_say() {
        let args = InitArgs {
            path: "/orders".into(),
            name: Some("shops".into()),
            headers: vec![crate::args::init::header("Host: shop.example.com").unwrap()],
            body: Some("{\"item\": 7}".into()),
            status: Some(201),
            ..InitArgs::default()
        };
        let copies = [copy_of(&source(), &shop(), Some("a"), None)];
        let text = run(&copies, &args);
        let run =
            crate::init::manifest::run_of(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        assert_eq!(run.metadata.name.as_deref(), Some("shops"));
        let sent = &run.spec.workloads[0];
        assert_eq!(sent.path, "/orders");
        assert_eq!(sent.headers[0].value, "shop.example.com");
        assert_eq!(sent.body.as_deref(), Some("{\"item\": 7}"));
        assert_eq!(sent.expect.status, 201);
    }

    #[test]
    fn a_kind_that_cannot_be_copied_is_refused() {
        assert_eq!(Source::parse("sts/db").unwrap().resource, "statefulsets");
        for wrong in ["shop", "pod/shop", "deployment/", "rollout/shop"] {
            assert!(Source::parse(wrong).is_err(), "{wrong}");
        }
    }
}
