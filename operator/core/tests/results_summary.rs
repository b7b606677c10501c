//! What a summary says of a run: numbers, ratios, doubts and the verdict, for the good case and
//! for everything that goes wrong.

#![allow(clippy::unwrap_used, reason = "a broken fixture must stop the test")]

mod results_support;

use results_support::{
    all_measured, facts, failed, fortio, measured, record, replace, run, run_with, skipped, slower,
};
use serde_json::json;
use wasmbench_core::results::compare::{Comparison, Metric};
use wasmbench_core::results::expectations::Outcome;
use wasmbench_core::results::judge::Verdict;
use wasmbench_core::results::quality::{Doubt, Reason};
use wasmbench_core::results::rows::{skipped_variants, status_rows};
use wasmbench_core::results::summary::CellSummary;
use wasmbench_core::results::{Summary, Trust, report_files_of, summarize, trust};
use wasmbench_core::status::Conclusion;
use wasmbench_core::wire::document::{DiscardedWindow, NodeCpu, TimedWindow};
use wasmbench_core::wire::instrument::GeneratorCeiling;
use wasmbench_core::wire::record::{Outcome as Ended, Point, Record, TrialId};

fn doubt(summary: &Summary, reason: Reason) -> Doubt {
    let missing = Doubt {
        reason,
        breaks_trust: false,
        message: "missing".into(),
        remedy: String::new(),
    };
    summary
        .doubts
        .iter()
        .find(|doubt| doubt.reason == reason)
        .cloned()
        .unwrap_or(missing)
}

fn reasons(summary: &Summary) -> Vec<Reason> {
    summary
        .doubts
        .iter()
        .filter(|d| d.breaks_trust)
        .map(|d| d.reason)
        .collect()
}

fn is_embedded_hello(trial: &TrialId) -> bool {
    trial.cell.variant == "embedded" && trial.cell.workload == "hello"
}

#[test]
fn a_clean_run_is_trustworthy_and_says_a_number() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    assert_eq!(summary.trials.valid, 60);
    assert_eq!(
        summary.verdict,
        "embedded: 0.52x native's throughput on hello (0.52-0.53), slower; embedded: 0.96x on \
         compute, equivalent"
    );
}

#[test]
fn a_p99_of_three_hundred_requests_is_noted_without_breaking_trust() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let doubt = doubt(&summary, Reason::TooFewSamples);
    assert!(
        !doubt.breaks_trust && doubt.message.contains("p99 needs 1000"),
        "{doubt:?}"
    );
    assert!(matches!(trust(&summary), Trust::Yes(notes) if notes.contains("TooFewSamples")));
}

#[test]
fn ratios_are_taken_at_the_knee_of_the_baseline() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let hello = |metric| {
        summary
            .comparisons
            .iter()
            .find(|c| c.workload == "hello" && c.metric == metric)
            .unwrap()
    };
    assert_eq!(hello(Metric::ThroughputRps).connections, 50);
    assert_eq!(hello(Metric::CpuPerRequest).connections, 50);
    assert_eq!(hello(Metric::WarmP50).connections, 1);
    assert_eq!(hello(Metric::Memory).blocks, 5);
    assert_eq!(hello(Metric::ThroughputRps).per_block.len(), 5);
}

#[test]
fn status_rows_carry_four_digits_and_no_ratio_for_the_baseline() {
    let run = run();
    let rows = status_rows(&summarize(&run, &all_measured(&run)));
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row.versus_baseline.is_empty() == (row.variant == "native"))
    );
    let throughput = rows[0].throughput.as_ref().unwrap();
    assert_eq!(
        (throughput.at_connections, throughput.points.len()),
        (Some(50), 2)
    );
    assert_eq!(
        format!("{:.3e}", throughput.peak_rps.unwrap()).parse(),
        Ok(throughput.peak_rps.unwrap())
    );
}

#[test]
fn a_point_with_failed_requests_is_shown_but_never_ranked() {
    let run = run();
    let mut records = all_measured(&run);
    let one = |trial: &TrialId| {
        trial.cell.point == Point::Throughput { connections: 50 }
            && trial.cell.variant == "native"
            && trial.cell.workload == "hello"
            && trial.block == 2
    };
    let with_errors = |t, position| record(t, position, Ended::Measured, Some(fortio("errors")));
    replace(&mut records, one, with_errors);
    let summary = summarize(&run, &records);
    let cell = summary.cells.iter().find(|cell| !cell.ranked).unwrap();
    assert_eq!(cell.invalid_because, [Reason::ErrorsInLoad]);
    assert_eq!(
        (cell.counts.valid, cell.counts.invalid, cell.errors),
        (4, 1, 1176)
    );
    assert!(
        doubt(&summary, Reason::ErrorsInLoad)
            .message
            .contains("1176 of")
    );
    let hello = summary
        .comparisons
        .iter()
        .find(|c| c.metric == Metric::ThroughputRps)
        .unwrap();
    assert_eq!(
        hello.connections, 10,
        "the knee moved to the best valid point"
    );
    assert_eq!(
        status_rows(&summary)[0]
            .throughput
            .as_ref()
            .unwrap()
            .at_connections,
        Some(10)
    );
}

