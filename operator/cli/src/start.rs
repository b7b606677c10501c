//! `kubectl wasmbench start`: creates a run with a fresh name, follows it, and exits with the gate's
//! code.

use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, GROUP, VERSION, labels};
use wasmbench_core::admit::admit;

use crate::args::{ClusterArgs, StartArgs};
use crate::assumed::config;
use crate::cluster::Cluster;
use crate::error::Error;
use crate::plan::cluster::{Written, look, look_at_scaled, not_applied, written};
use crate::plan::obstacles::known;
use crate::{files, get, manifest, note};

/// The characters of a suffix: without vowels and what looks alike, as Kubernetes does it.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// How many of them.
const LENGTH: usize = 5;
/// The longest name that is continued: with a dash and the suffix it still fits into a label.
const LONGEST: usize = 57;

/// Starts the run and follows it until its end.
pub async fn run(args: &ClusterArgs, start: &StartArgs) -> Result<u8, Error> {
    let suffix = suffix()?;
    let text = start.what.path().map(files::read).transpose()?;
    // A file is refused before anything is asked of a cluster.
    let of_file = match &text {
        Some(text) => Some(of_file(text, args.namespace.as_deref(), &suffix)?),
        None => None,
    };
    let cluster = Cluster::connect(args).await?;
    let run = match (of_file, &start.what.schedule) {
        (Some(run), _) => run,
        (None, schedule) => {
            let name = schedule.as_deref().unwrap_or_default();
            of_schedule(&cluster.schedule(name).await?, &suffix)?
        }
    };
    let namespace = run["metadata"]["namespace"].as_str();
    let cluster = cluster.at(namespace.unwrap_or(cluster.namespace()));
    let typed: BenchmarkRun = manifest::typed(&run).map_err(Error::Manifest)?;
    if let Some(text) = &text {
        check_others(&cluster, &typed, text).await?;
    }
    for obstacle in Box::pin(obstacles(&cluster, &typed)).await {
        note(&format!("note: {obstacle}\n"));
    }
    cluster.create_run(&run).await?;
    let name = run["metadata"]["name"].as_str().unwrap_or_default();
    note(&format!("benchmarkrun.{GROUP}/{name} created\n"));
    let created = cluster.run(name).await?;
    Box::pin(get::follow(&cluster, created, start.output.format())).await
}

