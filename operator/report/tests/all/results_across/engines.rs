//! Two runs of one variant with another engine or `RuntimeClass`: listed as the subject of the
//! comparison.

use wasmbench_model::wire::record::Record;
use wasmbench_results::runs::across::{Difference, Weight};
use wasmbench_results::summary::collect::RunInput;

use super::support::compared;
use crate::results_support::{all_measured, facts, run};

/// The records of a run in which `embedded` has this engine and this `RuntimeClass`.
fn with(run: &RunInput, version: &str, runtime_class: Option<&str>) -> Vec<Record> {
    let mut records = all_measured(run);
    let is_embedded = |record: &&mut Record| record.trial.cell.variant == "embedded";
    for record in records.iter_mut().filter(is_embedded) {
        if let Some(document) = record.load_mut() {
            let module = "6".repeat(64);
            document.engine = Some(facts(&[
                ("engine", "wasmtime"),
                ("compileMode", "Ahead"),
                ("allocator", "Pooling"),
                ("moduleSha256", &module),
                ("profile", "release"),
                ("version", version),
            ]));
        }
        if let Some(subject) = &mut record.subject {
            subject.runtime_class = runtime_class.map(str::to_owned);
        }
    }
    records
}

fn listed(one: &[Record], other: &[Record]) -> Vec<(Weight, String)> {
    let run = run();
    let found = compared((&run, one), (&run, other), false);
    let differences = found.differences.iter();
    // What the engine reports is judged elsewhere.
    let ran = differences.filter(|difference| difference.what != "trustworthy");
    let text = |d: &Difference| format!("{}: {} -> {}", d.what, d.before, d.after);
    ran.map(|difference| (difference.weight, text(difference)))
        .collect()
}

#[test]
fn another_engine_behind_the_same_image_is_listed_with_what_differs() {
    let run = run();
    let (one, other) = (with(&run, "30.0.2", None), with(&run, "31.0.0", None));
    let line = "engine of embedded: version 30.0.2 -> version 31.0.0".to_owned();
    assert_eq!(listed(&one, &other), [(Weight::Compared, line)]);
    assert_eq!(listed(&one, &one), []);
}

#[test]
fn an_engine_that_only_one_run_recorded_is_unknown_in_the_other() {
    let run = run();
    let reported = with(&run, "30.0.2", None);
    let found = listed(&all_measured(&run), &reported);
    let begins = "engine of embedded: unknown -> allocator Pooling, ";
    assert!(
        found.len() == 1 && found.iter().all(|(_, line)| line.starts_with(begins)),
        "{found:?}"
    );
}

#[test]
fn another_runtime_class_is_listed() {
    let run = run();
    let (one, other) = (
        with(&run, "30.0.2", None),
        with(&run, "30.0.2", Some("wasmtime")),
    );
    let line = "RuntimeClass of embedded: the node's default -> wasmtime".to_owned();
    assert_eq!(listed(&one, &other), [(Weight::Compared, line)]);
}
