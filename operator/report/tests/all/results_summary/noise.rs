//! A node that others use, or that changed: which trials and points this affects.

use serde_json::json;
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::document::{DiscardedWindow, NodeCpu, TimedWindow};
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_report::files::report_files_of;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::summary::{Summary, trust};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{doubt, noisy_in, noisy_records, reasons, with_window};
use crate::results_support::{all_measured, run, run_with};

#[test]
fn a_neighbour_on_a_core_and_a_stealing_hypervisor_are_doubted() {
    let used = |busy_tenths: u64, steal_tenths: u64| {
        with_window(move |record| {
            if record.trial.cell.point == Point::WarmLatency {
                return;
            }
            let window = record.load_mut().unwrap().timed.as_mut().unwrap();
            let tenth = window.duration_nanoseconds / 10;
            window.node = Some(NodeCpu {
                busy_nanoseconds: busy_tenths * tenth,
                steal_nanoseconds: steal_tenths * tenth,
                ..NodeCpu::default()
            });
        })
    };
    // The subject uses 9 tenths of a CPU and the generator 7 tenths, out of two CPUs.
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

#[test]
fn one_noisy_trial_in_five_counts_and_is_noted() {
    let summary = noisy_in(&[2]);
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    assert_eq!((summary.trials.valid, summary.trials.invalid), (60, 0));
    let note = doubt(&summary, Reason::NodeNoisy);
    assert!(note.message.contains("1 noisy trial(s) kept"), "{note:?}");
    assert!(!summary.comparisons.is_empty());
    assert!(summary.comparisons.iter().all(|c| c.untrusted.is_empty()));
}

#[test]
fn two_noisy_trials_in_five_widen_a_comparison_and_make_it_untrusted() {
    let summary = noisy_in(&[2, 4]);
    assert_eq!(summary.trustworthy, Some(false));
    assert_eq!((summary.trials.valid, summary.trials.invalid), (60, 0));
    assert!(!summary.cells.is_empty() && !summary.comparisons.is_empty());
    assert!(summary.cells.iter().all(|cell| cell.ranked));
    assert_eq!(reasons(&summary), [Reason::NodeNoisy]);
    let message = doubt(&summary, Reason::NodeNoisy).message;
    let place = "embedded on hello at 50 connections (2 of 5: 20 % used by others)";
    assert!(message.contains(place), "{message}");
    for c in &summary.comparisons {
        let is_noisy = c.workload == "hello" && c.metric != Metric::WarmP50;
        let expected: &[Reason] = if is_noisy { &[Reason::NodeNoisy] } else { &[] };
        assert_eq!(
            (c.estimate.blocks, c.untrusted.as_slice()),
            (5, expected),
            "{c:?}"
        );
    }
    let rows = status_rows(&summary);
    let ratios = rows.iter().flat_map(|row| &row.versus_baseline);
    let untrusted = ratios.filter(|ratio| ratio.judged.untrusted.as_deref() == Some("NodeNoisy"));
    assert_eq!(untrusted.count(), 3);
    let report = &report_files_of(&summary).unwrap()["report.md"];
    assert!(report.contains("fewer requests/s, untrusted"), "{report}");
    // The line begins with what can be trusted.
    let (first, _) = summary.verdict.split_once("; ").unwrap();
    assert!(first.contains("warm p50 latency on hello"), "{first}");
    assert!(!first.contains("untrusted"), "{first}");
}

#[test]
fn what_breaks_trust_is_known_before_the_end_and_that_blocks_are_missing_is_no_news() {
    let mut first = run();
    first.spec.blocks = 2;
    let so_far = |noisy: &[u32]| trust::so_far(&summarize(&first, &noisy_records(noisy)));
    let lines = so_far(&[1, 2]).unwrap();
    assert!(lines.starts_with("NodeNoisy: "), "{lines}");
    assert!(lines.contains("What to do: move other pods"), "{lines}");
    assert_eq!(lines.lines().count(), 1, "{lines}");
    assert_eq!(so_far(&[]), None);
}

#[test]
fn a_verdict_without_a_trusted_number_begins_with_untrusted() {
    let mut run = run();
    run.spec.workloads.truncate(1);
    run.spec.primary_measures = vec![Metric::ThroughputRps, Metric::Memory];
    let mut records = noisy_records(&[2, 4]);
    records.retain(|record| record.trial.cell.workload == "hello");
    let line = summarize(&run, &records).verdict;
    assert!(line.starts_with("untrusted: embedded: "), "{line}");
    assert_eq!(line.matches("untrusted").count(), 1, "{line}");
}

#[test]
fn the_verdict_begins_with_trusted_results_and_marks_the_rest() {
    let mut run = run();
    run.spec.primary_measures = vec![Metric::CpuPerRequest];
    let line = summarize(&run, &noisy_records(&[2, 4])).verdict;
    let (on_compute, on_hello) = line.split_once("; embedded: ").unwrap();
    assert!(
        on_compute.contains(" CPU per request on compute "),
        "{line}"
    );
    assert!(!on_compute.contains("untrusted"), "{line}");
    assert!(
        on_hello.ends_with(" on hello, at least 90 % more CPU, untrusted"),
        "{line}"
    );
}

#[test]
fn a_point_without_a_valid_trial_shows_its_numbers_and_has_no_peak() {
    let run = run_with(json!({
        "blocks": 1,
        "variants": [{"name": "native", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let mut records = all_measured(&run);
    let window = records[0].load_mut().unwrap().timed.as_mut().unwrap();
    window.subject.as_mut().unwrap().throttled_periods = Some(1);
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
        (1, Some("Throttled"))
    );
    assert!(point.rps > 1000.0, "{point:?}");
}

/// Every reason that excludes a point, planted in all trials of one variant under one workload.
#[test]
fn an_invalid_point_is_never_compared_whatever_the_reason() {
    type Plant = fn(&mut Record);
    fn window(record: &mut Record) -> &mut TimedWindow {
        record.load_mut().unwrap().timed.as_mut().unwrap()
    }
    let plants: [(Reason, usize, Plant); 4] = [
        (Reason::Throttled, 3, |record| {
            window(record).subject.as_mut().unwrap().throttled_periods = Some(1);
        }),
        (Reason::LoadGeneratorSaturated, 3, |record| {
            let window = window(record);
            window.generator_cpu_limit = Some(0.5);
            window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds / 2);
        }),
        (Reason::ClockTooCoarse, 3, |record| {
            let histogram = &mut window(record).fortio["DurationHistogram"];
            let all =
                json!({ "Start": 0.0, "End": 0.01, "Count": histogram["Count"], "Percent": 100 });
            histogram["Data"] = json!([all]);
        }),
        // An image is a fact about a variant under all its workloads.
        (Reason::EnvironmentDrifted, 6, |record| {
            if record.trial.block == 3 {
                record.subject.as_mut().unwrap().image_id = Some("sha256:other".into());
            }
        }),
    ];
    for (reason, points, plant) in plants {
        let summary = with_window(plant);
        assert_eq!(reasons(&summary), [reason]);
        let invalid: Vec<_> = summary.cells.iter().filter(|cell| !cell.ranked).collect();
        assert_eq!(invalid.len(), points, "{reason:?}");
        assert!(invalid.iter().all(|cell| cell.invalid_because == [reason]));
        // All points of one of the two variants are then invalid.
        let nothing_left = reason == Reason::EnvironmentDrifted;
        assert_eq!(summary.comparisons.is_empty(), nothing_left, "{reason:?}");
        for c in &summary.comparisons {
            let at = |cell: &&&LoadCell| {
                (&cell.variant, &cell.workload, cell.point()) == (&c.variant, &c.workload, c.point)
            };
            assert_eq!(invalid.iter().find(at), None, "{reason:?}");
        }
    }
}

#[test]
fn a_node_that_changed_within_a_trial_and_back_is_doubted() {
    let run = run();
    let mut records = all_measured(&run);
    let environment = &mut records[0].load_mut().unwrap().environment;
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
        let facts = &mut record.load_mut().unwrap().environment.facts;
        facts.insert("governor".into(), "powersave".into());
    });
    assert!(summary.comparisons.is_empty());
    assert_eq!(summary.cells.len(), 12);
    assert!(summary.cells.iter().all(|cell| !cell.ranked));
}

#[test]
fn a_trial_that_was_measured_again_is_counted_and_shown_in_its_row() {
    let run = run();
    let mut records = all_measured(&run);
    let one = records
        .iter_mut()
        .find(|r| r.trial.cell.point != Point::WarmLatency);
    let document = one.unwrap().load_mut().unwrap();
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
    let trials = read.cells.iter().flat_map(|cell| &cell.detail.trials);
    assert_eq!(trials.filter(|t| t.metrics.discarded.is_some()).count(), 1);
}

#[test]
fn a_node_that_changed_is_doubted_and_the_fact_is_named() {
    let summary = with_window(|record| {
        let facts = &mut record.load_mut().unwrap().environment.facts;
        facts.insert("governor".into(), "powersave".into());
    });
    assert_eq!(reasons(&summary), [Reason::EnvironmentDrifted]);
    let message = &doubt(&summary, Reason::EnvironmentDrifted).message;
    assert_eq!(message, "probe.governor: performance / powersave");
}

#[test]
fn windows_whose_noise_cannot_be_judged_break_trust() {
    let messages = |summary: &Summary| {
        let doubts = summary.doubts.iter();
        let breaking = doubts.filter(|d| d.reason == Reason::NoiseUnknown && d.breaks_trust);
        breaking
            .map(|doubt| doubt.message.clone())
            .collect::<Vec<_>>()
    };
    let short = with_window(|record| {
        if record.trial.cell.point == Point::WarmLatency {
            let window = record.load_mut().unwrap().timed.as_mut().unwrap();
            window.duration_nanoseconds = 400_000_000;
        }
    });
    // Without a meter, or if a cgroup was not found, windows of any length are blind.
    let plants: [fn(&mut TimedWindow); 3] = [
        |window| window.node = None,
        |window| window.subject = None,
        |window| window.generator_cpu_nanoseconds = None,
    ];
    let blind = plants.map(|plant| {
        with_window(|record| {
            if record.trial.cell.point != Point::WarmLatency {
                plant(record.load_mut().unwrap().timed.as_mut().unwrap());
            }
        })
    });
    let at = "where CPU time was not read: embedded on hello at 10 connections, embedded on hello at 50 connections";
    let warm = "under 0.5 s: embedded on hello (warm latency)";
    let cases = blind.iter().map(|summary| (summary, at));
    for (summary, place) in cases.chain([(&short, warm)]) {
        assert_eq!(summary.trustworthy, Some(false), "{:?}", summary.doubts);
        let found = messages(summary);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with(place), "{found:?}");
    }
}
