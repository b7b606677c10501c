//! Records of duets to results: ratios are those of the two halves, whichever way both went, and the
//! baseline is what it was beside each variant.

use serde_json::json;
use wasmbench_core::results::across::{Side as RunSide, Weight, across};
use wasmbench_core::results::compare::Metric;
use wasmbench_core::results::trial::TrialState;
use wasmbench_core::results::{RunInput, Summary, report_files, summarize};
use wasmbench_core::wire::document::{
    Duet, LoadDocument, Neighbour, ProbeFailure, ProbeFailureReason,
};
use wasmbench_core::wire::instrument::{CpuLists, DuetCpus, PinnedBy, Side};
use wasmbench_core::wire::record::{Cell, Outcome, Record, TrialId};

use crate::results_support;
use crate::results_support::{measured, run_with, slower, trials};

fn duets() -> RunInput {
    run_with(json!({
        "blocks": 5,
        "pairing": "Duet",
        "noiseFloor": true,
        "variants": [{"name": "native", "preset": "native"}, {"name": "embedded", "preset": "native"}],
        "workloads": [{"name": "hello", "path": "/", "expect": {"bodySuffix": "hello"}}],
        "sweeps": {"warmLatency": {"requests": 300}, "throughput": {"connections": [10]}},
    }))
}

/// How much slower the node is in a trial: both halves of a duet see the same.
fn weather(position: u32) -> f64 {
    1.0 + 0.1 * f64::from(position * 7 % 5)
}

fn on(cpus: [&str; 2]) -> CpuLists {
    CpuLists {
        subject: Some(cpus[0].into()),
        generator: Some(cpus[1].into()),
        cpus_disjoint: Some(true),
    }
}

fn stretched(mut document: LoadDocument, factor: f64) -> LoadDocument {
    if let Some(window) = &mut document.timed {
        window.fortio = slower(window.fortio.take(), factor);
        window.neighbour = Some(Neighbour {
            cpu_nanoseconds: Some(0),
        });
    }
    document
}

/// A duet: the variant of `trial` takes 1.5 times as long as the baseline, unless it is its twin.
fn duet(trial: TrialId, position: u32) -> Record {
    let baseline = TrialId {
        cell: Cell {
            variant: "native".into(),
            ..trial.cell.clone()
        },
        block: 5,
    };
    let cost = if trial.cell.variant == "embedded" {
        1.5
    } else {
        1.0
    };
    let half = measured(baseline.clone(), position);
    let document = half.document.clone().expect("a document");
    let mut record = measured(trial, position);
    let mut variant = stretched(document.clone(), weather(position) * cost);
    variant.cpus = Some(on(["0", "1"]));
    let mut other = stretched(document, weather(position));
    other.cpus = Some(on(["2", "3"]));
    variant.duet = Some(Box::new(Duet {
        cpus: Some(DuetCpus {
            side: Side::Left,
            pinned_by: PinnedBy::Probe,
            idle: Some("4".into()),
            share_a_core: false,
        }),
        overlap: Some(0.99),
        baseline: other,
    }));
    record.document = Some(variant);
    record.duet_subject = half.subject;
    record
}

fn records(run: &RunInput) -> Vec<Record> {
    let trials = trials(run).into_iter().zip(0..);
    trials
        .map(|(trial, position)| duet(trial, position))
        .collect()
}

fn baseline_cells(
    summary: &Summary,
) -> impl Iterator<Item = &wasmbench_core::results::summary::CellSummary> {
    summary.cells.iter().filter(|cell| cell.variant == "native")
}

#[test]
fn ratios_are_those_of_the_halves_whatever_the_node_did() {
    let run = duets();
    let summary = summarize(&run, &records(&run));
    assert_eq!(summary.trustworthy, Some(true), "{:#?}", summary.doubts);
    assert_eq!(summary.trials.planned, 20, "duets, not halves");
    assert_eq!(summary.trials.valid, 20);
    for (metric, expected) in [(Metric::ThroughputRps, 1.0 / 1.5), (Metric::WarmP50, 1.5)] {
        let mut found = summary.comparisons.iter();
        let found = found.find(|c| c.metric == metric).expect("a comparison");
        assert_eq!(found.blocks, 5);
        for ratio in &found.per_block {
            assert!(
                (ratio / expected - 1.0).abs() < 0.01,
                "{metric:?}: {found:?}"
            );
        }
    }
    for floor in &summary.noise_floors {
        assert!((floor.ratio - 1.0).abs() < 1e-9, "{floor:?}");
    }
}

