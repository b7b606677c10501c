//! The main job: apply a run, read the result.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use wasmbench_api::conditions;
use wasmbench_api::status::{SummaryRow, ThroughputSummary};
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::runs;
use wasmbench_model::variants::engine::contradiction;
use wasmbench_model::wire::record::{Point, Record};

fn all_workloads(own_image: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
resources: {{requests: {{cpu: '.1', memory: '64e6'}}, limits: {{memory: 0.5Gi}}}}
variants:
- {{name: native, preset: native}}
- {{name: embedded, preset: wasmtime-embedded, engine: {{allocator: Pooling}}}}
- {{name: mine, container: {{image: '{own_image}', command: [/gateway], env: [{{name: a.b-c, value: d}}]}}}}
workloads:
- {{name: hello, path: /, expect: {{body: hello}}}}
- {{name: state, path: /state}}
- {{name: proxy, path: /elsewhere, expect: {{body: upstream}}, upstream: true}}
sweeps:
  warmLatency: {{requests: 200}}
  throughput: {{connections: [8], durationSeconds: 2, warmupSeconds: 1}}
"
    )
}

#[tokio::test]
async fn two_presets_and_a_custom_container_are_measured_on_all_workloads() {
    with_namespace("main", |client, namespace| async move {
        let spec = all_workloads(&image(&client, "native").await);
        let (run, records) = runs::measured(&client, &namespace, ("tour", &spec), 420, 18).await;

        check_instrument(&records);
        check_conditions(&run);
        check_numbers(&run, &metered(&records));
        let succeeded = runs::condition(&run, conditions::SUCCEEDED).expect("set");
        check_what_kubectl_shows(&namespace, &succeeded.reason).await;
        check_report(&client, &namespace).await;
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}

/// Checks the generator's ceiling, CPUs and engines in records.
fn check_instrument(records: &[Record]) {
    let pooling = serde_json::json!({
        "name": "embedded", "preset": "wasmtime-embedded", "engine": {"allocator": "Pooling"},
    });
    let pooling = serde_json::from_value(pooling).expect("a variant");
    for record in records {
        let trial = &record.trial;
        let document = record.load().expect("a document");
        let throughput = matches!(trial.cell.point, Point::Throughput { .. });
        let ceiling = document.generator_ceiling.map(|ceiling| ceiling.rps);
        assert_eq!(ceiling.is_some_and(|rps| rps > 0.0), throughput, "{trial}");
        let window = document.timed.as_ref().expect("a window");
        let echoed = window.upstream_cpu_nanoseconds.is_some_and(|used| used > 0);
        assert_eq!(echoed, trial.cell.workload == "proxy", "{trial}");
        // The kubelet of the local cluster gives no pod exclusive CPUs.
        let cpus = document.cpus.as_ref().expect("lists of CPUs");
        assert!(
            cpus.subject.is_some() && cpus.subject == cpus.generator,
            "{cpus:?}"
        );
        assert_eq!(cpus.cpus_disjoint, Some(false), "{cpus:?}");
        let engine = document.engine.as_ref();
        match trial.cell.variant.as_str() {
            "mine" => assert_eq!(engine, None),
            "native" => assert_eq!(engine.expect("it reports")["engine"], "none"),
            _ => assert_eq!(contradiction(&pooling, engine.expect("it reports")), None),
        }
    }
}

fn check_conditions(run: &wasmbench_api::BenchmarkRun) {
    let state = |type_| runs::condition(run, type_).map(|c| (c.status, c.reason));
    let is = |status: &str, reason: &str| Some((status.to_owned(), reason.to_owned()));
    assert_eq!(state(conditions::ACCEPTED), is("True", "Valid"));
    assert_eq!(state(conditions::FINISHED), is("True", "Completed"));
    // A trial that a busy machine disturbed has a record but no valid measurement.
    let mut incomplete = ["Incomplete", "NothingMeasured"].into_iter();
    let is_incomplete =
        incomplete.any(|reason| state(conditions::SUCCEEDED) == is("False", reason));
    assert!(
        state(conditions::SUCCEEDED) == is("True", "Completed")
            || (is_incomplete && runs::is_disturbed(run)),
        "{:?}",
        run.status
    );
    assert_eq!(state(conditions::RECONCILING).expect("set").0, "False");
    assert_eq!(state(conditions::STALLED).expect("set").0, "False");
    assert!(state(conditions::TRUSTWORTHY).is_some());
    let status = run.status.as_ref().expect("a status");
    assert_eq!(status.observed_generation, run.metadata.generation);
    assert!(
        status
            .conditions
            .iter()
            .all(|c| c.observed_generation == run.metadata.generation)
    );
}

/// A variant and a workload.
type Pair<'a> = (&'a str, &'a str);

/// The loads whose resources are known. They are absent if a busy node delays the first reading so
/// much that it misses a part of the window, which is better than wrong values. Some windows of the
/// test `open_loop` are metered on any node.
fn metered(records: &[Record]) -> BTreeSet<Pair<'_>> {
    let is_load = |record: &&Record| matches!(record.trial.cell.point, Point::Throughput { .. });
    let is_metered = |record: &&Record| {
        let window = record.load().and_then(|d| d.timed.as_ref());
        window.is_some_and(|window| window.subject.is_some())
    };
    let found: BTreeSet<Pair<'_>> = records
        .iter()
        .filter(is_load)
        .filter(is_metered)
        .map(|record| &record.trial.cell)
        .map(|cell| (&*cell.variant, &*cell.workload))
        .collect();
    println!("{} of 9 loads are metered", found.len());
    found
}

fn check_numbers(run: &wasmbench_api::BenchmarkRun, metered: &BTreeSet<Pair<'_>>) {
    let status = run.status.as_ref().expect("a status");
    let rows: BTreeSet<(&str, &str)> = status
        .summary
        .iter()
        .map(|row| (&*row.variant, &*row.workload))
        .collect();
    assert_eq!(rows.len(), 9, "{rows:?}");
    // On a noisy node points are measured but not compared.
    let points = |row: &SummaryRow| {
        let loaded = row.throughput.iter().flat_map(|load| load.points.clone());
        loaded.chain(row.warm_latency.clone()).collect::<Vec<_>>()
    };
    let mut all = status.summary.iter().flat_map(points);
    let is_compared = all.all(|point| point.invalid.is_none());
    for row in &status.summary {
        let what = format!("{}/{}", row.variant, row.workload);
        let warm = row
            .warm_latency
            .as_ref()
            .unwrap_or_else(|| panic!("{what}: no warm latency"));
        assert!(warm.p50_microseconds > 1.0 && warm.p50_microseconds <= warm.p99_microseconds);
        let load = row
            .throughput
            .as_ref()
            .unwrap_or_else(|| panic!("{what}: no throughput"));
        let peak = load.peak_rps.unwrap_or(load.points[0].rps);
        assert!(peak > 0.0, "{what}: {load:?}");
        let is_metered = |variant: &str| metered.contains(&(variant, &*row.workload));
        check_resources(&what, load, is_metered(&row.variant));
        // Without resources on both sides, only the ratios of rate and latency are left.
        let both = is_metered(&row.variant) && is_metered("native");
        let fewest = if both { 3 } else { 2 };
        let ratios = row.versus_baseline.len();
        assert!(
            if row.variant == "native" {
                ratios == 0
            } else {
                ratios >= fewest || !is_compared
            },
            "{row:?}"
        );
    }
    assert!(
        status
            .verdict
            .as_ref()
            .is_some_and(|v| v.chars().any(|c| c.is_ascii_digit()))
    );
    assert!(
        status
            .node
            .as_ref()
            .is_some_and(|node| node.fingerprint.is_some())
    );
}

/// Asserts that CPU time and memory of a load are present exactly if they were metered, and are
/// plausible.
fn check_resources(what: &str, load: &ThroughputSummary, is_metered: bool) {
    let point = &load.points[0];
    let (cpu, memory) = (point.cpu_microseconds_per_request, point.memory_bytes);
    assert_eq!(cpu.is_some(), is_metered, "{what}: {load:?}");
    assert_eq!(memory.is_some(), is_metered, "{what}: {load:?}");
    if let Some((cpu, memory)) = cpu.zip(memory) {
        // A single thread can use at most one core for one second at this rate.
        let peak = load.peak_rps.unwrap_or(point.rps);
        assert!(cpu > 0.5 && cpu < 1.3e6 / peak, "{what}: {load:?}");
        assert!(memory > 100_000, "{what}: {load:?}");
    }
}

async fn check_what_kubectl_shows(namespace: &str, state: &str) {
    let wait = [
        "wait",
        "--for=condition=Finished",
        "brun/tour",
        "-n",
        namespace,
        "--timeout=60s",
    ];
    assert!(kubectl(&wait).await.ok);
    let table = kubectl(&["get", "benchmarkruns", "-n", namespace])
        .await
        .stdout;
    for word in [
        "STATE",
        "PROGRESS",
        "VERDICT",
        "TRUSTWORTHY",
        "AGE",
        state,
        "21/21",
    ] {
        assert!(table.contains(word), "{word} is missing:\n{table}");
    }
    let wide = kubectl(&["get", "brun", "-n", namespace, "-o", "wide"])
        .await
        .stdout;
    for word in [
        "NODE",
        "BASELINE",
        "BLOCKS",
        "MESSAGE",
        "kubectl wasmbench report",
    ] {
        assert!(wide.contains(word), "{word} is missing:\n{wide}");
    }
    let text = kubectl(&["explain", "benchmarkrun.spec.blocks"])
        .await
        .stdout;
    assert!(text.contains("Repetitions of every cell"), "{text}");
}

async fn check_report(client: &kube::Client, namespace: &str) {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let files = api
        .get("tour-report")
        .await
        .expect("the report")
        .data
        .expect("files");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "comparisons.csv",
            "environment.json",
            "report.html",
            "report.md",
            "summary.csv",
            "summary.json"
        ]
    );
    for variant in ["native", "embedded", "mine"] {
        assert!(
            files["report.md"].contains(variant),
            "{}",
            files["report.md"]
        );
    }
    let again = kubectl(&["wasmbench", "report", "tour", "-n", namespace, "--check"]).await;
    assert!(
        again.ok,
        "the report does not follow from the records:\n{again:?}"
    );
}