#[test]
fn variants_that_answer_differently_are_not_compared() {
    let run = run();
    let mut records = all_measured(&run);
    for record in &mut records {
        if record.trial.cell.variant == "embedded" && record.trial.cell.workload == "compute" {
            let document = record.document.as_mut().unwrap();
            for answer in [&mut document.answer_before, &mut document.answer_after] {
                let answer = answer.as_mut().unwrap();
                answer.body_sha256 = "ef".repeat(32);
                answer.excerpt = "4711".into();
            }
        }
    }
    let summary = summarize(&run, &records);
    let doubt = doubt(&summary, Reason::ResponseMismatch);
    assert!(doubt.breaks_trust);
    assert!(
        doubt.message.contains(
            "on compute, embedded answers '4711' (sha256 efefefefefef), but \
                                native answers 'compute'"
        ),
        "{}",
        doubt.message
    );
    assert!(summary.comparisons.iter().all(|c| c.workload == "hello"));
}

#[test]
fn a_baseline_that_contradicts_itself_is_the_one_that_is_wrong() {
    let run = run();
    let mut records = all_measured(&run);
    let mut native = records
        .iter_mut()
        .filter(|r| r.trial.cell.variant == "native" && r.trial.cell.workload == "compute");
    let document = native.next().unwrap().document.as_mut().unwrap();
    document.answer_after.as_mut().unwrap().body_sha256 = "ef".repeat(32);
    let summary = summarize(&run, &records);
    let message = &doubt(&summary, Reason::ResponseMismatch).message;
    assert!(
        message.contains("native gave 2 different answers"),
        "{message}"
    );
}

#[test]
fn a_wrong_answer_makes_its_point_invalid() {
    let run = run();
    let mut records = all_measured(&run);
    let second = |trial: &TrialId| is_embedded_hello(trial) && trial.block == 2;
    replace(&mut records, second, |t, position| {
        record(t, position, failed("WrongAnswer", "got 'oops'"), None)
    });
    let summary = summarize(&run, &records);
    let cells = summary
        .cells
        .iter()
        .filter(|c| c.variant == "embedded" && c.workload == "hello");
    assert!(
        cells
            .clone()
            .all(|c| !c.ranked && c.invalid_because == [Reason::ResponseMismatch])
    );
    assert!(reasons(&summary).contains(&Reason::ResponseMismatch));
    assert!(summary.comparisons.iter().all(|c| c.workload == "compute"));
}

