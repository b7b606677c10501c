//! Every sample, every study and every example in the documentation is valid, and every file in
//! `manifests/invalid` is refused for the reason that its first line names. Checked here without a
//! cluster, against the CRD as installed; the same files and expectations are used on a real API
//! server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kube_cel::{Validator, apply_defaults};
use serde::Deserialize as _;
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule};
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::plan::expected_trial_seconds;
use wasmbench_core::scale::ScaleConfig;
use wasmbench_core::schedule::{check, run_of};
use wasmbench_core::validate::validate;
use wasmbench_model::images::Images;
use wasmbench_model::wire::request::MeterLevel;

use crate::support::{runs, structural};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The schemas of all CRDs, by kind.
static SCHEMAS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    let crds = files("crds", "yaml").into_iter().map(|(_, text)| {
        let crd: Value = serde_yaml::from_str(&text).unwrap();
        let kind = crd["spec"]["names"]["kind"].as_str().unwrap().to_owned();
        let schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
        (kind, schema)
    });
    crds.collect()
});

/// The schema of one of our objects.
fn schema_of(object: &Value) -> &'static Value {
    &SCHEMAS[object["kind"].as_str().unwrap()]
}

/// The object itself if it is a run, or the run that a schedule starts; panics if the operator
/// would refuse it.
fn accepted_run(name: &str, object: &Value) -> BenchmarkRun {
    let run = if object["kind"] == "BenchmarkSchedule" {
        let schedule: BenchmarkSchedule = serde_json::from_value(object.clone()).unwrap();
        let checked = check(&schedule, &config());
        checked.unwrap_or_else(|invalid| panic!("{name}: {invalid}"));
        run_of(&schedule, jiff::Timestamp::UNIX_EPOCH)
    } else {
        serde_json::from_value(object.clone()).unwrap()
    };
    validate(&run, &config()).unwrap_or_else(|invalid| panic!("{name}: {invalid}"));
    run
}

/// Name and text of every file with this extension in a folder.
fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(repository().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == extension));
    files.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    files
        .iter()
        .map(|path| (name(path), std::fs::read_to_string(path).unwrap()))
        .collect()
}

fn manifests(folder: &str) -> Vec<(String, String)> {
    files(&format!("manifests/{folder}"), "yaml")
}

/// Documentation folders whose pages have examples.
const PAGES: [&str; 4] = ["docs", "docs/methodology", "docs/results", "docs/variants"];

/// Every YAML example in the documentation, with its page. CI workflows are left out.
fn examples() -> Vec<(String, Value)> {
    let mut found = vec![];
    for (page, text) in PAGES.iter().flat_map(|folder| files(folder, "md")) {
        for after in text.split("```yaml\n").skip(1) {
            let example = after.split("```").next().unwrap();
            let example: Value = serde_yaml::from_str(example).unwrap();
            if example.get("jobs").is_none() {
                found.push((page.clone(), example));
            }
        }
    }
    found
}

/// Completes an example, which is a run, a schedule, or what a reader puts into a run: its spec, or
/// fields of the spec.
pub fn completed(example: &Value) -> Value {
    if example.get("kind").is_some() {
        return example.clone();
    }
    let mut run = json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {"name": "example"},
        "spec": {
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello", "path": "/"}],
            "sweeps": {"warmLatency": {"requests": 100}},
        },
    });
    let fields = example.get("spec").unwrap_or(example);
    for (name, value) in fields.as_object().unwrap() {
        run["spec"][name] = value.clone();
    }
    run
}

fn documents(text: &str) -> Vec<Value> {
    serde_yaml::Deserializer::from_str(text)
        .map(|doc| Value::deserialize(doc).unwrap())
        .collect()
}

/// What the API server objects to in an object, or in the update from `old` to it.
pub fn refusals(object: &Value, old: Option<&Value>) -> Vec<String> {
    let schema = schema_of(object);
    let object = apply_defaults(schema, object);
    let mut found = structural::violations(schema, &object);
    // The API server runs CEL rules only on objects of the right shape.
    if found.is_empty() {
        let old = old.map(|old| apply_defaults(schema, old));
        let cel = Validator::new().validate(schema, &object, old.as_ref());
        found.extend(
            cel.err()
                .into_iter()
                .flat_map(kube_cel::ValidationErrors::into_vec)
                .map(|e| e.to_string()),
        );
    }
    found
}

