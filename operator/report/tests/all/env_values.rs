//! Reports are attached to tickets. What a variable of the service was set to stays in the run.

use serde_json::json;
use wasmbench_api::run::RunScatter;
use wasmbench_report::across::InWords as _;
use wasmbench_report::files::report_files_of;
use wasmbench_results::runs::across::{Difference, Side, Weight, across};
use wasmbench_results::summary::collect::{RunInput, summarize};

use crate::results_support::{all_measured, run_with};

const SECRET: &str = "postgres://bench:hunter2@db";

/// A run of a service with this value in its environment.
fn with_value(name: &str, value: &str) -> RunInput {
    let run = run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "baseline": "native",
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "container": {
                "image": "example.com/mine:1",
                "env": [{"name": "DATABASE_URL", "value": value}],
            }},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"warmLatency": {"requests": 300}},
    }));
    RunInput {
        name: name.into(),
        ..run
    }
}

#[test]
fn no_file_of_a_report_contains_the_value_of_a_variable() {
    let run = with_value("mine", SECRET);
    let files = report_files_of(&summarize(&run, &all_measured(&run))).unwrap();
    for (name, text) in &files {
        assert!(
            !text.contains(SECRET) && !text.contains("hunter2"),
            "{name}: {text}"
        );
    }
    for name in ["report.md", "summary.json"] {
        assert!(files[name].contains("DATABASE_URL"), "{name}");
        assert!(files[name].contains("sha256:"), "{name}");
    }
    let message =
        "Values of environment variables are digests here: take them from the BenchmarkRun";
    assert!(
        files["report.md"].contains(message),
        "{}",
        files["report.md"]
    );
}

#[test]
fn a_variable_that_differs_between_runs_is_listed_without_its_values() {
    let compare = |before: &str, after: &str| -> Vec<Difference> {
        let (before, after) = (with_value("before", before), with_value("after", after));
        let [one, other] = [&before, &after].map(|run| summarize(run, &all_measured(run)));
        let (earlier, later) = (
            Side {
                spec: &before.spec,
                summary: &one,
            },
            Side {
                spec: &after.spec,
                summary: &other,
            },
        );
        let found = across(&[earlier], later, None, RunScatter::default(), false);
        assert!(!found.text().contains("hunter2"), "{}", found.text());
        found.differences
    };
    assert_eq!(compare(SECRET, SECRET), []);
    let differences = compare(SECRET, "postgres://bench:hunter2@other");
    let [difference] = &differences[..] else {
        panic!("{differences:#?}")
    };
    assert_eq!(difference.weight, Weight::Compared);
    assert!(
        difference.what.starts_with("spec.variants.embedded."),
        "{difference:?}"
    );
    assert_ne!(difference.before, difference.after);
}
