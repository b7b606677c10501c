//! Cold starts from records to every place where people see them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

use std::collections::BTreeMap;

use proptest::prelude::*;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_api::run::TWIN;
use wasmbench_core::results::coldstart::ColdStartCell;
use wasmbench_core::results::compare::comparisons;
use wasmbench_core::results::expectations::Outcome as Expected;
use wasmbench_core::results::judge::Verdict;
use wasmbench_core::results::quality::Reason;
use wasmbench_core::results::summary::Summary;
use wasmbench_core::results::{RunInput, report_files, status_table, summarize};
use wasmbench_core::status::Conclusion;
use wasmbench_core::wire::cold_start::{
    COLD_START_SCHEMA, Clock, ColdPod, ColdSample, ColdStartDocument, ColdStep, Moment,
};
use wasmbench_core::wire::document::{Answer, Environment};
use wasmbench_core::wire::record::{
    Cell, Outcome, Point, RECORD_SCHEMA, Record, SubjectFacts, TrialId,
};

const RUN: &str = r"
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: thaw, namespace: team-a, uid: 6f0c0e6e-0000-4000-8000-000000000001}
spec:
  blocks: 5
  seed: 7
  noiseFloor: false
  variants: [{name: tortoise, preset: native}, {name: hare, preset: wasmtime-embedded}]
  workloads: [{name: greet, expect: {sameAcrossVariants: true}}]
  sweeps: {coldStart: {samples: 3, concurrency: [1, 4]}}
";

const STEPS: [(ColdStep, i64, Clock); 8] = [
    (ColdStep::CreateSent, 0, Clock::Probe),
    (ColdStep::CreateAccepted, 5, Clock::Probe),
    (ColdStep::Scheduled, 9, Clock::WatchArrival),
    (ColdStep::SandboxReady, 180, Clock::WatchArrival),
    (ColdStep::Listening, 300, Clock::LogStamp),
    (ColdStep::ReadyPublished, 320, Clock::WatchArrival),
    (ColdStep::FirstCorrectAnswer, 321, Clock::Probe),
    (ColdStep::DeletionFinished, 2000, Clock::WatchArrival),
];

fn run() -> BenchmarkRun {
    serde_yaml::from_str(RUN).unwrap()
}

fn input() -> RunInput {
    RunInput::new(&run(), 7)
}

/// A pod whose steps take `factor` times as long as the table says, `extra` milliseconds later.
fn pod(factor: f64, extra: f64) -> ColdPod {
    let moment = |&(step, milliseconds, clock): &(ColdStep, i64, Clock)| {
        let late = if step >= ColdStep::Listening {
            extra
        } else {
            0.0
        };
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
        let nanoseconds = ((milliseconds as f64 * factor + late) * 1e6) as i64;
        let uncertainty_nanoseconds = None;
        let moment = Moment {
            nanoseconds,
            clock,
            uncertainty_nanoseconds,
        };
        (step, moment)
    };
    ColdPod {
        pod: "p".into(),
        image_id: Some("sha256:1".into()),
        class: Some(ColdStartClass::ImageCached),
        pull: None,
        steps: STEPS.iter().map(moment).collect(),
        attempts: 1,
        api_stamps: BTreeMap::new(),
    }
}

/// A sample of pods that do nothing but listen, in half the time of the table.
fn floor(discarded: bool, concurrency: u32) -> ColdSample {
    let late = if discarded { 500.0 } else { 0.0 };
    ColdSample {
        discarded,
        wrong_class: false,
        compiled_before: None,
        compiled_after: None,
        layers: None,
        start_unix_nanoseconds: 1_000_000_000,
        clock_shift_nanoseconds: 100,
        pods: (0..concurrency).map(|_| pod(0.5, late)).collect(),
    }
}

