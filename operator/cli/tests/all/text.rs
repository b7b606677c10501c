//! What people see: lists, live frames, plans, and error messages.

use std::path::Path;
use std::process::Command;

use jiff::Timestamp;
use kubectl_wasmbench::document::{Format, RunDocument, RunsDocument};
use kubectl_wasmbench::get::Columns;
use kubectl_wasmbench::{get, live, manifest, plan};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule};

fn now() -> Timestamp {
    "2026-01-01T01:00:00Z".parse().unwrap()
}

fn run(conditions: &[(&str, &str, &str)], progress: &Value) -> BenchmarkRun {
    let condition = |(type_, status, reason): &(&str, &str, &str)| {
        json!({
            "type": type_, "status": status, "reason": reason, "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let conditions: Vec<Value> = conditions.iter().map(condition).collect();
    serde_json::from_value(json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {
            "name": "gateway-overhead", "namespace": "default",
            "creationTimestamp": "2026-01-01T00:30:00Z",
        },
        "spec": {
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello"}],
            "sweeps": {"throughput": {"connections": [50]}},
        },
        "status": {
            "conditions": conditions,
            "progress": progress,
            "node": {"name": "bench-1"},
            "verdict": "native on hello: 12.2k requests/s at 50 connections",
        },
    }))
    .unwrap()
}

fn measuring() -> BenchmarkRun {
    let progress = json!({
        "completedTrials": 24, "totalTrials": 60, "text": "24/60 (~12m left)",
        "message": "measuring embedded/hello/throughput-c50, block 3",
        "estimatedCompletionTime": "2026-01-01T01:12:10Z",
    });
    run(
        &[
            ("Finished", "False", "Measuring"),
            ("Succeeded", "Unknown", "Measuring"),
        ],
        &progress,
    )
}

fn finished(succeeded: &str, trustworthy: &str) -> BenchmarkRun {
    let progress =
        json!({"completedTrials": 60, "totalTrials": 60, "text": "60/60", "message": "done"});
    let conditions = [
        ("Finished", "True", "Completed"),
        ("Succeeded", succeeded, "Completed"),
        ("Trustworthy", trustworthy, "Reason"),
    ];
    run(&conditions, &progress)
}

#[test]
fn a_run_that_goes_on_shows_a_bar_and_an_estimate() {
    insta::assert_snapshot!(live::frame(&measuring(), now()), @r"
    default/gateway-overhead: Measuring on bench-1
    [############..................] 24 of 60 trials, about 12 min left
    measuring embedded/hello/throughput-c50, block 3
    ");
}

#[test]
fn a_log_line_has_the_operators_estimate() {
    insta::assert_snapshot!(
        live::line(&measuring()),
        @"Measuring: 24/60 (~12m left)"
    );
}

#[test]
fn a_log_has_a_line_for_each_tenth_of_the_trials_and_one_for_every_other_change() {
    let mut milestones: Vec<String> = vec![];
    for completed in 0..60 {
        let mut run = measuring();
        let progress = run.status.as_mut().unwrap().progress.as_mut().unwrap();
        progress.completed_trials = completed;
        progress.text = format!("{completed}/60");
        milestones.push(live::milestone(&run));
    }
    milestones.dedup();
    assert_eq!(milestones.len(), 10);

    let mut queued = measuring();
    let conditions = &mut queued.status.as_mut().unwrap().conditions;
    conditions[1].reason = "Queued".into();
    let before = live::milestone(&queued);
    let progress = queued.status.as_mut().unwrap().progress.as_mut().unwrap();
    progress.message = "waiting for default/other".into();
    assert_ne!(live::milestone(&queued), before);
}

#[test]
fn what_speaks_against_a_run_that_goes_on_is_shown_and_a_line_of_the_log() {
    let trusted = measuring();
    let mut run = run(
        &[
            ("Succeeded", "Unknown", "Measuring"),
            ("Trustworthy", "Unknown", "DoubtedSoFar"),
        ],
        &serde_json::to_value(&trusted.status.as_ref().unwrap().progress).unwrap(),
    );
    run.status.as_mut().unwrap().conditions[1].message =
        "after 2 block(s):\nNodeNoisy: native on hello. What to do: wait.\nThrottled: b.".into();
    let frame = live::frame(&run, now());
    assert!(
        frame.ends_with(
            "in doubt so far, after 2 block(s):\nNodeNoisy: native on hello. What to do: wait.\nThrottled: b.\n"
        ),
        "{frame}"
    );
    let line = live::line(&run);
    assert!(
        line.ends_with("; in doubt so far: NodeNoisy, Throttled\n"),
        "{line}"
    );
    assert_ne!(live::milestone(&run), live::milestone(&trusted));
}

#[test]
fn a_run_that_the_operator_has_not_seen_is_shown_as_pending() {
    let mut run = measuring();
    run.status = None;
    insta::assert_snapshot!(live::frame(&run, now()), @r"
    default/gateway-overhead: Pending
    waiting for the operator to see the run
    ");
    assert_eq!(live::exit_code(&run), None);
}

#[test]
fn the_exit_code_distinguishes_success_failure_and_doubt() {
    assert_eq!(live::exit_code(&measuring()), None);
    assert_eq!(live::exit_code(&finished("True", "True")), Some(0));
    assert_eq!(live::exit_code(&finished("True", "False")), Some(3));
    assert_eq!(live::exit_code(&finished("False", "False")), Some(1));
    assert_eq!(live::exit_code(&finished("False", "Unknown")), Some(1));
}

#[test]
fn a_run_for_programs_has_its_fields_in_this_order() {
    let run = finished("True", "True");
    insta::assert_snapshot!(Format::Yaml.text(&RunDocument::from(&run)).unwrap());
}

#[test]
fn no_runs_are_an_empty_list_for_programs() {
    let text = Format::Json.text(&RunsDocument::from(&[][..])).unwrap();
    assert_eq!(
        text,
        "{\n \"schema\": \"wasmbench.dev/runs/v1\",\n \"runs\": []\n}\n"
    );
}

#[test]
fn a_gate_that_is_closed_or_undecided_has_an_exit_code_of_its_own() {
    let gated = |passed: &str, trustworthy: &str| {
        let mut run = finished("True", trustworthy);
        let conditions = &mut run.status.as_mut().unwrap().conditions;
        let mut gate = conditions[0].clone();
        gate.type_ = "Passed".into();
        gate.status = passed.into();
        conditions.push(gate);
        live::exit_code(&run)
    };
    assert_eq!(gated("True", "True"), Some(0));
    assert_eq!(gated("False", "True"), Some(4));
    assert_eq!(gated("Unknown", "True"), Some(4));
    assert_eq!(gated("False", "False"), Some(3));
}

#[test]
fn a_list_of_runs_is_aligned() {
    let mut other = finished("True", "True");
    other.metadata.name = Some("b".into());
    let namespaces = Columns {
        namespace: true,
        wide: false,
    };
    insta::assert_snapshot!(get::list(&[measuring(), other], namespaces, now()), @r"
    NAMESPACE  NAME              STATE               PROGRESS  TRUSTWORTHY  PASSED     AGE  VERDICT
    default    gateway-overhead  Measuring  24/60 (~12m left)                       30 min  native on hello: 12.2k requests/s at 50 connections
    default    b                 Completed              60/60  True                 30 min  native on hello: 12.2k requests/s at 50 connections
    ");
    assert_eq!(
        get::list(&[], Columns::default(), now()),
        "No BenchmarkRuns found.\n"
    );
}

#[test]
fn a_wide_list_has_node_baseline_blocks_and_what_a_run_does() {
    let wide = Columns {
        namespace: false,
        wide: true,
    };
    let text = get::list(&[measuring()], wide, now());
    let (titles, row) = text.split_once('\n').unwrap();
    assert!(titles.ends_with("MESSAGE"), "{titles}");
    for expected in [
        "bench-1",
        "native",
        "measuring embedded/hello/throughput-c50, block 3",
    ] {
        assert!(row.contains(expected), "{row}");
    }
}

/// A run of two variants, with these further fields of its spec.
fn two(fields: &str) -> BenchmarkRun {
    let variants =
        "variants: [{name: native, preset: native}, {name: embedded, preset: wasmtime-embedded}]";
    let spec = serde_yaml::from_str(&format!("{variants}{fields}")).unwrap();
    BenchmarkRun::new("two", spec)
}

#[test]
fn a_plan_shows_the_twin_as_the_noise_floor_and_counts_its_trials() {
    let run = two("
blocks: 5
workloads: [{name: hello}]
sweeps: {warmLatency: {}}
");
    let text = plan::describe(&run, false, &[]).unwrap();
    assert!(text.contains("3 cells x 5 block(s) = 15 trials"), "{text}");
    let floor = "Noise floor\nbaseline-twin: the baseline measured a second time";
    assert!(text.contains(floor), "{text}");
}

#[test]
fn a_plan_shows_the_least_and_the_most_that_precision_may_take() {
    let run = two("
blocks: 5
noiseFloor: false
precision: {targetRelativeInterval: 3%, maxBlocks: 30}
workloads: [{name: hello}]
sweeps: {throughput: {connections: [50], durationSeconds: 10, warmupSeconds: 3}}
");
    let text = plan::describe(&run, false, &[]).unwrap();
    let first = text.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        "two: 2 cells x 8 to 30 blocks = 16 to 60 trials, after 2 scout(s), about 4 min to 15 min, \
         until the intervals are within 3%"
    );
}

#[test]
fn a_plan_describes_what_a_run_will_do() {
    let run = two("
blocks: 2
seed: 7
workloads: [{name: hello, expect: {body: hello}}]
sweeps:
  throughput: {connections: [50], durationSeconds: 10, warmupSeconds: 1}
");
    insta::assert_snapshot!(plan::describe(&run, true, &[]).unwrap());
}

#[test]
fn a_plan_of_a_schedule_has_its_times_and_its_run() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../manifests/samples/nightly.yaml"
    );
    let file = std::fs::read_to_string(file).unwrap();
    let mut schedule: BenchmarkSchedule = serde_yaml::from_str(&file).unwrap();
    let october: Timestamp = "2026-10-24T12:00:00Z".parse().unwrap();
    let text = plan::scheduled(&schedule, false, october, &[]).unwrap();
    let (first, rest) = text.split_once("\n\n").unwrap();
    assert_eq!(
        first,
        "nightly: 0 3 * * *, next at 2026-10-25 03:00 CET, 2026-10-26 03:00 CET, 2026-10-27 03:00 CET"
    );
    assert!(
        rest.starts_with("nightly-29881560: 3 cells x 10 block(s)"),
        "{rest}"
    );
    assert!(!text.contains("Suspended"), "{text}");

    schedule.spec.suspend = true;
    let text = plan::scheduled(&schedule, false, october, &[]).unwrap();
    assert!(text.contains("Suspended: no run starts until"), "{text}");

    schedule.spec.template.spec.baseline = Some("nobody".into());
    let refused = plan::scheduled(&schedule, false, october, &[]).unwrap_err();
    assert!(
        refused.to_string().contains("spec.template.spec.baseline"),
        "{refused}"
    );
}

/// What stands in samples for what only their readers know.
const PLACEHOLDER: &str = "CHANGE-ME";

#[test]
fn every_sample_and_every_study_has_a_plan() {
    let manifests = concat!(env!("CARGO_MANIFEST_DIR"), "/../../manifests");
    let folders = ["samples", "studies"].map(|folder| format!("{manifests}/{folder}"));
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let filled_in = directory.path().join("run.yaml");
    let mut plans = 0;
    for file in files {
        let path = file.unwrap().path();
        // Published figures, not runs.
        if path.ends_with("published.yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let error = |file: &Path| {
            let output = kubectl_wasmbench(&["plan", "--offline", "-f", file.to_str().unwrap()]);
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            (!output.status.success()).then_some(error)
        };
        if text.contains(PLACEHOLDER) {
            let refused = error(&path).unwrap_or_default();
            assert!(refused.contains("replace the placeholder"), "{refused}");
        }
        std::fs::write(&filled_in, text.replace(PLACEHOLDER, "1.0")).unwrap();
        assert_eq!(error(&filled_in), None, "{}", path.display());
        plans += 1;
    }
    // The numbers that the controller's tests of the manifests require.
    assert!(plans >= 3 + 8, "only {plans} plans");
}

#[test]
fn a_plan_for_a_run_that_would_be_refused_has_the_reason() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../manifests/invalid/baseline-unknown.yaml"
    );
    let output = kubectl_wasmbench(&["plan", "--offline", "-f", file]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains("the run would be refused: spec.baseline: baseline must be the name of one of spec.variants (line "),
        "{error}"
    );
}

#[test]
fn kubectl_gets_candidates_and_what_else_to_offer() {
    let output = kubectl_wasmbench(&["__complete", "--", "comp"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text, "compare\ncompletion\n:4\n");
    let script = kubectl_wasmbench(&["completion", "kubectl"]).stdout;
    let script = String::from_utf8_lossy(&script).into_owned();
    assert!(
        script.contains("kubectl-wasmbench __complete -- \"$@\""),
        "{script}"
    );
    for shell in ["bash", "zsh", "fish"] {
        let script = kubectl_wasmbench(&["completion", shell]).stdout;
        assert!(
            String::from_utf8_lossy(&script).contains("kubectl-wasmbench"),
            "{shell}"
        );
    }
}

/// What only the API server can see: the change of an object.
const SEEN_BY_THE_API_SERVER_ALONE: [&str; 1] = ["spec-changed.yaml"];

#[test]
fn a_plan_refuses_offline_all_that_the_crd_refuses() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../manifests/invalid");
    let mut refused = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if SEEN_BY_THE_API_SERVER_ALONE.contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(manifest::checked(&text).is_err(), "{name} is accepted");
        refused += 1;
    }
    assert!(refused > 30, "only {refused} files");
}

fn kubectl_wasmbench(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-wasmbench"))
        .args(arguments)
        .output()
        .unwrap()
}

/// The path of a kubeconfig, in this directory, with a cluster that does not answer.
fn unreachable_cluster(directory: &Path) -> String {
    let path = directory.join("config");
    // Port 1 of the loopback interface: nothing listens there.
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
    });
    std::fs::write(&path, kubeconfig.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_plan_without_a_cluster_shows_what_the_run_finds_at_three_scatters() {
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = &unreachable_cluster(directory.path());
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../manifests/samples/quickstart.yaml"
    );
    let plan = |more: &[&str]| {
        let output = kubectl_wasmbench(&[&["plan", "-f", file][..], more].concat());
        let [text, note] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success(), "{note}");
        (text, note)
    };
    let (unread, why) = plan(&["--kubeconfig", kubeconfig]);
    assert!(why.contains("the cluster does not answer"), "{why}");
    let (offline, silent) = plan(&["--offline", "--kubeconfig", kubeconfig]);
    assert_eq!(silent, "");
    assert_eq!(unread, offline);
    for scatter in ["3 %", "5 %", "8 %"] {
        let is_row = |line: &str| line.trim_start().starts_with(scatter);
        assert!(offline.lines().any(is_row), "{scatter}: {offline}");
    }
}

