//! `report --records-from`: files saved by kubectl in, the report out, byte for byte as the
//! operator stored it.

use std::path::Path;
use std::process::{Command, Output};

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use tempfile::TempDir;
use wasmbench_api::labels;
use wasmbench_model::store::{self, Ended};
use wasmbench_model::wire::record::{Outcome, RECORD_SCHEMA, Record, TrialId};
use wasmbench_report::files::report_files;

use crate::results_support::{UID, all_measured, failed, fortio, record, replace, run};

pub fn kubectl_wasmbench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-wasmbench"))
        .args(arguments)
        // The machine's own kubeconfig must not be used.
        .env("KUBECONFIG", "/nonexistent")
        .output()
        .unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn config_map(name: &str, component: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.metadata.namespace = Some("default".to_owned());
    let labels = [(labels::RUN_UID, UID), (labels::COMPONENT, component)];
    map.metadata.labels = Some(
        labels
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
    );
    map
}

pub fn record_maps(records: &[Record]) -> Vec<ConfigMap> {
    let mut maps: Vec<ConfigMap> = vec![];
    for record in records {
        let cell = &record.trial.cell;
        let name = format!("gateway-overhead-{}-{}", cell.variant, cell.workload);
        let bytes = store::encode(record).unwrap();
        let position = maps
            .iter()
            .position(|map| map.metadata.name.as_ref() == Some(&name))
            .unwrap_or_else(|| {
                maps.push(config_map(&name, labels::COMPONENT_RECORDS));
                maps.len() - 1
            });
        store::add(
            &mut maps[position],
            cell,
            &record.trial,
            Ended::Measured,
            bytes,
        );
    }
    maps
}