#[test]
fn the_baseline_has_a_trial_beside_each_variant_in_each_block() {
    let run = duets();
    let summary = summarize(&run, &records(&run));
    for cell in baseline_cells(&summary) {
        assert_eq!((cell.counts.planned, cell.counts.valid), (10, 10));
        let beside = |name: &str| {
            let trials = cell.trials.iter();
            trials.filter(|t| t.beside.as_deref() == Some(name)).count()
        };
        assert_eq!((beside("embedded"), beside("baseline-twin")), (5, 5));
    }
    let text = serde_json::to_string(&summary).expect("JSON");
    let read: Summary = serde_json::from_str(&text).expect("a summary");
    let lost = |summary: &Summary| {
        let trials = summary.cells.iter().flat_map(|cell| &cell.trials);
        trials
            .map(|t| (t.block, t.beside.clone(), t.state, t.metrics.rps))
            .collect::<Vec<_>>()
    };
    assert_eq!(lost(&read), lost(&summary));
}

#[test]
fn the_report_says_that_it_was_a_duet_and_where_the_sides_were() {
    let run = duets();
    let files = report_files(&run, &records(&run)).expect("a report");
    let report = &files["report.md"];
    for expected in [
        "Measured in duets",
        "do not compare with those of runs without duets",
        "left: subject 0, generator 1; right: subject 2, generator 3; left to the system: 4; pinned by \
         the probe",
        "Beside",
    ] {
        assert!(report.contains(expected), "{expected}:\n{report}");
    }
}

fn fail(record: &mut Record, reason: ProbeFailureReason, of_baseline: bool) {
    let word: &str = reason.into();
    let failure = ProbeFailure {
        reason,
        message: "as it was".into(),
    };
    let own = if of_baseline { "BaselineFailed" } else { word };
    record.outcome = Outcome::Failed {
        reason: own.into(),
        message: "as it was".into(),
    };
    let document = record.document.as_mut().expect("a document");
    document.timed = None;
    let duet = document.duet.as_mut().expect("a duet");
    duet.baseline.timed = None;
    if of_baseline {
        duet.baseline.failure = Some(failure);
    } else {
        document.failure = Some(failure);
    }
}

#[test]
fn a_variant_that_fails_takes_no_trial_from_the_baseline() {
    let run = duets();
    let mut records = records(&run);
    for record in &mut records {
        if record.trial.cell.variant == "embedded" {
            fail(record, ProbeFailureReason::WrongAnswer, false);
        }
    }
    let summary = summarize(&run, &records);
    for cell in baseline_cells(&summary) {
        assert!(cell.ranked, "{:?}", cell.invalid_because);
        assert_eq!((cell.counts.planned, cell.counts.valid), (5, 5));
    }
    assert!(summary.comparisons.is_empty());
    assert!(!summary.noise_floors.is_empty());
}

#[test]
fn a_baseline_that_fails_is_wrong_itself_and_its_variant_is_not() {
    let run = duets();
    let mut records = records(&run);
    let one = records
        .iter_mut()
        .find(|r| r.trial.cell.variant == "embedded");
    fail(one.expect("a duet"), ProbeFailureReason::WrongAnswer, true);
    let summary = summarize(&run, &records);
    let invalid = |variant: &str| {
        let mut cells = summary.cells.iter().filter(|cell| cell.variant == variant);
        cells.any(|cell| !cell.invalid_because.is_empty())
    };
    assert!(invalid("native"));
    assert!(!invalid("embedded"));
    let failed = summary.cells.iter().flat_map(|cell| &cell.trials);
    let failed = failed.filter(|trial| trial.state == TrialState::Failed);
    assert_eq!(failed.count(), 2, "one duet, both halves");
}