fn document(trial: &TrialId) -> ColdStartDocument {
    let Point::ColdStart { concurrency } = trial.cell.point else {
        panic!("not a cold start")
    };
    let factor = if trial.cell.variant == "hare" {
        1.5
    } else {
        1.0
    };
    let factor = factor * (1.0 + f64::from(trial.block) / 100.0);
    let sample = |number: u32| ColdSample {
        discarded: number == 0,
        wrong_class: false,
        compiled_before: None,
        compiled_after: None,
        layers: None,
        start_unix_nanoseconds: 1_000_000_000,
        clock_shift_nanoseconds: 100,
        pods: (0..concurrency)
            .map(|index| {
                let first = if number == 0 { 500.0 } else { 0.0 };
                pod(factor, f64::from(index * 20 + number) + first)
            })
            .collect(),
    };
    ColdStartDocument {
        schema: COLD_START_SCHEMA.into(),
        probe_version: "0.1.0".into(),
        failure: None,
        samples: (0..=3).map(sample).collect(),
        floor: if trial.cell.variant == "tortoise" {
            vec![floor(true, concurrency), floor(false, concurrency)]
        } else {
            vec![]
        },
        floor_failure: None,
        answer: Some(Answer {
            status: 200,
            body_bytes: 5,
            body_sha256: "aa".repeat(32),
            excerpt: "hello".into(),
        }),
        environment: Environment {
            facts: BTreeMap::from([("kernel".into(), "6.1".into())]),
            ..Environment::default()
        },
    }
}

fn record(trial: TrialId, position: u32) -> Record {
    Record {
        schema: RECORD_SCHEMA.into(),
        run_uid: "6f0c0e6e-0000-4000-8000-000000000001".into(),
        position,
        outcome: Outcome::Measured,
        operator_version: "0.1.0".into(),
        recorded_at: jiff::Timestamp::UNIX_EPOCH,
        subject: Some(SubjectFacts {
            pod: "p".into(),
            node: "bench-1".into(),
            image: format!("wasmbench/{}:0.1.0", trial.cell.variant),
            ..SubjectFacts::default()
        }),
        duet_subject: None,
        document: None,
        cold_start: Some(document(&trial)),
        density: None,
        trial,
    }
}

fn records() -> Vec<Record> {
    let mut records = vec![];
    for block in 1..=5 {
        for variant in ["tortoise", "hare"] {
            for concurrency in [1, 4] {
                let cell = Cell {
                    variant: variant.into(),
                    workload: "greet".into(),
                    point: Point::ColdStart { concurrency },
                };
                let position = u32::try_from(records.len()).unwrap();
                records.push(record(TrialId { cell, block }, position));
            }
        }
    }
    records
}

fn summary_of(records: &[Record]) -> Summary {
    summarize(&input(), records)
}

fn shown(summary: &Summary) -> String {
    let conclusion = Conclusion::of(summary, vec![]);
    let mut run = run();
    run.status = Some(wasmbench_api::BenchmarkRunStatus {
        baseline: Some("tortoise".into()),
        harness_floor: conclusion.harness_floor,
        summary: conclusion.rows,
        verdict: Some(conclusion.verdict),
        ..Default::default()
    });
    status_table::status_text(&run)
}

#[test]
fn a_report_of_cold_starts_whole() {
    let files = report_files(&input(), &records()).unwrap();
    insta::assert_snapshot!("cold-start-report", files["report.md"]);
    insta::assert_snapshot!("cold-start-summary", files["summary.json"]);
    insta::assert_snapshot!("cold-start-terminal", shown(&summary_of(&records())));
}

#[test]
fn discarded_samples_are_shown_and_never_count() {
    let summary = summary_of(&records());
    let cell = &summary.cold_starts[0];
    assert_eq!((cell.pods, cell.counts.valid), (15, 5));
    let block = &cell.blocks[0];
    assert!(block.listening.unwrap() < 310_000.0, "{block:?}");
    assert!(block.discarded_listening.unwrap() > 800_000.0, "{block:?}");
}