/// Refusals of a file: each document after the first is an update of the one before.
fn refusals_of_file(text: &str) -> Vec<String> {
    let documents = documents(text);
    let mut found = vec![];
    for (index, object) in documents.iter().enumerate() {
        let old = index.checked_sub(1).map(|before| &documents[before]);
        let refused = refusals(object, old);
        let last = index + 1 == documents.len();
        assert!(
            last || refused.is_empty(),
            "an earlier document is refused: {refused:#?}"
        );
        found = refused;
    }
    found
}

fn config() -> OperatorConfig {
    OperatorConfig {
        images: Images::in_registry("registry.example.com", "1"),
        containerd_socket: Some("/run/containerd/containerd.sock".into()),
        scale: ScaleConfig::assumed(),
        ..runs::config(MeterLevel::Cgroup)
    }
}

#[test]
fn every_sample_passes_the_crd_and_the_operator() {
    let samples = manifests("samples");
    assert!(samples.len() >= 3);
    for (name, text) in samples {
        let documents = documents(&text);
        assert_eq!(documents.len(), 1, "{name}: one object per file");
        let refused = refusals(&documents[0], None);
        assert!(refused.is_empty(), "{name}: {refused:#?}");
        accepted_run(&name, &documents[0]);
        let named = &documents[0]["metadata"]["name"];
        assert_eq!(named, &name, "named like its file");
    }
}

#[test]
fn every_example_of_a_page_passes_the_crd_and_the_operator() {
    let examples = examples();
    assert!(examples.len() >= 4);
    for (page, example) in examples {
        let example = completed(&example);
        let refused = refusals(&example, None);
        assert!(refused.is_empty(), "{page}: {refused:#?}\n{example:#}");
        accepted_run(&page, &example);
    }
}

/// The runs of every study, by file; the published figures are not runs.
fn studies() -> Vec<(String, Vec<Value>)> {
    let files = manifests("studies").into_iter();
    let files = files.filter(|(name, _)| name != "published");
    files.map(|(name, text)| (name, documents(&text))).collect()
}

#[test]
fn every_study_passes_the_crd_and_the_operator_and_exists_shortened() {
    let studies = studies();
    assert_eq!(studies.len(), 2 * 5);
    for (name, runs) in &studies {
        let mut names = vec![];
        for document in runs {
            let refused = refusals(document, None);
            assert!(refused.is_empty(), "{name}: {refused:#?}");
            let run = accepted_run(name, document);
            names.extend(run.metadata.name);
        }
        let ours = |run: &String| run.starts_with(name.as_str());
        assert!(
            names.iter().all(ours),
            "{name}: names begin with the file's"
        );
        let short = format!("{}-short", name.trim_end_matches("-short"));
        assert!(studies.iter().any(|(name, _)| *name == short), "no {short}");
    }
}

/// The expected duration of all runs of a file, in seconds.
fn expected_seconds(runs: &[Value]) -> u64 {
    let seconds = runs.iter().map(|document| {
        let run: BenchmarkRun = serde_json::from_value(document.clone()).unwrap();
        let valid = validate(&run, &config()).unwrap();
        let trials = valid.order.iter();
        let seconds = trials.map(|trial| expected_trial_seconds(&valid, trial));
        seconds.sum::<u64>()
    });
    seconds.sum()
}

#[test]
fn a_shortened_study_takes_minutes_and_less_than_the_whole_one() {
    let seconds: BTreeMap<String, u64> = studies()
        .into_iter()
        .map(|(name, runs)| (name, expected_seconds(&runs)))
        .collect();
    let whole = |name: &str| seconds.get(name.strip_suffix("-short")?);
    let shortened = seconds
        .iter()
        .filter_map(|(name, short)| Some((name, *short, *whole(name)?)));
    assert_eq!(shortened.clone().count(), 5);
    for (name, short, whole) in shortened {
        assert!(short <= 15 * 60, "{name}: {short} s");
        assert!(whole > 3 * short, "{name}: {short} s of {whole} s");
    }
}

#[test]
fn the_quickstart_ends_in_a_few_minutes() {
    let (_, text) = manifests("samples")
        .into_iter()
        .find(|(name, _)| name == "quickstart")
        .unwrap();
    let run: BenchmarkRun = serde_yaml::from_str(&text).unwrap();
    let valid = validate(&run, &config()).unwrap();
    let seconds: u64 = valid
        .order
        .iter()
        .map(|trial| expected_trial_seconds(&valid, trial))
        .sum();
    assert!(seconds <= 4 * 60, "{seconds} s");
}