pub fn saved_run(finished: bool) -> Value {
    let status = if finished { "True" } else { "False" };
    let condition = |type_: &str, status: &str, reason: &str| {
        json!({
            "type": type_, "status": status, "reason": reason, "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {"name": "gateway-overhead", "namespace": "default", "uid": UID},
        "spec": run().spec,
        "status": {
            "seed": 42,
            "conditions": [
                condition("Finished", status, "Completed"),
                condition("Succeeded", "Unknown", "Measuring"),
            ],
        },
    })
}

/// What `kubectl get brun,configmap -o json` gives.
fn list(run: Value, maps: Vec<ConfigMap>) -> Value {
    let maps = maps.into_iter().map(|map| {
        let mut map = serde_json::to_value(map).unwrap();
        map["apiVersion"] = json!("v1");
        map["kind"] = json!("ConfigMap");
        map
    });
    let items: Vec<Value> = std::iter::once(run).chain(maps).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn report_map() -> ConfigMap {
    let mut map = config_map("gateway-overhead-report", labels::COMPONENT_REPORT);
    map.data = Some(report_files(&run(), &all_measured(&run())).unwrap());
    map
}

pub fn everything() -> Vec<ConfigMap> {
    let mut maps = record_maps(&all_measured(&run()));
    maps.push(report_map());
    maps
}

pub fn save(run: Value, maps: Vec<ConfigMap>) -> TempDir {
    let directory = TempDir::new().unwrap();
    write(directory.path(), "run.json", &list(run, maps).to_string());
    directory
}

fn write(directory: &Path, name: &str, text: &str) {
    std::fs::write(directory.join(name), text).unwrap();
}

fn report(directory: &TempDir, more: &[&str]) -> Output {
    let directory = directory.path().to_str().unwrap();
    let fixed = ["report", "gateway-overhead", "--records-from", directory];
    kubectl_wasmbench(&[&fixed, more].concat())
}

#[test]
fn every_file_is_the_one_that_the_operator_computes() {
    let directory = save(saved_run(true), everything());
    let expected = report_files(&run(), &all_measured(&run())).unwrap();
    for (output, file) in [
        ("md", "report.md"),
        ("html", "report.html"),
        ("json", "summary.json"),
        ("csv", "summary.csv"),
        ("comparisons", "comparisons.csv"),
        ("environment", "environment.json"),
    ] {
        let printed = report(&directory, &["-o", output]);
        assert!(printed.status.success(), "{}", stderr(&printed));
        assert_eq!(stdout(&printed), expected[file], "{file}");
    }
}

#[test]
fn every_format_of_other_programs_is_printed() {
    let directory = save(saved_run(true), everything());
    for (output, begins) in [
        ("junit", "<?xml "),
        ("github", "### default/gateway-overhead: trustworthy\n"),
    ] {
        let printed = report(&directory, &["-o", output]);
        assert!(printed.status.success(), "{}", stderr(&printed));
        assert!(stdout(&printed).starts_with(begins), "{}", stdout(&printed));
        assert_eq!(stderr(&printed), "");
    }
}

/// A later run whose spec names `earlier` as its baseline run, saved together with the usual run.
fn save_with_an_earlier_one(earlier: &str) -> TempDir {
    let later = save_later("6.12.41");
    let mut run: Value =
        serde_json::from_str(&std::fs::read_to_string(later.path().join("run.json")).unwrap())
            .unwrap();
    run["items"][0]["spec"]["baselineRunName"] = json!(earlier);
    write(later.path(), "run.json", &run.to_string());
    write(
        later.path(),
        "earlier.json",
        &list(saved_run(true), everything()).to_string(),
    );
    later
}

#[test]
fn a_job_summary_compares_with_the_run_that_the_spec_names() {
    for (earlier, message) in [
        ("gateway-overhead", "Since gateway-overhead: none of "),
        ("gone", "Not compared with gone: "),
    ] {
        let directory = save_with_an_earlier_one(earlier);
        let from = directory.path().to_str().unwrap();
        let arguments = ["report", "later", "-o", "github", "--records-from", from];
        let printed = kubectl_wasmbench(&arguments);
        assert!(printed.status.success(), "{}", stderr(&printed));
        assert!(stdout(&printed).contains(message), "{}", stdout(&printed));
    }
}

#[test]
fn a_report_compares_with_another_variant_where_the_baseline_failed_and_says_so() {
    let mut records = all_measured(&run());
    let is_baseline = |trial: &TrialId| trial.cell.variant == "native";
    replace(&mut records, is_baseline, |trial, position| {
        record(
            trial,
            position,
            failed("SubjectCrashed", "exit code 1"),
            None,
        )
    });
    let directory = save(saved_run(true), record_maps(&records));
    let text = stdout(&report(&directory, &["--baseline", "embedded"]));
    let instead = "Compared with embedded, as requested, instead of with the run's baseline native";
    assert!(text.contains(instead), "{text}");
    let unknown = report(&directory, &["--baseline", "nobody"]);
    assert!(
        stderr(&unknown).contains("no variant 'nobody'; choose one of: native, embedded"),
        "{}",
        stderr(&unknown)
    );
    assert!(!stdout(&report(&directory, &[])).contains("as requested"));
}

#[test]
fn another_baseline_opens_no_gate_in_the_formats_of_other_programs() {
    let mut saved = saved_run(true);
    saved["spec"]["expectations"] = json!([{
        "name": "gate", "metric": "memory", "variant": "embedded", "workload": "hello", "atMost": "1.2",
    }]);
    let directory = save(saved, everything());
    let shown = |output| {
        stdout(&report(
            &directory,
            &["--baseline", "embedded", "-o", output],
        ))
    };
    let text = shown("github");
    let heading = "### default/gateway-overhead: undecided\n";
    assert!(text.starts_with(heading), "{text}");
    for part in [
        "instead of with the run's baseline native",
        "**undecided**: gate: it is about the baseline native",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let xml = shown("junit");
    for part in [
        "name=\"plannedBaseline\" value=\"native\"",
        "<failure type=\"undecided\" message=\"undecided: it is about the baseline native, and this compares with embedded\"",
    ] {
        assert!(xml.contains(part), "{xml}");
    }
}

#[test]
fn yaml_and_json_files_can_be_mixed() {
    let directory = TempDir::new().unwrap();
    let yaml = serde_yaml::to_string(&saved_run(true)).unwrap();
    write(directory.path(), "run.yaml", &format!("---\n{yaml}---\n"));
    write(
        directory.path(),
        "maps.json",
        &list(saved_run(true), everything()).to_string(),
    );
    write(directory.path(), "notes.txt", "not read");
    let printed = report(&directory, &["-o", "csv"]);
    assert!(
        stdout(&printed).starts_with("variant,workload,"),
        "{}",
        stderr(&printed)
    );
}

/// The same run under another name and uid, on a node with `kernel`.
fn save_later(kernel: &str) -> TempDir {
    let mut records = all_measured(&run());
    for document in records.iter_mut().filter_map(|r| r.load_mut()) {
        let facts = &mut document.environment.facts;
        facts.insert("kernel".to_owned(), kernel.to_owned());
    }
    save_as_later(records)
}

/// Saves the records as those of a later run.
fn save_as_later(records: Vec<Record>) -> TempDir {
    save_later_of(records, true)
}

fn save_later_of(mut records: Vec<Record>, finished: bool) -> TempDir {
    const LATER: &str = "5a1b9f0c-2222-4222-8333-444455556666";
    for record in &mut records {
        LATER.clone_into(&mut record.run_uid);
    }
    let mut maps = record_maps(&records);
    for map in &mut maps {
        let labels = map.metadata.labels.as_mut().unwrap();
        labels.insert(labels::RUN_UID.to_owned(), LATER.to_owned());
    }
    let mut later = saved_run(finished);
    later["metadata"]["name"] = json!("later");
    later["metadata"]["uid"] = json!(LATER);
    save(later, maps)
}

fn compare(later: &TempDir, more: &[&str]) -> Output {
    compare_with(&save(saved_run(true), everything()), later, more)
}

fn compare_with(earlier: &TempDir, later: &TempDir, more: &[&str]) -> Output {
    let path = |directory: &TempDir| directory.path().to_str().unwrap().to_owned();
    let (one, other) = (path(earlier), path(later));
    let mut arguments = vec!["compare", "gateway-overhead", "later"];
    arguments.extend(["--records-from", &one, "--records-from", &other]);
    arguments.extend(more);
    kubectl_wasmbench(&arguments)
}

#[test]
fn saved_runs_that_are_equal_compare_with_exit_code_0() {
    let printed = compare(&save_later("6.12.41"), &[]);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    let text = stdout(&printed);
    assert!(
        text.starts_with("default/later as a multiple of default/gateway-overhead\n"),
        "{text}"
    );
    assert!(text.contains("1.00x (0.96-1.05), not judged"), "{text}");
    assert!(text.contains("), undecided"), "{text}");
    let stated = "Judged with a scatter of 3.5 % between runs (--run-scatter).";
    assert!(text.contains(stated), "{text}");
}

#[test]
fn the_scatter_between_runs_is_stated_by_an_option() {
    let later = save_later("6.12.41");
    let none = stdout(&compare(&later, &["--run-scatter", "0%"]));
    assert!(none.contains("), equivalent"), "{none}");
    assert!(none.contains("a scatter of 0 % between runs"), "{none}");
    let json = stdout(&compare(&later, &["--run-scatter", "2%", "-o", "json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["runScatter"], 0.02);
    let mut judged = json["ratios"].as_array().unwrap().iter();
    let judged = judged.find(|ratio| ratio["verdict"].is_string()).unwrap();
    assert!(judged["smallestFound"].as_f64() > Some(1.0), "{judged}");
    let wrong = compare(&later, &["--run-scatter", "2"]);
    assert!(
        stderr(&wrong).contains("write it like 2%"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn saved_runs_of_two_nodes_are_refused_and_compared_by_force() {
    let later = save_later("6.13.0");
    let refused = compare(&later, &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stdout(&refused).contains("Not comparable: probe.kernel: 6.12.41 -> 6.13.0"));
    assert!(
        stderr(&refused).contains("insist with --force"),
        "{}",
        stderr(&refused)
    );
    let forced = compare(&later, &["--force", "-o", "json"]);
    assert_eq!(forced.status.code(), Some(0), "{}", stderr(&forced));
    let json: Value = serde_json::from_str(&stdout(&forced)).unwrap();
    assert_eq!(json["schema"], "wasmbench.dev/across/v4");
    assert_eq!(
        (&json["forced"], json["ratios"].as_array().unwrap().len()),
        (&json!(true), 36)
    );
}

/// A later run in which all trials of these variants crashed.
fn save_crashed(variants: &[&str]) -> TempDir {
    let mut records = all_measured(&run());
    let crashed = |trial: &TrialId| variants.contains(&trial.cell.variant.as_str());
    replace(&mut records, crashed, |trial, position| {
        let outcome = failed("SubjectCrashed", "exit code 1");
        crate::results_support::record(trial, position, outcome, None)
    });
    save_as_later(records)
}

#[test]
fn a_variant_that_crashes_in_the_later_run_closes_the_gate_and_is_named() {
    let printed = compare(&save_crashed(&["embedded"]), &[]);
    assert_eq!(printed.status.code(), Some(4), "{}", stderr(&printed));
    let text = stdout(&printed);
    let named = "no valid number any more: embedded on hello (warm, throughput-c10, throughput-c50), embedded on compute";
    assert!(text.contains(named), "{text}");
    let warning = stderr(&printed);
    assert!(
        warning.contains(named) && warning.contains("run again"),
        "{warning}"
    );
    let json: Value = serde_json::from_str(&stdout(&compare(
        &save_crashed(&["embedded"]),
        &["-o", "json"],
    )))
    .unwrap();
    assert_eq!(
        (&json["lost"][0], json["lost"].as_array().unwrap().len()),
        (
            &json!({"variant": "embedded", "workload": "hello", "point": "warm"}),
            6
        )
    );
}

#[test]
fn unfinished_runs_are_compared_on_request_by_what_they_have() {
    let first = |variant: &str| {
        let mut records = all_measured(&run());
        records.retain(|record| record.trial.block == 1 && record.trial.cell.variant == variant);
        save_later_of(records, false)
    };
    let later = first("native");
    let refused = compare(&later, &[]);
    assert_eq!(refused.status.code(), Some(1));
    let error = stderr(&refused);
    assert!(error.contains("'later' is not finished yet"), "{error}");
    let printed = compare(&later, &["--partial"]);
    let (text, warning) = (stdout(&printed), stderr(&printed));
    // What is only not measured yet closes no gate.
    assert!(matches!(printed.status.code(), Some(0 | 3)), "{warning}");
    assert!(warning.contains("later is not finished"), "{warning}");
    assert!(
        !text.contains("no valid number any more") && !warning.contains("remove their cause"),
        "{text}{warning}"
    );
    let open = save(saved_run(false), everything());
    let finished = save_later("6.12.41");
    let refused = stderr(&compare_with(&open, &finished, &[]));
    assert!(
        refused.contains("take what there is with --partial"),
        "{refused}"
    );
    let printed = compare_with(&open, &finished, &["--partial"]);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    let warning = stderr(&printed);
    assert!(
        warning.contains("gateway-overhead is not finished"),
        "{warning}"
    );
}

#[test]
fn runs_without_a_number_in_common_are_no_success() {
    let mut records = all_measured(&run());
    replace(
        &mut records,
        |_| true,
        |trial, position| {
            let failing = Some(fortio("errors"));
            crate::results_support::record(trial, position, Outcome::Measured, failing)
        },
    );
    let printed = compare(&save_as_later(records), &[]);
    assert_eq!(printed.status.code(), Some(1));
    let error = stderr(&printed);
    let named = "no number is valid in both runs (no valid number any more: native on hello";
    assert!(error.contains(named), "{error}");
}

#[test]
fn a_comparison_is_the_same_as_json_and_as_yaml() {
    let later = save_later("6.12.41");
    let json: Value = serde_json::from_str(&stdout(&compare(&later, &["-o", "json"]))).unwrap();
    let yaml: Value = serde_yaml::from_str(&stdout(&compare(&later, &["-o", "yaml"]))).unwrap();
    assert_eq!(json["schema"], "wasmbench.dev/across/v4");
    // Only the lengths: a number may be 1 in one format and 1.0 in the other.
    assert_eq!(
        json["ratios"].as_array().unwrap().len(),
        yaml["ratios"].as_array().unwrap().len()
    );
    assert_eq!(json["before"], yaml["before"]);
}

#[test]
fn a_check_of_an_untouched_report_succeeds() {
    let printed = report(&save(saved_run(true), everything()), &["--check"]);
    assert!(printed.status.success(), "{}", stderr(&printed));
    assert!(stdout(&printed).contains("6 files, byte for byte"));
}

#[test]
fn a_check_names_the_line_that_was_changed() {
    let mut maps = everything();
    let files = maps.last_mut().unwrap().data.as_mut().unwrap();
    let csv = files["summary.csv"].replacen("native", "faster", 1);
    files.insert("summary.csv".into(), csv);
    let printed = report(&save(saved_run(true), maps), &["--check"]);
    assert_eq!(printed.status.code(), Some(1));
    let error = stderr(&printed);
    assert!(
        error.contains("line 2 of summary.csv is 'faster,hello,"),
        "{error}"
    );
}

#[test]
fn a_record_that_was_changed_is_refused() {
    let mut maps = everything();
    let entries = maps[0].binary_data.as_mut().unwrap();
    entries.values_mut().next().unwrap().0.push(0);
    let printed = report(&save(saved_run(true), maps), &[]);
    assert_eq!(printed.status.code(), Some(1));
    assert!(
        stderr(&printed).contains("does not match its checksum"),
        "{}",
        stderr(&printed)
    );
}

#[test]
fn records_of_another_schema_are_refused_with_both_schemas_and_what_to_do() {
    let mut maps = record_maps(&all_measured(&run()));
    for map in &mut maps {
        let annotations = map.metadata.annotations.as_mut().unwrap();
        annotations.insert(
            labels::RECORD_SCHEMA.into(),
            "wasmbench.dev/record/v0".into(),
        );
    }
    let older = save(saved_run(true), maps);
    let later = save_later("6.12.41");
    let [one, other] = [&older, &later].map(|directory| directory.path().to_str().unwrap());
    let mut comparison = vec!["compare", "gateway-overhead", "later"];
    comparison.extend(["--records-from", one, "--records-from", other]);
    for printed in [
        report(&older, &[]),
        report(&older, &["--check"]),
        kubectl_wasmbench(&comparison),
    ] {
        assert_eq!(printed.status.code(), Some(1));
        let error = stderr(&printed);
        for expected in ["record/v0", RECORD_SCHEMA, "or run it again"] {
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}

#[test]
fn an_unfinished_run_is_reported_only_on_request() {
    let directory = save(saved_run(false), everything());
    let printed = report(&directory, &[]);
    assert_eq!(printed.status.code(), Some(1));
    assert!(
        stderr(&printed).contains("not finished yet (Measuring)"),
        "{}",
        stderr(&printed)
    );
    assert!(report(&directory, &["--partial"]).status.success());
}

#[test]
fn every_missing_part_has_its_own_message() {
    let empty = TempDir::new().unwrap();
    let error = |output: Output| {
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    assert!(error(report(&empty, &[])).contains("holds the BenchmarkRun 'gateway-overhead'"));
    let without_records = save(saved_run(true), vec![]);
    assert!(error(report(&without_records, &[])).contains("has no records"));
    let without_report = save(saved_run(true), record_maps(&all_measured(&run())));
    assert!(error(report(&without_report, &["--check"])).contains("has no stored report"));
    let broken = TempDir::new().unwrap();
    write(broken.path(), "run.json", "{\"kind\": ");
    assert!(error(report(&broken, &[])).contains("run.json cannot be read as Kubernetes objects"));
    let nowhere = kubectl_wasmbench(&["report", "a", "--records-from", "/nonexistent"]);
    assert!(error(nowhere).contains("could not read /nonexistent"));
}

#[test]
fn runs_with_the_same_name_are_distinguished_by_namespace() {
    let directory = save(saved_run(true), everything());
    let mut other = saved_run(true);
    other["metadata"]["namespace"] = json!("other");
    other["metadata"]["uid"] = json!("another");
    write(directory.path(), "other.json", &other.to_string());
    assert!(stderr(&report(&directory, &[])).contains("choose one with -n"));
    assert!(report(&directory, &["-n", "default"]).status.success());
    assert!(stderr(&report(&directory, &["-n", "other"])).contains("has no records"));
}
