//! Variants with limits of their own: whose limit counts where, what is noted of ratios between them,
//! and where people see the limits.

use serde_json::json;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Variant;
use wasmbench_model::wire::record::{Record, TrialId};
use wasmbench_report::csv::summary_csv;
use wasmbench_report::html::report_html;
use wasmbench_report::markdown::report_md;
use wasmbench_report::terminal::status_text;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::{Doubt, Reason};

use crate::results_support::{all_measured, run};

fn variant(name: &str, preset: &str, limits: &serde_json::Value) -> Variant {
    let variant = json!({"name": name, "preset": preset, "resources": {"limits": limits}});
    serde_json::from_value(variant).unwrap()
}

/// A run of these variants.
fn input(variants: Vec<Variant>) -> RunInput {
    let mut run = run();
    run.spec.baseline = Some(variants[0].name.clone());
    run.spec.variants = variants;
    run
}

/// One program with one CPU and with two.
fn one_or_two() -> RunInput {
    input(vec![
        variant("one-cpu", "native", &json!({"cpu": "1"})),
        variant("two-cpus", "native", &json!({"cpu": "2", "memory": "1Gi"})),
    ])
}

/// A CPU limit stops the subjects of a trial for 31 % of the window.
fn throttle(record: &mut Record) {
    let window = record.load_mut().unwrap().timed.as_mut().unwrap();
    let meter = window.subject.as_mut().unwrap();
    meter.throttled_periods = Some(3);
    meter.throttled_nanoseconds = Some(window.duration_nanoseconds / 100 * 31);
}

/// The run's summary where a limit stopped the pods of these variants.
fn throttled(run: &RunInput, variants: &[&str]) -> Summary {
    let mut records = all_measured(run);
    let is_meant = |trial: &TrialId| variants.contains(&trial.cell.variant.as_str());
    let stopped = records.iter_mut().filter(|one| is_meant(&one.trial));
    stopped.for_each(throttle);
    summarize(run, &records)
}

fn doubts(summary: &Summary, reason: Reason) -> Vec<&Doubt> {
    let doubts = summary.doubts.iter();
    doubts.filter(|doubt| doubt.reason == reason).collect()
}

#[test]
fn each_limit_that_stopped_its_variant_is_noted_and_all_are_compared() {
    let summary = throttled(&one_or_two(), &["one-cpu", "two-cpus"]);
    let notes = doubts(&summary, Reason::Throttled);
    assert_eq!(notes.len(), 2, "{notes:?}");
    for (note, limit, variant) in [(notes[0], "1", "one-cpu"), (notes[1], "2", "two-cpus")] {
        let expected = format!(
            "the CPU limit of {limit}, which the run sets, stopped the subject: {variant} on"
        );
        assert!(
            !note.breaks_trust && note.message.starts_with(&expected),
            "{note:?}"
        );
    }
    assert!(summary.cells.iter().all(|cell| cell.ranked));
}

#[test]
fn a_limit_of_one_variant_excuses_no_limit_that_stops_another() {
    let run = input(vec![
        variant("free", "native", &json!({"memory": "256Mi"})),
        variant("one-cpu", "native", &json!({"cpu": "1"})),
    ]);
    let summary = throttled(&run, &["free", "one-cpu"]);
    for cell in &summary.cells {
        assert_eq!(
            cell.is_invalid_by(Reason::Throttled),
            cell.variant == "free"
        );
    }
    let found = doubts(&summary, Reason::Throttled);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[1]
            .message
            .starts_with("a CPU limit that the run does not set stopped the subject: free on"),
        "{found:?}"
    );
}

#[test]
fn the_twin_of_a_baseline_with_a_limit_is_compared_under_it() {
    let mut run = one_or_two();
    run.spec.noise_floor = Some(true);
    let summary = throttled(&run, &["one-cpu", "baseline-twin"]);
    assert!(summary.cells.iter().all(|cell| cell.ranked));
    let notes = doubts(&summary, Reason::Throttled);
    assert_eq!(notes.len(), 1, "they have one limit: {notes:?}");
}