fn manifests(folder: &str) -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    let entries = std::fs::read_dir(all.join(folder)).expect("the folder exists");
    let paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(!paths.is_empty(), "{folder} is empty");
    paths
}

#[tokio::test]
async fn samples_and_studies_are_accepted() {
    with_namespace("samples", |_, namespace| async move {
        let mut paths = manifests("samples");
        paths.extend(manifests("studies"));
        // Contains the figures of the documents, and no run.
        paths.retain(|path| !path.ends_with("published.yaml"));
        let paths: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let files = paths.iter().flat_map(|path| ["-f", path.as_str()]);
        let apply = ["apply", "--dry-run=server", "-n", &namespace].into_iter();
        let answer = kubectl(&apply.chain(files).collect::<Vec<_>>()).await;
        assert!(answer.ok, "{}", answer.stderr);
    })
    .await;
}

#[tokio::test]
async fn wrong_manifests_are_refused_with_the_remedy() {
    with_namespace("invalid", |_, namespace| async move {
        for path in manifests("invalid") {
            let text = std::fs::read_to_string(&path).expect("a manifest");
            let path = path.display().to_string();
            let lines = text.lines();
            let expected: Vec<&str> = lines
                .filter_map(|line| line.strip_prefix("# expect: "))
                .collect();
            assert!(!expected.is_empty(), "{path} does not say what to expect");
            let answer = kubectl(&["apply", "-n", &namespace, "-f", &path]).await;
            assert!(!answer.ok, "{path} was accepted");
            for part in expected {
                assert!(
                    answer.stderr.contains(part),
                    "{path}: '{part}' is not in {}",
                    answer.stderr
                );
            }
        }
    })
    .await;
}