#[test]
fn the_harness_floor_is_that_of_its_pods_and_stands_in_report_status_and_terminal() {
    let summary = summary_of(&records());
    let points: Vec<(u32, u32, u32)> = summary
        .harness_floors
        .iter()
        .map(|floor| (floor.concurrency, floor.blocks, floor.pods))
        .collect();
    assert_eq!(points, [(1, 5, 5), (4, 5, 20)]);
    let listening = summary.harness_floors[0].listening_microseconds.unwrap();
    assert!((listening.median - 150_000.0).abs() < 1.0, "{listening:?}");
    let status = Conclusion::of(&summary, vec![]).harness_floor;
    let answer = status[1].answer.as_ref().unwrap().p50_microseconds;
    assert!((answer - 160_500.0).abs() < 100.0, "{answer}");
    assert!(shown(&summary).contains("harness floor"));
    let numbers = [summary.cold_starts[0].pods, summary.cold_starts[1].pods];
    assert_eq!(numbers, [15, 60], "floor pods are in no other number");
}

#[test]
fn ratios_are_taken_within_blocks() {
    let summary = summary_of(&records());
    let hare = summary
        .cold_starts
        .iter()
        .find(|cell| cell.variant == "hare")
        .unwrap();
    let found = hare.create_to_listening.as_ref().unwrap();
    let ratio = found.versus_baseline.as_ref().unwrap();
    assert_eq!(ratio.per_block.len(), 5);
    assert!((1.49..1.51).contains(&ratio.ratio.median), "{ratio:?}");
    assert!(
        summary.cold_starts[0]
            .create_to_listening
            .as_ref()
            .unwrap()
            .versus_baseline
            .is_none()
    );
}

#[test]
fn the_makespan_of_pods_at_once_ends_with_the_last_of_them() {
    let summary = summary_of(&records());
    let four = &summary.cold_starts[1];
    assert_eq!(four.concurrency, 4);
    let makespan = four.makespan_microseconds.unwrap().median;
    let median = four
        .create_to_answer
        .as_ref()
        .unwrap()
        .p50_microseconds
        .median;
    assert!(
        (makespan - median - 30_000.0).abs() < 1_000.0,
        "{makespan} {median}"
    );
    assert!(summary.cold_starts[0].makespan_microseconds.is_none());
}

#[test]
fn a_step_without_evidence_is_absent_and_the_others_stay() {
    let mut records = records();
    for record in &mut records {
        let document = record.cold_start.as_mut().unwrap();
        let samples = document.samples.iter_mut().chain(&mut document.floor);
        for pod in samples.flat_map(|sample| &mut sample.pods) {
            pod.steps.remove(&ColdStep::Listening);
        }
    }
    let summary = summary_of(&records);
    assert!(
        summary
            .cold_starts
            .iter()
            .all(|cell| cell.create_to_listening.is_none())
    );
    assert!(
        summary.verdict.contains("create to answer"),
        "{}",
        summary.verdict
    );
    assert!(
        !shown(&summary).contains("LISTENING"),
        "{}",
        shown(&summary)
    );
}

#[test]
fn a_variant_that_answers_differently_is_not_compared() {
    let mut records = records();
    for record in records
        .iter_mut()
        .filter(|record| record.trial.cell.variant == "hare")
    {
        let answer = record.cold_start.as_mut().unwrap().answer.as_mut().unwrap();
        answer.body_sha256 = "bb".repeat(32);
    }
    let summary = summary_of(&records);
    let hare = summary
        .cold_starts
        .iter()
        .find(|cell| cell.variant == "hare")
        .unwrap();
    assert_eq!((hare.counts.valid, hare.counts.invalid), (0, 5));
    assert!(hare.create_to_listening.is_none());
    assert_eq!(summary.trustworthy, Some(false));
}