/// What is not the same in a run of duets and in another run, with these records.
fn differences(after: &RunInput, records_after: &[Record]) -> Vec<(String, Weight)> {
    let before = duets();
    let one = summarize(&before, &records(&before));
    let other = summarize(after, records_after);
    let side = |run, summary| RunSide { spec: run, summary };
    let found = across(side(&before.spec, &one), side(&after.spec, &other), false);
    let weighed = found.differences.into_iter();
    weighed.map(|found| (found.what, found.weight)).collect()
}

fn weight(found: &[(String, Weight)], what: &str) -> Option<Weight> {
    let mut found = found.iter().filter(|(named, _)| named == what);
    found.next().map(|(_, weight)| *weight)
}

#[test]
fn runs_with_and_without_duets_do_not_compare() {
    let mut after = duets();
    after.spec.pairing = wasmbench_api::run::Pairing::Alternating;
    let found = differences(&after, &results_support::all_measured(&after));
    assert_eq!(weight(&found, "spec.pairing"), Some(Weight::Forbids));
}

#[test]
fn duets_beside_another_baseline_do_not_compare_and_other_variants_are_what_is_compared() {
    let differences_of_duets = |change: &dyn Fn(&mut RunInput)| {
        let mut after = duets();
        change(&mut after);
        differences(&after, &records(&after))
    };
    let same = differences_of_duets(&|_| ());
    assert!(
        same.iter().all(|(_, weight)| *weight != Weight::Forbids),
        "{same:?}"
    );
    let other = differences_of_duets(&|run| run.spec.baseline = Some("embedded".into()));
    let baseline = "baseline, the neighbour in each duet";
    assert_eq!(weight(&other, baseline), Some(Weight::Forbids), "{other:?}");
    let engine = |variant: &'static str| {
        move |run: &mut RunInput| {
            let mut all = run.spec.variants.iter_mut();
            let variant = all.find(|one| one.name == variant).expect("it is there");
            variant.preset = Some(wasmbench_api::run::Preset::WasmtimeServe);
        }
    };
    let neighbour = differences_of_duets(&engine("native"));
    let preset = weight(&neighbour, "spec.variants.native.preset");
    assert_eq!(preset, Some(Weight::Forbids), "{neighbour:?}");
    let compared = differences_of_duets(&engine("embedded"));
    let preset = weight(&compared, "spec.variants.embedded.preset");
    assert_eq!(preset, Some(Weight::Compared), "{compared:?}");
}

/// Records of a node that is as fast in all trials of a block.
fn records_with_weather_by_block(run: &RunInput) -> Vec<Record> {
    let of_block = |trial: TrialId| {
        let block = trial.block;
        duet(trial, block)
    };
    trials(run).into_iter().map(of_block).collect()
}

#[test]
fn several_halves_of_one_block_make_the_baselines_interval_no_narrower() {
    let run = duets();
    let summary = summarize(&run, &records_with_weather_by_block(&run));
    for cell in baseline_cells(&summary) {
        assert_eq!((cell.counts.valid, cell.valid_blocks()), (10, 5));
        let rates = || cell.trials.iter().filter_map(|trial| trial.metrics.rps);
        let spread = cell.rps.expect("a rate");
        let smallest = rates().fold(f64::MAX, f64::min);
        let largest = rates().fold(0.0, f64::max);
        assert!(largest / smallest > 1.3, "the blocks differ");
        // Of five blocks it reaches from the smallest to the largest; ten trials would have a narrower one.
        assert!((spread.low / smallest - 1.0).abs() < 1e-4, "{spread:?}");
        assert!((spread.high / largest - 1.0).abs() < 1e-4, "{spread:?}");
    }
}

#[test]
fn a_single_block_of_duets_has_no_interval() {
    let mut run = duets();
    run.spec.blocks = 1;
    let summary = summarize(&run, &records_with_weather_by_block(&run));
    assert!(baseline_cells(&summary).all(|cell| cell.counts.valid == 2));
    let points = wasmbench_core::results::tables::points(&summary, "hello").markdown();
    assert!(!points.contains("Interval"), "{points}");
}