#[test]
fn a_plan_for_another_namespace_than_that_of_the_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.yaml");
    let sample = include_str!("../../../../manifests/samples/quickstart.yaml");
    let text = sample.replace(
        "  name: quickstart\n",
        "  name: quickstart\n  namespace: team-a\n",
    );
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let plan = |namespace| kubectl_wasmbench(&["plan", "--offline", "-n", namespace, "-f", file]);
    let error = String::from_utf8(plan("other").stderr).unwrap();
    assert!(
        error.contains("the file is for namespace team-a"),
        "{error}"
    );
    assert!(plan("team-a").status.success());
}

#[test]
fn a_plan_shows_what_the_run_finds_with_the_scatter_of_earlier_runs() {
    let mut earlier = finished("True", "True");
    let status = earlier.status.as_mut().unwrap();
    status.completion_time = serde_json::from_value(json!("2026-01-01T00:40:00Z")).unwrap();
    status.node = serde_json::from_value(json!({"name": "bench-1", "fingerprint": "f"})).unwrap();
    status.power = serde_json::from_value(json!({"scatter": 0.08, "message": ""})).unwrap();
    let run = two("
blocks: 10
workloads: [{name: hello}]
sweeps: {warmLatency: {}}
");
    let text = plan::describe(&run, false, &plan::earlier([&earlier])).unwrap();
    let row = text.lines().find(|line| line.contains("bench-1")).unwrap();
    assert!(row.contains("8 % on bench-1 (1 run)   "), "{row}");
    assert!(row.contains(" 11 % "), "10 % is not found: {row}");
    assert!(!text.contains("No earlier run"), "{text}");
}

#[test]
fn a_cluster_that_does_not_answer_is_named_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let kubeconfig = &unreachable_cluster(directory.path());
    let output = kubectl_wasmbench(&["get", "fast", "--kubeconfig", kubeconfig]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains("error: the cluster does not answer ("),
        "{error}"
    );
    assert!(error.contains("kubectl config get-contexts"), "{error}");
    let output = kubectl_wasmbench(&["get", "--kubeconfig", kubeconfig, "--context", "elsewhere"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.contains("has no context 'elsewhere'; choose one of: here"),
        "{error}"
    );
}

#[test]
fn a_plan_advises_to_compare_answers_where_nothing_checks_them() {
    let mut run = measuring();
    let two = json!([
        {"name": "native", "preset": "native"},
        {"name": "embedded", "preset": "wasmtime-embedded"},
    ]);
    run.spec.variants = serde_json::from_value(two).unwrap();
    let mut advised = |workloads: Value| {
        run.spec.workloads = serde_json::from_value(workloads).unwrap();
        let text = plan::describe(&run, false, &[]).unwrap();
        let (_, note) = text.split_once("\nNot checked\n")?;
        assert!(
            note.contains("expect names at most status and content type"),
            "{note}"
        );
        Some(note.split(':').next().unwrap().to_owned())
    };
    let same = json!({"name": "same", "expect": {"sameAcrossVariants": true}});
    let suffix = json!({"name": "suffix", "expect": {"bodySuffix": "ok"}});
    let status = json!({"name": "status", "expect": {"status": 204}});
    let nothing = json!({"name": "nothing"});
    assert_eq!(advised(json!([same, suffix])), None);
    let typed = json!({"name": "typed", "expect": {"contentType": "text/plain"}});
    let all = advised(json!([same, suffix, status, nothing, typed]));
    assert_eq!(all.as_deref(), Some("status, nothing, typed"));
}

#[test]
fn a_plan_notes_an_image_that_runs_with_and_without_a_runtime_class() {
    let own = |name: &str, class: Value| {
        json!({
            "name": name,
            "container": {"image": "registry.example.com/server:1", "runtimeClassName": class},
        })
    };
    let mut run = measuring();
    let variants = [
        own("container", Value::Null),
        own("wasm", json!("wasmtime")),
    ];
    run.spec.variants = serde_json::from_value(json!(variants)).unwrap();
    let text = plan::describe(&run, false, &[]).unwrap();
    let note = "Not known before it runs\nwasm: it has the image of container";
    assert!(text.contains(note), "{text}");
}

#[test]
fn a_plan_notes_variants_that_are_the_same() {
    let mut run = measuring();
    let variants = json!([
        {"name": "now", "preset": "native"},
        {"name": "next", "preset": "native"},
    ]);
    run.spec.variants = serde_json::from_value(variants).unwrap();
    let text = plan::describe(&run, false, &[]).unwrap();
    assert!(
        text.contains("Only noise\nvariants now and next are the same"),
        "{text}"
    );
}

#[test]
fn a_plan_names_unsafe_checks_and_the_cpus_that_threads_need() {
    let mut run = measuring();
    let variants = json!([
        {"name": "clang", "preset": "kernel-clang", "engine": {"threads": 2}},
        {"name": "unchecked-unsafe", "preset": "kernel-v8", "engine": {"boundsChecks": "None", "threads": 4}},
    ]);
    run.spec.variants = serde_json::from_value(variants).unwrap();
    let workload = json!([{"name": "product", "path": "/kernel?name=gemm"}]);
    run.spec.workloads = serde_json::from_value(workload).unwrap();
    let text = plan::describe(&run, false, &[]).unwrap();
    for expected in [
        "preset kernel-v8, bounds checks None (unsafe), 4 threads",
        "Needs\na node with 4 CPUs (engine.threads of variant unchecked-unsafe)",
    ] {
        assert!(text.contains(expected), "{text}");
    }
}
