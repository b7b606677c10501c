//! Classes, clocks and a node that changed: which samples and points count.

use std::collections::BTreeMap;

use serde_json::json;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_api::run::Preset;
use wasmbench_controller::status::Conclusion;
use wasmbench_model::wire::cold_start::{ColdStep, CompileCache, NodeSpan};
use wasmbench_model::wire::document::{LoadDocument, NodeCpu};
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_report::files::{report_files, report_files_of};
use wasmbench_results::cells::coldstart::ColdStartCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{doubts_of, hare, hares_ratio, summary_of};
use crate::results_support::cold_starts::{floor, hares, input, records};

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
    assert_eq!(hare(&with).detail.wrong_class_samples, 5);
    assert_eq!(
        hare(&with).detail.create_to_listening,
        hare(&without).detail.create_to_listening
    );
    assert_eq!(hare(&with).counts, hare(&without).counts);
    assert_eq!(hare(&with).invalid_because, []);
    assert_eq!(doubts_of(&with, Reason::CacheClassViolated), []);
    let report = &report_files(&input(), &all).unwrap()["report.md"];
    assert!(report.contains("Wrong class"), "{report}");
}

#[test]
fn a_point_of_the_wrong_cache_class_is_shown_and_never_compared() {
    let mut all = records();
    let document = hares(&mut all).next().unwrap();
    document.samples[3].wrong_class = true;
    let summary = summary_of(&all);
    let cell = hare(&summary);
    assert_eq!(cell.invalid_because, [Reason::CacheClassViolated]);
    assert_eq!((cell.counts.valid, cell.counts.invalid), (4, 1));
    assert_eq!(hares_ratio(&summary, Metric::ColdStartListening), None);
    assert_eq!(summary.trustworthy, Some(true), "what stands is sound");
    let doubts = doubts_of(&summary, Reason::CacheClassViolated);
    assert!(doubts[0].1.contains("hare on greet"), "{doubts:?}");
    let rows = Conclusion::from_summary(&summary, vec![]).rows;
    let points = rows.iter().flat_map(|row| &row.cold_start);
    let invalid: Vec<&str> = points.filter_map(|p| p.invalid.as_deref()).collect();
    assert_eq!(invalid, ["CacheClassViolated"]);
    // The other point of the same variant is unaffected.
    let mut others = summary.cold_starts.iter();
    let other = others.find(|cell| cell.variant == "hare" && cell.detail.concurrency == 4);
    assert!(other.unwrap().ranked);
    let verdict = &summary.verdict;
    assert!(
        verdict.contains("(4 pods at once)") && !verdict.contains("; "),
        "{verdict}"
    );
}

#[test]
fn a_trial_without_a_sample_of_the_right_class_is_invalid_not_failed() {
    let mut all = records();
    for document in hares(&mut all) {
        for sample in document.samples.iter_mut().skip(1) {
            sample.wrong_class = true;
        }
    }
    let summary = summary_of(&all);
    let cell = hare(&summary);
    assert_eq!(
        (cell.counts.invalid, cell.counts.failed, cell.detail.pods),
        (5, 0, 0)
    );
    assert_eq!(cell.invalid_because, [Reason::CacheClassViolated]);
    assert_eq!(cell.detail.create_to_listening, None);
}