#[test]
fn failed_and_missing_trials_are_doubted_and_counted() {
    let mut records = records();
    records[0].outcome = Outcome::Failed {
        reason: "SubjectCrashed".into(),
        message: "the container ended".into(),
    };
    records.pop();
    let summary = summary_of(&records);
    let counts = summary.trials;
    assert_eq!(
        (counts.valid, counts.failed, counts.missing, counts.planned),
        (18, 1, 1, 20)
    );
    assert_eq!(summary.trustworthy, Some(false));
    let rows = Conclusion::of(&summary, vec![]).rows;
    assert_eq!(rows[0].cold_start[0].failed_trials, 1);
}

#[test]
fn a_run_without_cold_starts_says_nothing_of_them() {
    let mut run = run();
    run.spec.sweeps = serde_yaml::from_str("warmLatency: {}").unwrap();
    let files = report_files(&RunInput::new(&run, 7), &records()).unwrap();
    assert!(!files["report.md"].contains("Cold start"));
    assert!(!files["summary.json"].contains("coldStarts"));
}

/// Records of a run in which the baseline has a twin, `factor` times as slow.
fn records_with_twin(factor: f64) -> (RunInput, Vec<Record>) {
    let mut run = run();
    run.spec.noise_floor = Some(true);
    let mut records = records();
    let baseline: Vec<Record> = records
        .iter()
        .filter(|record| record.trial.cell.variant == "tortoise")
        .cloned()
        .collect();
    for mut twin in baseline {
        TWIN.clone_into(&mut twin.trial.cell.variant);
        let samples = &mut twin.cold_start.as_mut().unwrap().samples;
        for pod in samples.iter_mut().flat_map(|sample| &mut sample.pods) {
            for moment in pod.steps.values_mut() {
                #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
                let later = (moment.nanoseconds as f64 * factor) as i64;
                moment.nanoseconds = later;
            }
        }
        records.push(twin);
    }
    (RunInput::new(&run, 7), records)
}

fn verdicts(summary: &Summary, variant: &str) -> Vec<Option<Verdict>> {
    let cells = summary.cold_starts.iter();
    cells
        .filter(|cell| cell.variant == variant)
        .flat_map(|cell| [&cell.create_to_listening, &cell.create_to_answer])
        .map(|time| {
            let ratio = time.as_ref().unwrap().versus_baseline.as_ref();
            ratio.unwrap().verdict
        })
        .collect()
}

#[test]
fn a_cold_start_half_as_long_again_is_slower() {
    let summary = summary_of(&records());
    assert_eq!(verdicts(&summary, "hare"), [Some(Verdict::Slower); 4]);
    assert!(summary.verdict.contains("slower"), "{}", summary.verdict);
    let rows = Conclusion::of(&summary, vec![]).rows;
    let time = rows[1].cold_start[0].listening.as_ref().unwrap();
    assert_eq!(time.versus_baseline.as_ref().unwrap().verdict, "Slower");
}

#[test]
fn a_difference_that_the_twin_shows_too_is_not_resolvable() {
    let (input, records) = records_with_twin(1.6);
    let summary = summarize(&input, &records);
    assert_eq!(
        verdicts(&summary, "hare"),
        [Some(Verdict::NotResolvable); 4]
    );
    assert_eq!(verdicts(&summary, TWIN), [None; 4]);
    let report = report_files(&input, &records).unwrap()["report.md"].clone();
    assert!(report.contains("noise floor 60 %"), "{report}");
    let (input, records) = records_with_twin(1.01);
    let summary = summarize(&input, &records);
    assert_eq!(verdicts(&summary, "hare"), [Some(Verdict::Slower); 4]);
}