#[test]
fn every_invalid_manifest_is_refused_for_the_reason_it_names() {
    let files = manifests("invalid");
    assert!(files.len() > 30);
    for (name, text) in files {
        let first = text.lines().next().unwrap_or_default();
        let expected = first.strip_prefix("# expect: ").unwrap_or_else(|| {
            panic!("{name}: the first line must be '# expect: <part of the message>'")
        });
        let refused = refusals_of_file(&text);
        assert!(
            !refused.is_empty(),
            "{name}: accepted, though it should be refused with '{expected}'"
        );
        assert!(
            refused.iter().any(|message| message.contains(expected)),
            "{name}: refused without '{expected}': {refused:#?}"
        );
    }
}

/// What the API server objects to in the run with these fields, and then the operator.
fn taken(fields: &Value) -> Result<(), String> {
    let run = completed(fields);
    let refused = refusals(&run, None);
    if !refused.is_empty() {
        return Err(refused.join("; "));
    }
    let run: BenchmarkRun = serde_json::from_value(run).map_err(|error| error.to_string())?;
    let valid = validate(&run, &config());
    valid.map(drop).map_err(|invalid| invalid.to_string())
}

#[test]
fn every_kubernetes_notation_of_an_amount_is_accepted() {
    for (cpu, memory) in [
        ("1", "1073741824"),
        ("0.5", "1.5Gi"),
        (".5", "0.25Gi"),
        ("2.", "512.5Mi"),
        ("100m", "1e9"),
        ("1e-1", "1E9"),
        ("+1", "2e+8"),
        ("1500000u", "500M"),
        ("100000000n", "0.001Ti"),
        ("1e0", "1000000000000m"),
    ] {
        let resources = json!({"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": cpu, "memory": memory}});
        let found = taken(&json!({"resources": resources}));
        assert_eq!(found, Ok(()), "{cpu}, {memory}");
    }
}

#[test]
fn invalid_amounts_and_those_unfit_for_a_container_are_refused() {
    for text in [
        "", "-1", "one", "1 Gi", "1gi", "1.5.5", ".", "Gi", "1e", "1e1.5", "1KiB", "0x10", "1e999",
    ] {
        for name in ["cpu", "memory"] {
            let resources = json!({"requests": {name: text}});
            let found = taken(&json!({"resources": resources}));
            assert!(found.is_err(), "{name} {text:?}");
        }
    }
}

#[test]
fn the_same_amount_is_the_same_spec_however_it_is_written() {
    let read = |memory: &str| {
        let run = completed(&json!({"resources": {"limits": {"memory": memory, "cpu": "1.5"}}}));
        let run: BenchmarkRun = serde_json::from_value(run).unwrap();
        run.spec.resources
    };
    for text in ["1.5Gi", "1610612736", "1572864Ki", "1610612736000m"] {
        assert_eq!(read(text), read("1536Mi"), "{text}");
    }
    assert_ne!(read("1.5G"), read("1536Mi"));
}

#[test]
fn names_of_variables_may_have_dots_and_dashes() {
    let variable = |name: &str| {
        let container = json!({"image": "example.com/a:1", "env": [{"name": name, "value": "b"}]});
        taken(&json!({"variants": [{"name": "own", "container": container}]}))
    };
    for name in ["discovery.type", "a.b-c", "_A", ".a", "-a", "A1"] {
        assert_eq!(variable(name), Ok(()), "{name}");
    }
    for name in ["", "1a", "a=b", "a b", ".", "..", "..a"] {
        assert!(variable(name).is_err(), "{name:?}");
    }
}

/// A rule without an invalid manifest is a rule that nobody has seen refuse anything.
#[test]
fn every_cel_rule_has_an_invalid_manifest() {
    let mut rules = vec![];
    for schema in SCHEMAS.values() {
        collect_messages(schema, &mut rules);
    }
    // The rules of a schedule's template are those of runs.
    rules.sort_unstable();
    rules.dedup();
    assert!(rules.len() >= 9, "{rules:?}");
    let files = manifests("invalid");
    for message in rules {
        let shown = files.iter().any(|(_, text)| {
            let first = text.lines().next().unwrap_or_default();
            first
                .strip_prefix("# expect: ")
                .is_some_and(|expected| message.contains(expected))
        });
        assert!(
            shown,
            "add a file to manifests/invalid that is refused with: {message}"
        );
    }
}

fn collect_messages(schema: &Value, messages: &mut Vec<String>) {
    for rule in schema["x-kubernetes-validations"]
        .as_array()
        .into_iter()
        .flatten()
    {
        messages.push(rule["message"].as_str().unwrap_or_default().to_owned());
    }
    let fields = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|map| map.values());
    for inner in fields.chain(schema.get("items")) {
        collect_messages(inner, messages);
    }
}