#[test]
fn a_present_image_without_anything_to_compile_is_compile_cached() {
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
fn starts_under_a_shim_report_whether_they_compiled_if_it_is_known() {
    let mut input = input();
    input.spec.variants[1].preset = Some(Preset::WasmtimeShim);
    let mut all = records();
    let blind = summarize(&input, &all);
    assert_eq!(
        hare(&blind).detail.compile_cache_unknown,
        15,
        "5 trials of 3"
    );
    let note = doubts_of(&blind, Reason::CacheClassViolated)[0];
    assert!(!note.0 && note.1.contains("hare on greet"), "{note:?}");
    assert!(!note.1.contains("tortoise"), "{note:?}");
    let mut of_pulls = input.clone();
    let sweep = of_pulls.spec.sweeps.cold_start.as_mut().unwrap();
    sweep.class = ColdStartClass::NodeCold;
    let pulled = summarize(&of_pulls, &all);
    assert_eq!(
        hare(&pulled).detail.compile_cache_unknown,
        0,
        "each compiles"
    );
    for document in hares(&mut all) {
        for sample in &mut document.samples {
            sample.compiled_before = Some(CompileCache::Warm);
        }
        document.samples[1].compiled_before = Some(CompileCache::Cold);
    }
    let observed = summarize(&input, &all);
    assert_eq!(hare(&observed).detail.compile_cache_unknown, 0);
    let report = &report_files_of(&observed).unwrap()["report.md"];
    assert!(report.contains("5 cold, 10 warm"), "{report}");
}

#[test]
fn samples_without_evidence_of_their_class_count_and_are_named() {
    let mut all = records();
    for document in hares(&mut all) {
        document.samples[2].pods[0].class = None;
    }
    let summary = summary_of(&all);
    assert_eq!(hare(&summary).detail.unverified_samples, 5);
    assert!(hare(&summary).ranked);
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
fn answers_less_certain_than_half_the_minimum_effect_are_not_compared() {
    // Half of 10 ms.
    let fine = with_uncertainty(5_000_000);
    assert_eq!(
        hare(&fine).detail.answer_uncertainty_microseconds,
        Some(5000.0)
    );
    assert!(hare(&fine).ranked);
    let coarse = with_uncertainty(9_000_000);
    assert_eq!(hare(&coarse).invalid_because, [Reason::ClockTooCoarse]);
    let doubts = doubts_of(&coarse, Reason::ClockTooCoarse);
    assert!(doubts[0].1.contains("9.00 ms"), "{doubts:?}");
}

#[test]
fn a_clock_that_was_set_during_a_sample_invalidates_the_point() {
    let mut all = records();
    let document = hares(&mut all).next().unwrap();
    document.samples[1].clock_shift_nanoseconds = -40_000_000;
    let summary = summary_of(&all);
    assert_eq!(hare(&summary).invalid_because, [Reason::ClockTooCoarse]);
}

#[test]
fn a_node_that_changed_within_a_trial_keeps_its_points_uncompared() {
    let mut all = records();
    let document = hares(&mut all).next().unwrap();
    document.environment.before = BTreeMap::from([("kernel".into(), "6.0".into())]);
    let summary = summary_of(&all);
    let drifted = |cell: &ColdStartCell| cell.invalid_because == [Reason::EnvironmentDrifted];
    assert_eq!(summary.cold_starts.len(), 4);
    assert!(summary.cold_starts.iter().all(drifted));
    let doubts = doubts_of(&summary, Reason::EnvironmentDrifted);
    assert!(
        doubts[0].1.contains("probe.kernel: 6.0 / 6.1"),
        "{doubts:?}"
    );
}

/// The summary if the node, which has two CPUs, was busy for `busy` milliseconds in each of the
/// first `samples` of the 15 samples of `hare`, which took 1000 ms each. In the others it was busy
/// for 800 ms.
fn with_busy(samples: usize, busy: u64, stolen: u64) -> Summary {
    with_judged(15, samples, busy, stolen)
}

/// The summary of [`with_busy`] if only the first `judged` samples have data on the node.
fn with_judged(judged: usize, samples: usize, busy: u64, stolen: u64) -> Summary {
    summary_of(&busy_records(judged, samples, busy, stolen))
}

fn busy_records(judged: usize, samples: usize, busy: u64, stolen: u64) -> Vec<Record> {
    let mut all = records();
    for document in all.iter_mut().filter_map(Record::cold_start_mut) {
        let facts = &mut document.environment.facts;
        facts.insert("cpus".into(), "0-1".into());
    }
    let mut left = samples;
    let mut with_node_use = 0;
    for document in hares(&mut all) {
        for sample in document.samples.iter_mut().filter(|s| !s.discarded) {
            if with_node_use == judged {
                break;
            }
            with_node_use += 1;
            let (busy, stolen) = if left > 0 { (busy, stolen) } else { (800, 0) };
            left = left.saturating_sub(1);
            sample.node = Some(NodeSpan {
                duration_nanoseconds: 1_000_000_000,
                cpu: NodeCpu {
                    busy_nanoseconds: busy * 1_000_000,
                    steal_nanoseconds: stolen * 1_000_000,
                    ..NodeCpu::default()
                },
            });
        }
    }
    all
}

/// Why the comparison of the variant's starts is not trusted.
fn untrusted(summary: &Summary) -> Vec<Reason> {
    let mut compared = summary.comparisons.iter();
    let is_meant = |c: &&Comparison| {
        c.metric == Metric::ColdStartListening && c.point == Point::ColdStart { concurrency: 1 }
    };
    compared.find(is_meant).unwrap().untrusted.clone()
}

/// The reason as shown in the run's status.
fn untrusted_in_status(summary: &Summary) -> Option<String> {
    let rows = Conclusion::from_summary(summary, vec![]).rows;
    let hare = rows.iter().find(|row| row.variant == "hare").unwrap();
    let listening = hare.cold_start[0].listening.as_ref().unwrap();
    listening
        .versus_baseline
        .as_ref()
        .unwrap()
        .judged
        .untrusted
        .clone()
}

#[test]
fn starts_with_a_neighbour_are_compared_but_untrusted_from_a_fifth_on() {
    let few = with_busy(3, 1200, 0);
    assert_eq!(
        (
            hare(&few).detail.noisy_samples,
            hare(&few).detail.judged_samples
        ),
        (3, 15)
    );
    assert_eq!(untrusted(&few), []);
    let many = with_busy(4, 1200, 0);
    assert!(hare(&many).ranked);
    assert_eq!(untrusted(&many), [Reason::NodeNoisy]);
    assert_eq!(untrusted_in_status(&many).as_deref(), Some("NodeNoisy"));
    assert_eq!(untrusted_in_status(&few), None);
    let doubts = doubts_of(&many, Reason::NodeNoisy);
    let place = "hare on greet (4 of 15 samples)";
    assert!(doubts[0].0 && doubts[0].1.contains(place), "{doubts:?}");
}

#[test]
fn a_single_noisy_sample_among_a_few_is_not_a_neighbour() {
    let single = with_judged(4, 1, 1200, 0);
    assert_eq!(
        (
            hare(&single).detail.noisy_samples,
            hare(&single).detail.judged_samples
        ),
        (1, 4)
    );
    assert!(!hare(&single).detail.is_noisy());
    assert!(hare(&with_judged(4, 2, 1200, 110)).detail.is_noisy());
}

#[test]
fn a_busy_system_is_not_noise_but_a_stealing_hypervisor_is() {
    assert!(!hare(&with_busy(15, 1900, 0)).detail.is_noisy());
    assert!(hare(&with_busy(15, 800, 110)).detail.is_noisy());
}

#[test]
fn records_without_the_nodes_use_of_cpu_are_not_judged() {
    let summary = summary_of(&records());
    assert_eq!(hare(&summary).detail.judged_samples, 0);
    assert!(hare(&summary).ranked);
}

#[test]
fn a_variant_in_the_wrong_engine_mode_has_no_cold_start_ratio() {
    let mut all = records();
    let cold = all.iter().find(|r| r.trial.cell.variant == "hare");
    let mut load = cold.unwrap().clone();
    load.trial.cell.point = Point::WarmLatency;
    let document = json!({
        "schema": "wasmbench.dev/load/v2", "probeVersion": "0.1.0", "fortioVersion": "1.68.2",
        "readiness": {"waitedMicroseconds": 900, "attempts": 1},
        "engine": {"engine": "wasmtime", "compileMode": "Interpreter"},
        "environment": {"facts": {"kernel": "6.1"}},
    });
    let document: LoadDocument = serde_json::from_value(document).unwrap();
    load.evidence = Some(document.into());
    all.push(load);
    let summary = summary_of(&all);
    assert_eq!(summary.cold_starts.len(), 4);
    for cell in &summary.cold_starts {
        let reasons: &[Reason] = match cell.variant.as_str() {
            "hare" => &[Reason::EngineModeMismatch],
            _ => &[],
        };
        assert_eq!(cell.invalid_because, reasons, "{}", cell.place());
    }
    assert_eq!(summary.comparisons, []);
    assert!(doubts_of(&summary, Reason::EngineModeMismatch)[0].0);
}
