//! Data that older versions stored is still readable: runs with `pairing: Duet`, and records of
//! trials in which the baseline was loaded at the same time.

use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_core::validate::validate;
use wasmbench_model::store;
use wasmbench_model::wire::failure::FailureReason;
use wasmbench_model::wire::record::{Cell, Outcome, Record, TrialId};
use wasmbench_report::files::report_files;
use wasmbench_results::read::trial::{Trial, TrialState};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::trial_reason::TrialReason;

use crate::common;
use crate::results_support::{failed, measured, run, trials};

/// A record of a duet as it was stored, including its data on the baseline.
fn duet_json(trial: TrialId, position: u32) -> Value {
    let baseline = Cell {
        variant: "native".into(),
        ..trial.cell.clone()
    };
    let half = TrialId {
        cell: baseline,
        ..trial
    };
    let half = serde_json::to_value(measured(half, position)).unwrap();
    let mut record = serde_json::to_value(measured(trial, position)).unwrap();
    record["duetSubject"] = half["subject"].clone();
    record["document"]["timed"]["neighbour"] = json!({"cpuNanoseconds": 1_200_000_000});
    record["document"]["duet"] = json!({
        "cpus": {"side": "left", "pinnedBy": "probe", "idle": "4", "shareACore": true},
        "overlap": 0.99,
        "baseline": half["document"],
    });
    record
}

fn duet(trial: TrialId, position: u32) -> Record {
    serde_json::from_value(duet_json(trial, position)).expect("an old record reads")
}

/// The records of a run of duets: the baseline had no records of its own.
fn duets(run: &RunInput) -> Vec<Record> {
    let trials = trials(run).into_iter().zip(0..);
    let duets = trials.filter(|(trial, _)| trial.cell.variant != "native");
    duets.map(|(trial, at)| duet(trial, at)).collect()
}

fn trials_of<'a>(summary: &'a Summary, variant: &'a str) -> impl Iterator<Item = &'a Trial> {
    summary
        .cells
        .iter()
        .filter(move |cell| cell.variant == variant)
        .flat_map(|cell| &cell.detail.trials)
}

#[test]
fn a_record_of_a_duet_is_still_one_when_it_is_stored_again() {
    let run = run();
    let record = duet(trials(&run).remove(0), 0);
    assert!(record.load().unwrap().is_duet);
    let again = store::decode(&store::encode(&record).unwrap()).unwrap();
    assert_eq!(again, record);
    let plain = measured(trials(&run).remove(0), 0);
    assert!(!plain.load().unwrap().is_duet);
    let json = serde_json::to_value(&plain).unwrap();
    assert_eq!(json["document"].get("duet"), None);
}

#[test]
fn trials_of_duets_are_left_out_with_a_reason_and_a_remedy() {
    let run = run();
    let summary = summarize(&run, &duets(&run));
    assert_eq!(summary.comparisons, []);
    assert_eq!(summary.trials.valid + summary.trials.invalid, 0);
    assert_eq!(summary.trials.failed * 2, summary.trials.planned);
    for trial in trials_of(&summary, "embedded") {
        assert_eq!(trial.state, TrialState::Failed);
        assert_eq!(
            trial.reason,
            Some(TrialReason::Failure(FailureReason::Duet))
        );
        assert_eq!((trial.metrics.requests, trial.metrics.rps), (0, None));
    }
    let report = &report_files(&run, &duets(&run)).unwrap()["report.md"];
    for expected in ["Duet", "without spec.pairing"] {
        assert!(report.contains(expected), "{expected}:\n{report}");
    }
}

#[test]
fn plain_trials_beside_those_of_duets_count_as_ever() {
    let run = run();
    let of = |(trial, at): (TrialId, u32)| match trial.block {
        1 => duet(trial, at),
        _ => measured(trial, at),
    };
    let records: Vec<Record> = trials(&run).into_iter().zip(0..).map(of).collect();
    let summary = summarize(&run, &records);
    for variant in ["native", "embedded"] {
        for trial in trials_of(&summary, variant) {
            assert_eq!(trial.state == TrialState::Failed, trial.block == 1);
        }
    }
    assert!(
        summary
            .comparisons
            .iter()
            .all(|found| found.estimate.blocks == 4)
    );
    assert!(!summary.comparisons.is_empty());
}