#[test]
fn a_limit_of_the_template_of_a_scaled_object_is_noted_and_its_numbers_are_compared() {
    let copy = |name: &str| {
        let scale = json!({"resource": "deployments", "name": name});
        serde_json::from_value(json!({"name": name, "scale": scale})).unwrap()
    };
    let run = input(vec![copy("shop"), copy("shop-v2")]);
    let summary = throttled(&run, &["shop", "shop-v2"]);
    assert!(summary.cells.iter().all(|cell| cell.ranked));
    let notes = doubts(&summary, Reason::Throttled);
    assert_eq!(notes.len(), 1, "{notes:?}");
    let expected = "the CPU limit of its own template stopped the subject: shop on";
    assert!(
        !notes[0].breaks_trust && notes[0].message.starts_with(expected),
        "{notes:?}"
    );
}

#[test]
fn ratios_of_a_limit_and_a_program_at_once_are_noted() {
    let limits = json!({"cpu": "2"});
    let run = input(vec![
        variant("native-1", "native", &json!({"cpu": "1"})),
        variant("native-2", "native", &limits),
        variant("wasm-1", "wasmtime-embedded", &json!({"cpu": "1"})),
        variant("wasm-2", "wasmtime-embedded", &limits),
    ]);
    let summary = summarize(&run, &all_measured(&run));
    let notes = doubts(&summary, Reason::UnequalResources);
    let expected =
        "not only the resources differ from those of native-1, but also what runs: wasm-2";
    assert_eq!(notes.len(), 1);
    assert!(!notes[0].breaks_trust);
    assert_eq!(notes[0].message, expected);
    assert_eq!(summary.trustworthy, Some(true));
}

#[test]
fn ratios_of_a_limit_alone_or_of_a_program_alone_are_not_noted() {
    let limit = json!({"cpu": "1"});
    let programs = input(vec![
        variant("native", "native", &limit),
        variant("wasm", "wasmtime-embedded", &limit),
    ]);
    for run in [one_or_two(), programs, run()] {
        let summary = summarize(&run, &all_measured(&run));
        assert_eq!(
            doubts(&summary, Reason::UnequalResources),
            [] as [&Doubt; 0]
        );
    }
}

#[test]
fn services_that_use_as_many_cpus_as_their_limits_let_them_are_not_noted_as_unequal() {
    let used = |run: &RunInput| {
        let mut records = all_measured(run);
        for record in &mut records {
            let hundredths = if record.trial.cell.variant == run.spec.variants[0].name {
                95
            } else {
                190
            };
            let window = record.load_mut().unwrap().timed.as_mut().unwrap();
            let used = window.duration_nanoseconds / 100 * hundredths;
            window.subject.as_mut().unwrap().cpu_nanoseconds = used;
            window.node = None;
        }
        let summary = summarize(run, &records);
        doubts(&summary, Reason::UnequalCpus).len()
    };
    assert_eq!(used(&run()), 1, "without limits");
    assert_eq!(used(&one_or_two()), 0);
}

#[test]
fn limits_stand_wherever_variants_are_listed() {
    let run = one_or_two();
    let summary = summarize(&run, &all_measured(&run));
    let report = report_md(&summary, usize::MAX);
    let page = report_html(&summary, usize::MAX);
    let terminal = status_text(&BenchmarkRun::new("limits", run.spec.clone()));
    for limits in ["1 CPU, 512Mi", "2 CPU, 1Gi"] {
        assert!(report.contains(limits), "{report}");
        assert!(page.contains(&format!("({limits})")), "{page}");
        assert!(terminal.contains(limits), "{terminal}");
    }
    let csv = summary_csv(&summary);
    let mut lines = csv.lines();
    let title = lines.next().unwrap();
    assert!(
        title.ends_with(",cpu_limit_cores,memory_limit_bytes"),
        "{title}"
    );
    for line in lines {
        let limits = if line.starts_with("one-cpu") {
            ",1,536870912"
        } else {
            ",2,1073741824"
        };
        assert!(line.ends_with(limits), "{line}");
    }
}

#[test]
fn runs_without_limits_of_variants_show_none() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    assert!(!report_md(&summary, usize::MAX).contains("Limits"));
    assert!(!summary_csv(&summary).contains("memory_limit_bytes"));
    let terminal = status_text(&BenchmarkRun::new("none", run.spec.clone()));
    assert!(!terminal.contains("Limits"), "{terminal}");
}