#[test]
fn a_wide_interval_is_inconclusive_and_a_note_says_what_would_decide_it() {
    let mut records = records();
    for record in &mut records {
        let uneven = record.trial.cell.variant == "hare" && record.trial.block % 2 == 0;
        let factor = if uneven { 1.3 / 1.5 } else { 1.0 / 1.5 };
        let samples = &mut record.cold_start.as_mut().unwrap().samples;
        for pod in samples.iter_mut().flat_map(|sample| &mut sample.pods) {
            for moment in pod.steps.values_mut() {
                if record.trial.cell.variant == "hare" {
                    #[expect(clippy::cast_possible_truncation, reason = "milliseconds")]
                    let later = (moment.nanoseconds as f64 * factor) as i64;
                    moment.nanoseconds = later;
                }
            }
        }
    }
    let summary = summary_of(&records);
    let found = verdicts(&summary, "hare");
    assert_eq!(found[0], Some(Verdict::Inconclusive), "{found:?}");
    let doubts = summary.doubts.iter();
    let note = doubts
        .clone()
        .find(|doubt| doubt.reason == Reason::HighVariance);
    let note = &note.unwrap().message;
    assert!(note.contains("cold start to listening of hare"), "{note}");
    assert!(note.contains("blocks"), "{note}");
}

#[test]
fn cold_starts_are_adjusted_for_each_other() {
    let run = run();
    let two = comparisons(&run.spec, "tortoise", &[], &[0.03, 0.9]);
    assert_eq!(two.others_adjusted, [0.06, 0.9]);
    let mut records = records();
    // One pod of one block is late, so that the p-values differ and stay above zero.
    let late = &mut records[2].cold_start.as_mut().unwrap().samples[2].pods[0];
    for moment in late.steps.values_mut() {
        moment.nanoseconds *= 2;
    }
    let summary = summary_of(&records);
    let cells = summary.cold_starts.iter();
    let times = cells.flat_map(|cell| [&cell.create_to_listening, &cell.create_to_answer]);
    let ratios = times.filter_map(|time| time.as_ref()?.versus_baseline.as_ref());
    let found: Vec<[f64; 2]> = ratios
        .map(|ratio| [ratio.p_value.unwrap(), ratio.adjusted_p_value.unwrap()])
        .collect();
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|[p_value, adjusted]| adjusted >= p_value));
    assert!(found.iter().any(|[p_value, adjusted]| adjusted > p_value));
}