/// Refuses a run that scales what is in its file alone, and notes what else of the file is not created.
async fn check_others(cluster: &Cluster, run: &BenchmarkRun, text: &str) -> Result<(), Error> {
    let objects = files::objects(text).unwrap_or_default();
    let (runs, others): (Vec<Value>, Vec<Value>) = objects
        .into_iter()
        .partition(|object| object["kind"] == "BenchmarkRun");
    let name = |object: &Value| {
        object["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let missing = not_applied(cluster, &run.spec, &written(&others)).await?;
    if let Some(target) = missing {
        return Err(Error::NotApplied {
            object: format!("{} {}", target.kind, target.name),
            namespace: cluster.namespace().to_owned(),
            run: runs.first().map(name).unwrap_or_default(),
        });
    }
    let kind = |object: &Value| object["kind"].as_str().unwrap_or_default().to_owned();
    let others: Vec<String> = others
        .iter()
        .map(|one| format!("{} {}", kind(one), name(one)))
        .collect();
    if !others.is_empty() {
        note(&format!(
            "note: of the file only the run is created, and not {}\n",
            others.join(", ")
        ));
    }
    Ok(())
}

/// What the cluster will never measure of the run, or not start. What cannot be read is no reason not to
/// start it.
async fn obstacles(cluster: &Cluster, run: &BenchmarkRun) -> Vec<String> {
    let observed = async {
        let observed = look(cluster).await?;
        look_at_scaled(observed, cluster, &run.spec, &Written::new()).await
    };
    let observed = observed.await;
    observed.map_or_else(|_| vec![], |observed| known(run, &observed))
}

/// The run of a file, with a fresh name, as the API server gets it.
pub fn of_file(text: &str, namespace: Option<&str>, suffix: &str) -> Result<Value, Error> {
    let objects = manifest::checked(text).map_err(Error::Manifest)?;
    let [object] = objects.as_slice() else {
        return Err(Error::NotOneRun(objects.len()));
    };
    if object["kind"] == "BenchmarkSchedule" {
        return Err(Error::StartsASchedule);
    }
    let run: BenchmarkRun = manifest::typed(object).map_err(Error::Manifest)?;
    admit(&run, &config())?;
    files::namespace(run.metadata.namespace.as_deref(), namespace)?;
    let base = run.metadata.name.or(run.metadata.generate_name);
    let mut metadata = json!({"name": fresh(&base.unwrap_or_default(), suffix)});
    // The rest, such as uid and owners, is that of another object.
    for field in ["namespace", "labels", "annotations"] {
        if let Some(value) = object["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    Ok(object_of(&metadata, &object["spec"]))
}

/// The run of a schedule's template. It bears no mark of the schedule, which counts and removes its
/// own.
pub fn of_schedule(schedule: &BenchmarkSchedule, suffix: &str) -> Result<Value, Error> {
    let template = &schedule.spec.template;
    let more = template.metadata.clone().unwrap_or_default();
    let mut labels = more.labels;
    labels.remove(labels::SCHEDULE);
    let name = schedule.metadata.name.as_deref().unwrap_or_default();
    let metadata = json!({
        "name": fresh(name, suffix), "namespace": schedule.metadata.namespace,
        "labels": labels, "annotations": more.annotations,
    });
    Ok(object_of(&metadata, &serde_json::to_value(&template.spec)?))
}

fn object_of(metadata: &Value, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "BenchmarkRun",
        "metadata": metadata, "spec": spec,
    })
}

/// `fast-x7k2p` for `fast`.
fn fresh(name: &str, suffix: &str) -> String {
    let short: String = name.chars().take(LONGEST).collect();
    format!("{}-{suffix}", short.trim_end_matches(['-', '.']))
}

fn suffix() -> Result<String, Error> {
    let mut bytes = [0_u8; LENGTH];
    getrandom::fill(&mut bytes).map_err(Error::Suffix)?;
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    Ok(bytes.into_iter().map(letter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock;

    const SAMPLE: &str = include_str!("../../../manifests/samples/quickstart.yaml");
    const NIGHTLY: &str = include_str!("../../../manifests/samples/nightly.yaml");

    #[test]
    fn a_run_of_a_file_gets_a_fresh_name_and_keeps_its_spec() {
        let run = of_file(SAMPLE, None, "x7k2p").unwrap();
        assert_eq!(run["metadata"], json!({"name": "quickstart-x7k2p"}));
        let written: Value = serde_yaml::from_str(SAMPLE).unwrap();
        assert_eq!(run["spec"], written["spec"]);
        let letters = suffix().unwrap();
        assert_eq!(letters.len(), LENGTH);
        assert!(
            letters.bytes().all(|letter| LETTERS.contains(&letter)),
            "{letters}"
        );
        assert_eq!(fresh(&"a".repeat(80), "x7k2p").len(), 63);
        assert_eq!(fresh("own-", "x7k2p"), "own-x7k2p");
    }

    /// As `init --from` writes it.
    const COPIES: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop-bench, annotations: {wasmbench.dev/offered: 'true'}}
spec: {replicas: 0}
---
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: shop}
spec:
  variants: [{name: shop, scale: {resource: deployments, name: shop-bench, port: 8080}}]
  workloads: [{name: request}]
  sweeps: {warmLatency: {}}
";

    #[tokio::test]
    async fn a_run_that_scales_what_is_in_its_file_alone_is_refused() {
        let run = manifest::typed(&of_file(COPIES, None, "x7k2p").unwrap()).unwrap();
        let (cluster, log) = mock::cluster(|_| mock::not_found());
        let error = check_others(&cluster, &run, COPIES).await.unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("Deployment shop-bench") && error.contains("get shop -n bench -w"),
            "{error}"
        );
        let requests = log.lock().unwrap().clone();
        assert!(
            requests.iter().all(|line| line.starts_with("GET ")),
            "{requests:?}"
        );
        let there = |path: &str| {
            let metadata = json!({"name": "shop-bench", "namespace": "bench", "uid": "1"});
            let kind = if path.ends_with("/scale") {
                "Scale"
            } else {
                "Deployment"
            };
            let version = if path.ends_with("/scale") {
                "autoscaling/v1"
            } else {
                "apps/v1"
            };
            (
                200,
                json!({"apiVersion": version, "kind": kind, "metadata": metadata}),
            )
        };
        let (cluster, _) = mock::cluster(there);
        assert!(check_others(&cluster, &run, COPIES).await.is_ok());
    }

    #[tokio::test]
    async fn what_stands_in_the_way_is_known_before_the_run_is_created() {
        let engine = "wasmtime-embedded\n      engine:\n        allocator: Pooling";
        let text = SAMPLE.replace(engine, "wasmedge-shim");
        let run = manifest::typed(&of_file(&text, None, "x7k2p").unwrap()).unwrap();
        let (cluster, _) = mock::cluster(|_| mock::nothing());
        let found = obstacles(&cluster, &run).await;
        let is_missing = |line: &String| line.contains("there is no RuntimeClass");
        assert!(found.iter().any(is_missing), "{found:?}");
    }

    #[test]
    fn metadata_of_a_saved_object_is_left_out_except_namespace_and_labels() {
        let saved = SAMPLE.replace(
            "  name: quickstart\n",
            "  name: quickstart\n  namespace: bench\n  uid: abc\n  labels: {team: shop}\n",
        );
        let run = of_file(&saved, Some("bench"), "x7k2p").unwrap();
        let expected = json!({
            "name": "quickstart-x7k2p", "namespace": "bench", "labels": {"team": "shop"},
        });
        assert_eq!(run["metadata"], expected);
        let error = of_file(&saved, Some("other"), "x7k2p")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("namespace bench") && error.contains("-n other"),
            "{error}"
        );
    }

    #[test]
    fn only_one_run_is_started() {
        let refusal = |text: &str| of_file(text, None, "x7k2p").unwrap_err().to_string();
        let two = format!("{SAMPLE}\n---\n{SAMPLE}");
        assert!(refusal(&two).contains("2 objects"), "{}", refusal(&two));
        assert!(refusal("kind: Pod").contains("0 objects"));
        assert!(
            refusal(NIGHTLY).contains("--schedule"),
            "{}",
            refusal(NIGHTLY)
        );
        let refused = refusal(&SAMPLE.replace("  blocks:", "  blockz:"));
        assert!(refused.contains("did you mean blocks?"), "{refused}");
    }

    #[test]
    fn a_run_of_a_schedule_has_its_template_and_no_mark_of_it() {
        let schedule: BenchmarkSchedule = serde_yaml::from_str(NIGHTLY).unwrap();
        let run = of_schedule(&schedule, "x7k2p").unwrap();
        assert_eq!(run["metadata"]["name"], "nightly-x7k2p");
        assert_eq!(run["metadata"].get("ownerReferences"), None);
        assert_eq!(run["metadata"]["labels"].get(labels::SCHEDULE), None);
        let typed: BenchmarkRun = manifest::typed(&run).unwrap();
        assert_eq!(typed.spec, schedule.spec.template.spec);
    }
}