#[test]
fn a_duet_that_failed_reads_and_keeps_its_own_reason() {
    let run = run();
    let trial = trials(&run).pop().unwrap();
    for reason in [
        "DuetApart",
        "SubjectNotPinned",
        "TooFewCpus",
        "BaselineFailed",
    ] {
        let mut json = duet_json(trial.clone(), 0);
        let outcome = serde_json::to_value(failed(reason, "as it was")).unwrap();
        for (name, value) in outcome.as_object().unwrap() {
            json[name] = value.clone();
        }
        let failure = json!({"reason": reason, "message": "as it was"});
        json["document"]["failure"] = failure.clone();
        json["document"]["duet"]["baseline"]["failure"] = failure;
        let record: Record = serde_json::from_value(json).expect("an old record reads");
        assert!(matches!(record.outcome, Outcome::Failed { .. }));
        let failure = record.load().unwrap().failure.as_ref();
        assert_eq!(failure.unwrap().reason.word(), reason);
        let summary = summarize(&run, &[record]);
        let told = trials_of(&summary, &trial.cell.variant).next().unwrap();
        assert_eq!(told.reason.as_ref().unwrap().word(), reason);
    }
}

#[test]
fn a_finished_run_of_duets_reads_and_stays_finished() {
    let text = common::RUN.replace("\nspec:\n", "\nspec:\n  pairing: Duet\n");
    assert!(text.contains("pairing: Duet"));
    let status = r#"
status:
  seed: 7
  conditions:
  - {type: Finished, status: "True", reason: Complete, message: "", lastTransitionTime: "2026-01-05T10:00:00Z"}
"#;
    let run: BenchmarkRun = serde_yaml::from_str(&(text + status)).expect("an old run reads");
    assert!(run.is_finished());
    validate(&run, &common::config()).expect("its reports can be computed again");
}

/// A run and its records, as an older version stored them.
fn stored(text: &str) -> (RunInput, Vec<Record>) {
    let stored: Value = serde_json::from_str(text).unwrap();
    let run: BenchmarkRun = serde_json::from_value(stored["run"].clone()).unwrap();
    let records = serde_json::from_value(stored["records"].clone()).unwrap();
    (RunInput::new(&run, 0), records)
}

/// As stored by a version whose windows were one run of fortio.
#[test]
fn records_of_windows_in_one_run_give_the_numbers_of_then() {
    let text = include_str!("../fixtures/records/window-in-one-run.json");
    let (run, records) = stored(text);
    let summary = summarize(&run, &records);
    // Requests per second, median latency, CPU time per request and memory, as in the summary.json
    // of that version.
    for (variant, expected) in [
        ("http-old", (23_915.0, 414.8, 39.23, 5_693_440)),
        ("http-new", (33_058.0, 274.7, 27.01, 4_706_304)),
    ] {
        let found = trials_of(&summary, variant).find(|trial| trial.metrics.requests > 0);
        let metrics = &found.expect("a trial").metrics;
        let numbers = (
            metrics.rps.unwrap(),
            metrics.p50.unwrap(),
            metrics.cpu.unwrap(),
            metrics.memory.unwrap(),
        );
        assert_eq!(numbers, expected, "{variant}");
    }
}

/// Contains only the fields that the first version of each sweep knew: no class or floor of a cold
/// start, no noise of a peak, no CPUs of a climb.
#[test]
fn records_of_the_first_version_of_each_sweep_give_their_numbers() {
    let text = include_str!("../fixtures/records/first-of-each-sweep.json");
    let (run, records) = stored(text);
    let summary = summarize(&run, &records);
    assert_eq!((summary.trials.valid, summary.trials.planned), (3, 3));
    let start = &summary.cold_starts[0];
    let [listening, answer] = [
        &start.detail.create_to_listening,
        &start.detail.create_to_answer,
    ]
    .map(|time| time.as_ref().unwrap().p50_microseconds.median);
    assert_eq!((listening, answer), (85_000.0, 125_000.0));
    let load = summary.cells[0].detail.open_loop.expect("an open loop");
    let (p50, p99) = (load.p50_microseconds, load.p99_microseconds);
    assert_eq!((p50.median, p99.median), (300.0, 2500.0));
    let slope = summary.density[0].detail.bytes_per_instance;
    assert_eq!(slope.map(|slope| slope.median), Some(5_000_000.0));
    let report = &report_files(&run, &records).unwrap()["report.md"];
    for section in ["## Cold start", "## Open loop", "## Density"] {
        assert!(report.contains(section), "{section}:\n{report}");
    }
}

#[test]
fn records_of_older_versions_are_the_same_when_they_are_stored_again() {
    for text in [
        include_str!("../fixtures/records/window-in-one-run.json"),
        include_str!("../fixtures/records/first-of-each-sweep.json"),
    ] {
        for record in stored(text).1 {
            let again = store::decode(&store::encode(&record).unwrap()).unwrap();
            assert_eq!(again, record);
        }
    }
}