#[test]
fn expectations_on_cold_starts_are_decided_at_the_fewest_pods_at_once() {
    let decided = |metric: &str, most: &str| {
        let mut run = run();
        run.spec.expectations = serde_yaml::from_str(&format!(
            "[{{name: gate, metric: {metric}, variant: hare, workload: greet, atMost: '{most}'}}]"
        ))
        .unwrap();
        let summary = summarize(&RunInput::new(&run, 7), &records());
        summary.expectations[0].clone()
    };
    // 1.50x with one pod, 1.45x with four.
    let listening = decided("coldStartListening", "1.48");
    assert_eq!(listening.outcome, Expected::NotMet, "{listening:?}");
    let answer = decided("coldStartAnswer", "1.6");
    assert_eq!(answer.outcome, Expected::Met, "{answer:?}");
    assert!(answer.message.contains("cold start to first answer"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn the_order_of_records_does_not_matter(shuffled in Just(records()).prop_shuffle()) {
        let expected = report_files(&input(), &records()).unwrap();
        prop_assert_eq!(report_files(&input(), &shuffled).unwrap(), expected);
    }
}

/// To look at it: `WRITE_HTML=/tmp/cold.html cargo test -p wasmbench-core --test results_coldstart`.
#[test]
fn every_block_is_a_point_of_the_plots_and_its_discarded_sample_a_crossed_one() {
    let html = &report_files(&input(), &records()).unwrap()["report.html"];
    if let Ok(path) = std::env::var("WRITE_HTML") {
        std::fs::write(path, html).unwrap();
    }
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    roxmltree::Document::parse_with_options(html, options).unwrap();
    // Two plots, two variants, two numbers of pods at once, five blocks.
    assert_eq!(html.matches("median of its pods: ").count(), 2 * 2 * 2 * 5);
    assert_eq!(
        html.matches("the first sample, discarded: ").count(),
        2 * 2 * 2 * 5
    );
    assert!(
        html.contains("hare x4, listening: "),
        "the steps name their clocks"
    );
}

/// The document of a trial of `hare` with one pod at once, to be changed.
fn hares(records: &mut [Record]) -> impl Iterator<Item = &mut ColdStartDocument> {
    let of_hare = |record: &&mut Record| {
        record.trial.cell.variant == "hare"
            && record.trial.cell.point == Point::ColdStart { concurrency: 1 }
    };
    let hares = records.iter_mut().filter(of_hare);
    hares.map(|record| record.cold_start.as_mut().unwrap())
}

fn hare(summary: &Summary) -> &ColdStartCell {
    let mut cells = summary.cold_starts.iter();
    cells
        .find(|cell| cell.variant == "hare" && cell.concurrency == 1)
        .unwrap()
}

fn doubts_of(summary: &Summary, reason: Reason) -> Vec<(bool, &str)> {
    let found = summary.doubts.iter().filter(|doubt| doubt.reason == reason);
    found
        .map(|doubt| (doubt.breaks_trust, doubt.message.as_str()))
        .collect()
}

#[test]
fn a_refilled_sample_of_the_wrong_class_is_counted_and_enters_no_number() {
    let mut all = records();
    for document in hares(&mut all) {
        let mut wrong = document.samples[0].clone();
        wrong.discarded = false;
        wrong.wrong_class = true;
        document.samples.push(wrong);
    }
    let (with, without) = (summary_of(&all), summary_of(&records()));
    assert_eq!(hare(&with).wrong_class_samples, 5);
    assert_eq!(
        hare(&with).create_to_listening,
        hare(&without).create_to_listening
    );
    assert_eq!(hare(&with).counts, hare(&without).counts);
    assert_eq!(hare(&with).invalid_because, []);
    assert_eq!(doubts_of(&with, Reason::CacheClassViolated), []);
    let report = &report_files(&input(), &all).unwrap()["report.md"];
    assert!(report.contains("Wrong class"), "{report}");
}

#[test]
fn a_point_whose_class_did_not_hold_is_shown_and_never_compared() {
    let mut all = records();
    let document = hares(&mut all).next().unwrap();
    document.samples[3].wrong_class = true;
    let summary = summary_of(&all);
    let cell = hare(&summary);
    assert_eq!(cell.invalid_because, [Reason::CacheClassViolated]);
    assert_eq!((cell.counts.valid, cell.counts.invalid), (4, 1));
    let time = cell.create_to_listening.as_ref().unwrap();
    assert_eq!(time.versus_baseline, None);
    assert_eq!(summary.trustworthy, Some(false));
    let doubts = doubts_of(&summary, Reason::CacheClassViolated);
    assert!(
        doubts[0].0 && doubts[0].1.contains("hare on greet"),
        "{doubts:?}"
    );
    let rows = Conclusion::of(&summary, vec![]).rows;
    let points = rows.iter().flat_map(|row| &row.cold_start);
    let invalid: Vec<&str> = points.filter_map(|p| p.invalid.as_deref()).collect();
    assert_eq!(invalid, ["CacheClassViolated"]);
    // The other point of the same variant is as good as before.
    let mut others = summary.cold_starts.iter();
    let other = others.find(|cell| cell.variant == "hare" && cell.concurrency == 4);
    assert!(other.unwrap().is_ranked());
    let verdict = &summary.verdict;
    assert!(
        verdict.contains("on greet, 4 pods") && !verdict.contains("on greet ("),
        "{verdict}"
    );
}

#[test]
fn a_trial_without_any_sample_of_the_right_class_is_invalid_and_not_failed() {
    let mut all = records();
    for document in hares(&mut all) {
        for sample in document.samples.iter_mut().skip(1) {
            sample.wrong_class = true;
        }
    }
    let summary = summary_of(&all);
    let cell = hare(&summary);
    assert_eq!(
        (cell.counts.invalid, cell.counts.failed, cell.pods),
        (5, 0, 0)
    );
    assert_eq!(cell.invalid_because, [Reason::CacheClassViolated]);
    assert_eq!(cell.create_to_listening, None);
}

#[test]
fn what_has_nothing_to_compile_is_compile_cached_as_soon_as_its_image_is_there() {
    use wasmbench_core::wire::cold_start::CompileCache;
    let mut sample = floor(false, 1);
    assert!(
        sample.violates(ColdStartClass::CompileCached),
        "Wasm, or unknown"
    );
    sample.compiled_before = Some(CompileCache::Cold);
    assert!(sample.violates(ColdStartClass::CompileCached));
    sample.compiled_before = Some(CompileCache::NothingToCompile);
    assert!(!sample.violates(ColdStartClass::CompileCached));
    assert!(sample.violates(ColdStartClass::NodeCold));
    sample.pods[0].class = Some(ColdStartClass::CompileCached);
    assert!(sample.violates(ColdStartClass::ImageCached));
}

#[test]
fn samples_without_evidence_of_their_class_count_and_are_named() {
    let mut all = records();
    for document in hares(&mut all) {
        document.samples[2].pods[0].class = None;
    }
    let summary = summary_of(&all);
    assert_eq!(hare(&summary).unverified_samples, 5);
    assert!(hare(&summary).is_ranked());
    let doubts = doubts_of(&summary, Reason::CacheClassViolated);
    assert!(
        !doubts[0].0 && doubts[0].1.contains("5 samples"),
        "{doubts:?}"
    );
}

fn with_uncertainty(nanoseconds: u64) -> Summary {
    let mut all = records();
    for document in hares(&mut all) {
        for pod in document.samples.iter_mut().flat_map(|s| &mut s.pods) {
            let answer = pod.steps.get_mut(&ColdStep::FirstCorrectAnswer).unwrap();
            answer.uncertainty_nanoseconds = Some(nanoseconds);
        }
    }
    summary_of(&all)
}

#[test]
fn answers_that_are_less_sure_than_a_quarter_of_what_matters_are_not_compared() {
    // 5 % of about 490 ms are 25 ms.
    let fine = with_uncertainty(5_000_000);
    assert_eq!(hare(&fine).answer_uncertainty_microseconds, Some(5000.0));
    assert!(hare(&fine).is_ranked());
    let coarse = with_uncertainty(9_000_000);
    assert_eq!(hare(&coarse).invalid_because, [Reason::ClockTooCoarse]);
    let doubts = doubts_of(&coarse, Reason::ClockTooCoarse);
    assert!(doubts[0].0 && doubts[0].1.contains("9.00 ms"), "{doubts:?}");
}

#[test]
fn a_clock_that_was_set_during_a_sample_spoils_the_point() {
    let mut all = records();
    let document = hares(&mut all).next().unwrap();
    document.samples[1].clock_shift_nanoseconds = -40_000_000;
    let summary = summary_of(&all);
    assert_eq!(hare(&summary).invalid_because, [Reason::ClockTooCoarse]);
}

#[test]
fn a_fact_of_the_node_that_changed_within_a_trial_keeps_all_its_points_out_of_comparisons() {
    let mut all = records();
    let document = hares(&mut all).next().unwrap();
    document.environment.before = BTreeMap::from([("kernel".into(), "6.0".into())]);
    let summary = summary_of(&all);
    let drifted = |cell: &ColdStartCell| cell.invalid_because == [Reason::EnvironmentDrifted];
    assert!(summary.cold_starts.iter().all(drifted));
    let doubts = doubts_of(&summary, Reason::EnvironmentDrifted);
    assert!(
        doubts[0].1.contains("probe.kernel: 6.0 / 6.1"),
        "{doubts:?}"
    );
}