#[test]
fn a_skipped_variant_is_named_and_the_others_go_on() {
    let run = run_with(json!({
        "blocks": 5,
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded"},
            {"name": "shim", "container": {"image": "a/b:1", "runtimeClassName": "wasmtime"}},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let mut records = all_measured(&run);
    let message = "install the RuntimeClass";
    replace(
        &mut records,
        |t| t.cell.variant == "shim",
        |t, position| {
            let outcome = match t.block {
                1 => failed("RuntimeClassNotFound", message),
                _ => skipped("RuntimeClassNotFound", message),
            };
            record(t, position, outcome, None)
        },
    );
    let summary = summarize(&run, &records);
    assert_eq!(
        summary.verdict,
        "embedded: 0.52x native's throughput on hello (0.52-0.53), slower; shim not \
         measured (RuntimeClassNotFound)"
    );
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    let skipped = skipped_variants(&summary);
    assert_eq!((skipped.len(), skipped[0].message.as_str()), (1, message));
    assert_eq!(
        (summary.failures[0].failed, summary.failures[0].skipped),
        (1, 4)
    );
}

#[test]
fn nothing_measured_is_said_with_the_main_reason() {
    let run = run();
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |_| true,
        |t, position| {
            record(
                t,
                position,
                failed("NeverListened", "no answer within 60 s"),
                None,
            )
        },
    );
    let summary = summarize(&run, &records);
    assert_eq!(
        summary.verdict,
        "nothing measured: 0 trials invalid, 60 failed, 0 skipped, mostly NeverListened of \
         embedded; see report"
    );
    assert_eq!(
        (summary.trustworthy, trust(&summary)),
        (None, Trust::NoNumbers)
    );
    assert!(summary.comparisons.is_empty());
}

#[test]
fn no_records_give_a_summary_without_numbers() {
    let summary = summarize(&run(), &[]);
    assert_eq!(
        summary.verdict,
        "nothing measured yet: 0 of 60 trials recorded"
    );
    assert_eq!((summary.trials.missing, summary.trustworthy), (60, None));
    assert!(status_rows(&summary).is_empty());
}

#[test]
fn one_block_has_no_range_and_is_doubted() {
    let mut run = run();
    run.spec.blocks = 1;
    let summary = summarize(&run, &all_measured(&run));
    assert!(
        summary.verdict.contains("on hello (1 block)"),
        "{}",
        summary.verdict
    );
    assert_eq!(reasons(&summary), [Reason::TooFewBlocks]);
}

#[test]
fn one_variant_is_described_by_itself() {
    let mut run = run();
    run.spec.variants.truncate(1);
    let summary = summarize(&run, &all_measured(&run));
    assert_eq!(
        summary.verdict,
        "native on hello: 12.2k requests/s at 50 connections, warm p50 163 us; native on compute: \
         3.06k requests/s at 50 connections, warm p50 654 us"
    );
}

#[test]
fn a_baseline_without_numbers_leaves_no_comparison() {
    let run = run();
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |t| t.cell.variant == "native",
        |t, position| record(t, position, failed("SubjectCrashed", "exit code 1"), None),
    );
    let summary = summarize(&run, &records);
    assert!(
        summary.verdict.starts_with(
            "no comparison: the baseline native has no valid point; native \
                                     not measured (SubjectCrashed); embedded on hello: "
        ),
        "{}",
        summary.verdict
    );
}

#[test]
fn a_verdict_never_exceeds_two_hundred_characters() {
    let variants: Vec<_> = (0..16)
        .map(|i| json!({"name": format!("{:0>38}{i:02}", ""), "preset": "native"}))
        .collect();
    let workloads: Vec<_> = (0..4)
        .map(|i| json!({"name": format!("w{i:0>39}")}))
        .collect();
    let run = run_with(json!({
        "blocks": 1,
        "variants": variants,
        "workloads": workloads,
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let summary = summarize(&run, &all_measured(&run));
    assert!(summary.verdict.len() <= 200, "{}", summary.verdict);
    assert!(
        summary.verdict.ends_with("+59 more, see report"),
        "{}",
        summary.verdict
    );
}

#[test]
fn trials_that_failed_beside_valid_ones_break_trust() {
    let run = run();
    let mut records = all_measured(&run);
    let last = |trial: &TrialId| is_embedded_hello(trial) && trial.block == 5;
    replace(&mut records, last, |t, position| {
        record(
            t,
            position,
            failed("SubjectLost", "the pod went away"),
            None,
        )
    });
    let summary = summarize(&run, &records);
    assert_eq!(reasons(&summary), [Reason::TrialsFailed]);
    assert!(
        doubt(&summary, Reason::TrialsFailed)
            .message
            .contains("(4 of 5 valid)")
    );
    let hello = summary
        .comparisons
        .iter()
        .find(|c| c.workload == "hello")
        .unwrap();
    assert_eq!(hello.blocks, 4);
}

#[test]
fn missing_records_are_counted() {
    let run = run();
    let records = all_measured(&run);
    let summary = summarize(&run, &records[..50]);
    assert_eq!(reasons(&summary), [Reason::Incomplete]);
    assert!(
        doubt(&summary, Reason::Incomplete)
            .message
            .contains("10 of 60")
    );
}

fn with_window(change: impl Fn(&mut Record)) -> Summary {
    let run = run();
    let mut records = all_measured(&run);
    records
        .iter_mut()
        .filter(|r| is_embedded_hello(&r.trial))
        .for_each(change);
    summarize(&run, &records)
}

#[test]
fn a_throttled_subject_is_doubted() {
    let summary = with_window(|record| {
        let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
        window.subject.as_mut().unwrap().throttled_periods = Some(3);
    });
    assert_eq!(reasons(&summary), [Reason::Throttled]);
    let message = &doubt(&summary, Reason::Throttled).message;
    assert!(
        message.contains("embedded on hello at 10 connections (15 periods)"),
        "{message}"
    );
}

#[test]
fn a_generator_above_four_fifths_of_the_node_is_doubted() {
    let summary = with_window(|record| {
        let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
        window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds * 17 / 10);
    });
    assert_eq!(reasons(&summary), [Reason::LoadGeneratorSaturated]);
}

#[test]
fn a_generator_at_its_own_limit_is_doubted_however_much_of_the_node_is_free() {
    let summary = with_window(|record| {
        let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
        window.generator_cpu_limit = Some(0.1);
        window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds / 10);
        window.node = None;
    });
    assert_eq!(reasons(&summary), [Reason::LoadGeneratorSaturated]);
    let message = &doubt(&summary, Reason::LoadGeneratorSaturated).message;
    assert!(
        message.contains("100 % of the CPUs it may use"),
        "{message}"
    );
}

/// A run in which a responder that does nothing let the generator reach so many requests per second.
fn with_ceiling(rps: f64) -> Summary {
    with_window(|record| {
        let document = record.document.as_mut().unwrap();
        let nanoseconds = 1_000_000_000;
        document.generator_ceiling = Some(GeneratorCeiling {
            connections: 50,
            rps,
            duration_nanoseconds: nanoseconds,
            generator_cpu_nanoseconds: nanoseconds,
            responder_cpu_nanoseconds: nanoseconds / 10,
            cpus: 2.0,
        });
    })
}

#[test]
fn rates_near_the_calibrated_ceiling_are_doubted_whichever_variant_measured_it() {
    let cells = &with_ceiling(1e9).cells;
    let rate = |variant: &str| {
        let of_variant = |c: &&CellSummary| c.variant == variant && c.workload == "hello";
        let cell = cells.iter().filter(of_variant).nth(1).unwrap();
        assert_eq!(
            (cell.connections, cell.generator_ceiling_rps),
            (10, Some(1e9))
        );
        cell.rps.unwrap().median
    };
    let (native, embedded) = (rate("native"), rate("embedded"));
    assert!(native > 1.5 * embedded);
    // Within four fifths of it: native is, embedded is not.
    let summary = with_ceiling(native / 0.85);
    assert_eq!(reasons(&summary), [Reason::LoadGeneratorSaturated]);
    let message = &doubt(&summary, Reason::LoadGeneratorSaturated).message;
    assert!(
        message.contains("native on hello at 10 connections"),
        "{message}"
    );
    assert!(!message.contains("embedded"), "{message}");
    assert!(message.contains("when answers cost nothing"), "{message}");
    assert_eq!(reasons(&with_ceiling(2.0 * native)), []);
}

fn with_engine(says: &[(&str, &str)]) -> Summary {
    with_window(|record| record.document.as_mut().unwrap().engine = Some(facts(says)))
}

#[test]
fn a_variant_in_another_mode_than_it_claims_is_found_out_and_never_ranked() {
    let pooling = [
        ("engine", "wasmtime"),
        ("compileMode", "Jit"),
        ("allocator", "Pooling"),
        ("profile", "release"),
        ("computeRatio", "1.2"),
    ];
    let honest = with_engine(&pooling);
    assert_eq!(reasons(&honest), []);
    let engines = &honest.environment.variants[1].engines;
    assert!(
        engines.first().unwrap().contains("allocator Pooling"),
        "{engines:?}"
    );

    let mut other = pooling;
    other[2].1 = "OnDemand";
    let summary = with_engine(&other);
    assert_eq!(reasons(&summary), [Reason::EngineModeMismatch]);
    assert_eq!(
        doubt(&summary, Reason::EngineModeMismatch).message,
        "embedded: allocator is OnDemand instead of Pooling"
    );
    let embedded = summary
        .cells
        .iter()
        .filter(|cell| cell.variant == "embedded");
    for cell in embedded {
        // Of the other workload too: its pods are those of the same variant.
        assert_eq!(cell.invalid_because, [Reason::EngineModeMismatch]);
        assert!(!cell.ranked && cell.counts.valid == 0);
    }
    assert!(summary.comparisons.is_empty());
}

#[test]
fn a_neighbour_that_burns_a_core_and_a_hypervisor_that_withholds_cpus_are_doubted() {
    let used = |busy_tenths: u64, steal_tenths: u64| {
        with_window(move |record| {
            let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
            let tenth = window.duration_nanoseconds / 10;
            window.node = Some(NodeCpu {
                busy_nanoseconds: busy_tenths * tenth,
                steal_nanoseconds: steal_tenths * tenth,
                ..NodeCpu::default()
            });
        })
    };
    // The subject uses 9 tenths of a CPU and the generator 7, of the two that there are.
    assert_eq!(reasons(&used(18, 0)), []);
    assert_eq!(reasons(&used(19, 0)), [], "15 % is the limit");
    assert_eq!(reasons(&used(20, 0)), [Reason::NodeNoisy]);
    let noisy = used(26, 2);
    assert_eq!(reasons(&noisy), [Reason::NodeNoisy]);
    let message = &doubt(&noisy, Reason::NodeNoisy).message;
    assert!(
        message.contains("50 % used by others, 10 % stolen"),
        "{message}"
    );
}

/// The records of a clean run in which the node was noisy in these blocks of one point.
fn noisy_in(blocks: &[u32]) -> Summary {
    let run = run();
    let mut records = all_measured(&run);
    let at = Point::Throughput { connections: 50 };
    let is_noisy =
        |t: &TrialId| is_embedded_hello(t) && t.cell.point == at && blocks.contains(&t.block);
    for record in records.iter_mut().filter(|r| is_noisy(&r.trial)) {
        let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
        window.node.as_mut().unwrap().busy_nanoseconds = 2 * window.duration_nanoseconds;
    }
    summarize(&run, &records)
}

#[test]
fn a_trial_that_a_noisy_node_spoilt_was_measured() {
    let summary = noisy_in(&[2, 3]);
    assert_eq!((summary.trials.valid, summary.trials.invalid), (58, 2));
    assert_eq!(Conclusion::of(&summary, vec![]).measured, 60);
}

#[test]
fn one_noisy_trial_in_five_is_left_out_and_its_point_stays() {
    let summary = noisy_in(&[2]);
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    assert_eq!((summary.trials.valid, summary.trials.invalid), (59, 1));
    let note = doubt(&summary, Reason::NodeNoisy);
    assert!(
        note.message.contains("1 that stayed noisy left out"),
        "{note:?}"
    );
    let ratio = |metric| {
        let of_hello = |c: &&Comparison| c.workload == "hello" && c.metric == metric;
        summary.comparisons.iter().find(of_hello).unwrap()
    };
    assert_eq!(ratio(Metric::ThroughputRps).blocks, 4);
    assert_eq!(ratio(Metric::WarmP50).blocks, 5);
}

#[test]
fn two_noisy_trials_in_five_make_a_point_invalid() {
    let summary = noisy_in(&[2, 4]);
    assert_eq!(reasons(&summary), [Reason::NodeNoisy]);
    let message = doubt(&summary, Reason::NodeNoisy).message;
    let place = "embedded on hello at 50 connections (2 of 5: 20 % used by others)";
    assert!(message.contains(place), "{message}");
    let is_loaded = |c: &&Comparison| c.workload == "hello" && c.metric != Metric::WarmP50;
    assert_eq!(summary.comparisons.iter().filter(is_loaded).count(), 0);
    let rows = status_rows(&summary);
    let row = rows
        .iter()
        .find(|r| r.variant == "embedded" && r.workload == "hello");
    let throughput = row.unwrap().throughput.as_ref().unwrap();
    assert_eq!(throughput.at_connections, Some(10), "the peak is elsewhere");
    let marks: Vec<_> = throughput
        .points
        .iter()
        .map(|p| p.invalid.as_deref())
        .collect();
    assert_eq!(marks, [None, Some("NodeNoisy")]);
    let report = &report_files_of(&summary).unwrap()["report.md"];
    assert!(report.contains("INVALID: NodeNoisy"));
}

#[test]
fn a_point_without_a_valid_trial_is_shown_with_its_numbers_and_has_no_peak() {
    let run = run_with(json!({
        "blocks": 1,
        "variants": [{"name": "native", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let mut records = all_measured(&run);
    let window = records[0]
        .document
        .as_mut()
        .unwrap()
        .timed
        .as_mut()
        .unwrap();
    window.node.as_mut().unwrap().busy_nanoseconds = 2 * window.duration_nanoseconds;
    let summary = summarize(&run, &records);
    assert_eq!(summary.trustworthy, Some(false));
    let rows = status_rows(&summary);
    let throughput = rows[0].throughput.as_ref().unwrap();
    assert_eq!(
        (throughput.peak_rps, throughput.at_connections),
        (None, None)
    );
    let point = &throughput.points[0];
    assert_eq!(
        (point.trials, point.invalid.as_deref()),
        (0, Some("NodeNoisy"))
    );
    assert!(point.rps > 1000.0, "{point:?}");
}

/// Every reason that keeps a point out, planted in all trials of one variant under one workload.
#[test]
fn an_invalid_point_is_never_compared_whatever_makes_it_invalid() {
    type Plant = fn(&mut Record);
    fn window(record: &mut Record) -> &mut TimedWindow {
        record.document.as_mut().unwrap().timed.as_mut().unwrap()
    }
    let plants: [(Reason, Plant); 5] = [
        (Reason::NodeNoisy, |record| {
            let window = window(record);
            window.node.as_mut().unwrap().busy_nanoseconds = 3 * window.duration_nanoseconds;
        }),
        (Reason::Throttled, |record| {
            window(record).subject.as_mut().unwrap().throttled_periods = Some(1);
        }),
        (Reason::LoadGeneratorSaturated, |record| {
            let window = window(record);
            window.generator_cpu_limit = Some(0.5);
            window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds / 2);
        }),
        (Reason::ClockTooCoarse, |record| {
            let histogram = &mut window(record).fortio["DurationHistogram"];
            let all =
                json!({ "Start": 0.0, "End": 0.01, "Count": histogram["Count"], "Percent": 100 });
            histogram["Data"] = json!([all]);
        }),
        (Reason::EnvironmentDrifted, |record| {
            if record.trial.block == 3 {
                record.subject.as_mut().unwrap().image_id = Some("sha256:other".into());
            }
        }),
    ];
    for (reason, plant) in plants {
        let summary = with_window(plant);
        assert_eq!(reasons(&summary), [reason]);
        let invalid: Vec<_> = summary.cells.iter().filter(|cell| !cell.ranked).collect();
        let points = match reason {
            // A warm window of 300 requests is too short to say anything of the node.
            Reason::NodeNoisy => 2,
            // An image is the fact of a variant under all its workloads.
            Reason::EnvironmentDrifted => 6,
            _ => 3,
        };
        assert_eq!(invalid.len(), points, "{reason:?}");
        assert!(invalid.iter().all(|cell| cell.invalid_because == [reason]));
        for c in &summary.comparisons {
            let at = |cell: &&&CellSummary| {
                (&cell.variant, &cell.workload, cell.sweep, cell.connections)
                    == (&c.variant, &c.workload, c.sweep, c.connections)
            };
            assert_eq!(invalid.iter().find(at), None, "{reason:?}");
        }
    }
}

#[test]
fn a_node_that_changed_within_a_trial_and_back_is_doubted() {
    let run = run();
    let mut records = all_measured(&run);
    let environment = &mut records[0].document.as_mut().unwrap().environment;
    let mut before = environment.clone();
    before.facts.insert("governor".into(), "powersave".into());
    before.facts.insert("swap".into(), "off".into());
    before.facts.remove("cpus");
    *environment = environment.clone().since(&before);
    assert_eq!(
        environment.before.len(),
        1,
        "what one did not see is no change"
    );
    let summary = summarize(&run, &records);
    assert_eq!(reasons(&summary), [Reason::EnvironmentDrifted]);
    let message = &doubt(&summary, Reason::EnvironmentDrifted).message;
    assert_eq!(message, "probe.governor: performance / powersave");
}

#[test]
fn a_node_that_changed_leaves_nothing_to_compare() {
    let summary = with_window(|record| {
        let facts = &mut record.document.as_mut().unwrap().environment.facts;
        facts.insert("governor".into(), "powersave".into());
    });
    assert!(summary.comparisons.is_empty());
    assert!(summary.cells.iter().all(|cell| !cell.ranked));
}

#[test]
fn connections_that_do_not_wait_for_answers_are_noted() {
    let run = run();
    let clean = summarize(&run, &all_measured(&run));
    assert_eq!(doubt(&clean, Reason::LittlesLaw).message, "missing");
    let summary = with_window(|record| {
        let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
        let sum = window.fortio["DurationHistogram"]["Sum"].as_f64().unwrap();
        window.fortio["DurationHistogram"]["Sum"] = json!(sum * 0.5);
    });
    assert_eq!(summary.trustworthy, Some(true), "it is a note");
    let message = doubt(&summary, Reason::LittlesLaw).message;
    let place = "embedded on hello at 10 connections (50 %)";
    assert!(message.contains(place), "{message}");
}

#[test]
fn a_window_that_began_before_the_rate_came_to_rest_is_noted() {
    let summary = with_window(|record| {
        let warmup = &mut record.document.as_mut().unwrap().warmup;
        warmup.get_or_insert_default().settled = Some(false);
    });
    assert_eq!(summary.trustworthy, Some(true), "it is a note");
    let message = doubt(&summary, Reason::WarmupNotSettled).message;
    assert!(
        message.contains("embedded on hello at 10 connections ("),
        "{message}"
    );
}

#[test]
fn a_trial_that_was_measured_once_more_is_counted_and_told_in_its_row() {
    let run = run();
    let mut records = all_measured(&run);
    let one = records
        .iter_mut()
        .find(|r| r.trial.cell.point != Point::WarmLatency);
    let document = one.unwrap().document.as_mut().unwrap();
    document.timed.as_mut().unwrap().discarded = Some(DiscardedWindow {
        rps: 39_234.567,
        others_cpu_share: Some(0.283),
        steal_share: Some(0.0),
        ..DiscardedWindow::default()
    });
    let summary = summarize(&run, &records);
    assert_eq!((summary.trials.repeated, summary.trials.valid), (1, 60));
    assert_eq!(summary.trustworthy, Some(true));
    let files = report_files_of(&summary).unwrap();
    let report = &files["report.md"];
    assert!(report.contains("1 measured once more, because the node was noisy"));
    assert!(report.contains("39.2k/s: 28 % used by others"), "{report}");
    let read: Summary = serde_json::from_str(&files["summary.json"]).unwrap();
    assert_eq!(read.trials, summary.trials);
    let trials = read.cells.iter().flat_map(|cell| &cell.trials);
    assert_eq!(trials.filter(|t| t.metrics.discarded.is_some()).count(), 1);
}

#[test]
fn a_node_that_changed_is_doubted_and_the_fact_is_named() {
    let summary = with_window(|record| {
        let facts = &mut record.document.as_mut().unwrap().environment.facts;
        facts.insert("governor".into(), "powersave".into());
    });
    assert_eq!(reasons(&summary), [Reason::EnvironmentDrifted]);
    let message = &doubt(&summary, Reason::EnvironmentDrifted).message;
    assert_eq!(message, "probe.governor: performance / powersave");
}

#[test]
fn a_variant_with_two_images_is_doubted() {
    let summary = with_window(|record| {
        record.subject.as_mut().unwrap().image_id = Some("sha256:other".into());
    });
    let message = &doubt(&summary, Reason::EnvironmentDrifted).message;
    assert_eq!(message, "image of embedded: sha256:embedded / sha256:other");
}

#[test]
fn too_few_requests_for_a_p90_break_trust() {
    let run = run();
    let mut records = all_measured(&run);
    let warm = |t: &TrialId| t.cell.point == Point::WarmLatency && is_embedded_hello(t);
    let mut few = fortio("refused");
    few["RetCodes"] = json!({"200": 20});
    few["ErrorsDurationHistogram"] = json!({"Count": 0, "Data": null});
    replace(&mut records, warm, |t, position| {
        record(t, position, Ended::Measured, Some(few.clone()))
    });
    assert_eq!(reasons(&summarize(&run, &records)), [Reason::TooFewSamples]);
}

#[test]
fn output_of_fortio_that_cannot_be_read_is_a_failed_trial() {
    let run = run();
    let mut records = all_measured(&run);
    replace(&mut records, is_embedded_hello, |t, position| {
        let mut record = measured(t, position);
        record
            .document
            .as_mut()
            .unwrap()
            .timed
            .as_mut()
            .unwrap()
            .fortio = json!({"a": 1});
        record
    });
    let summary = summarize(&run, &records);
    assert_eq!(summary.failures[0].reason, "UnreadableResult");
    assert!(summary.failures[0].message.contains("no ActualDuration"));
}

#[test]
fn a_window_without_a_single_success_is_invalid() {
    let run = run();
    let mut records = all_measured(&run);
    replace(&mut records, is_embedded_hello, |t, position| {
        let outcome = failed("NoSuccessfulRequest", "20 of 20 requests failed");
        record(t, position, outcome, Some(fortio("refused")))
    });
    let summary = summarize(&run, &records);
    assert!(reasons(&summary).contains(&Reason::ErrorsInLoad));
    assert!(summary.comparisons.iter().all(|c| c.workload == "compute"));
}

#[test]
fn records_of_other_runs_and_unknown_trials_are_passed_over() {
    let run = run();
    let records = all_measured(&run);
    let mut with_others = records.clone();
    let mut foreign = records[0].clone();
    foreign.run_uid = "another".into();
    let mut unknown = records[0].clone();
    unknown.trial.cell.variant = "gone".into();
    let mut late = records[0].clone();
    late.trial.block = 6;
    with_others.splice(0..0, [foreign, unknown, late]);
    assert_eq!(summarize(&run, &with_others), summarize(&run, &records));
}

#[test]
fn a_variant_compared_with_itself_is_exactly_one() {
    let mut run = run();
    run.spec.variants[1].name = "again".into();
    run.spec.workloads.truncate(1);
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |_| true,
        |t, position| {
            let name = if t.cell.point == Point::WarmLatency {
                "exactly"
            } else {
                "ok"
            };
            let fortio = slower(fortio(name), f64::from(t.block));
            let mut record = record(t, position, Ended::Measured, Some(fortio));
            let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
            window.subject.as_mut().unwrap().memory_bytes = 1000;
            record
        },
    );
    let summary = summarize(&run, &records);
    assert_eq!(summary.comparisons.len(), 4);
    for comparison in &summary.comparisons {
        let Comparison {
            ratio, low, high, ..
        } = comparison;
        assert_eq!((*ratio, *low, *high), (1.0, Some(1.0), Some(1.0)));
        assert_eq!(comparison.verdict, Verdict::Equivalent);
    }
}

/// The synthetic run with a twin whose rate is off by `factor` in every block.
fn with_twin(factor: f64) -> Summary {
    let mut run = run();
    run.spec.noise_floor = Some(true);
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |t| t.cell.variant == "baseline-twin",
        |t, position| {
            let mut record = measured(t, position);
            let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
            window.fortio = slower(window.fortio.clone(), factor);
            record
        },
    );
    summarize(&run, &records)
}

fn verdict_on(summary: &Summary, workload: &str) -> Verdict {
    let of = |c: &&Comparison| c.workload == workload && c.metric == Metric::ThroughputRps;
    summary.comparisons.iter().find(of).unwrap().verdict
}

#[test]
fn the_twin_is_the_noise_floor_and_never_a_competitor() {
    let summary = with_twin(1.0);
    let is_twin = |name: &str| name == "baseline-twin";
    assert!(summary.comparisons.iter().all(|c| !is_twin(&c.variant)));
    assert!(!summary.verdict.contains("twin"), "{}", summary.verdict);
    assert!(
        status_rows(&summary)
            .iter()
            .all(|row| !is_twin(&row.variant))
    );
    assert_eq!(summary.noise_floors.len(), 8);
    assert!(
        summary
            .noise_floors
            .iter()
            .all(|floor| floor.factor < Some(1.01))
    );
    assert!(summary.cells.iter().any(|cell| is_twin(&cell.variant)));
    assert_eq!(
        summary.spec.as_ref().unwrap().variants.len(),
        2,
        "as written"
    );
    assert_eq!(verdict_on(&summary, "hello"), Verdict::Slower);
}

#[test]
fn a_difference_below_the_noise_floor_is_not_resolvable() {
    let summary = with_twin(2.5);
    assert_eq!(verdict_on(&summary, "hello"), Verdict::NotResolvable);
    assert_eq!(verdict_on(&summary, "compute"), Verdict::NotResolvable);
}

#[test]
fn expectations_are_decided_and_listed_in_the_report() {
    let mut run = run();
    run.spec.expectations = serde_json::from_value(json!([
        {"name": "keeps-half", "metric": "throughputRps", "variant": "embedded",
         "workload": "hello", "atLeast": "0.5"},
        {"name": "memory-doubles-at-most", "metric": "memory", "variant": "embedded",
         "workload": "hello", "atMost": "2"},
        {"name": "hair-splitting", "metric": "warmP50", "variant": "embedded",
         "workload": "compute", "atMost": "1.04"},
    ]))
    .unwrap();
    let summary = summarize(&run, &all_measured(&run));
    let outcomes: Vec<Outcome> = summary.expectations.iter().map(|d| d.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Met, Outcome::NotMet, Outcome::Undecided]
    );
    let report = &report_files_of(&summary).unwrap()["report.md"];
    let line = "- **NOT MET**: memory-doubles-at-most: memory of embedded on hello must be at most \
                2x the baseline's: it is 5.05x (5.05-5.05)";
    assert!(report.contains(line), "{report}");
}

#[test]
fn a_variant_that_was_not_measured_leaves_its_expectation_undecided() {
    let mut run = run();
    run.spec.expectations = serde_json::from_value(json!([
        {"name": "gate", "metric": "memory", "variant": "embedded", "workload": "hello",
         "atMost": "9"},
    ]))
    .unwrap();
    let summary = summarize(&run, &[]);
    assert_eq!(summary.expectations[0].outcome, Outcome::Undecided);
    assert!(
        summary.expectations[0]
            .message
            .ends_with("it was not compared")
    );
}

#[test]
fn the_knee_is_the_smallest_load_with_nine_tenths_of_the_peak() {
    let mut run = run();
    run.spec.sweeps.throughput.as_mut().unwrap().connections = vec![10, 50, 100];
    let mut records = all_measured(&run);
    // 100 connections are better than 50, by less than a tenth.
    replace(
        &mut records,
        |t| t.cell.point == Point::Throughput { connections: 100 },
        |t, position| {
            let mut record = measured(t, position);
            let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
            window.fortio = slower(window.fortio.clone(), 0.95);
            record
        },
    );
    let summary = summarize(&run, &records);
    let rows = status_rows(&summary);
    let throughput = rows[0].throughput.as_ref().unwrap();
    assert_eq!(throughput.at_connections, Some(100));
    assert_eq!(throughput.knee.as_ref().unwrap().connections, 50);
    let loaded = |c: &&Comparison| c.metric == Metric::ThroughputRps;
    assert!(
        summary
            .comparisons
            .iter()
            .filter(loaded)
            .all(|c| c.connections == 50)
    );
}

#[test]
fn trials_that_scatter_too_much_to_decide_say_how_many_blocks_it_would_take() {
    let run = run();
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |t| t.cell.variant == "embedded",
        |t, position| {
            let factor = if t.block % 2 == 0 { 1.0 } else { 0.6 };
            let mut record = measured(t, position);
            let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
            window.fortio = slower(window.fortio.clone(), factor);
            record
        },
    );
    let doubt = doubt(&summarize(&run, &records), Reason::HighVariance);
    assert!(!doubt.breaks_trust);
    assert!(
        doubt
            .message
            .contains("throughput of embedded on compute (0."),
        "{doubt:?}"
    );
    assert!(doubt.message.contains("more than 50 blocks"), "{doubt:?}");
}
