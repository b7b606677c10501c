//! Payload: from trials to costs, verdicts, tables and the plot.

use serde_json::json;
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::document::{Meter, PayloadSize, TimedWindow};
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_report::csv::{comparisons_csv, summary_csv};
use wasmbench_report::files::report_files_of;
use wasmbench_report::html::{plots, report_html};
use wasmbench_results::cells::payload::PayloadCell;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::{measured, run_with, trials};

const SIZES: [u32; 5] = [0, 1024, 16_384, 262_144, 1_048_576];

/// Six blocks of two variants: a request costs 40 us in both, a megabyte 300 us and this many times that.
fn records(times: f64) -> (RunInput, Vec<Record>) {
    let run = run_with(json!({
        "blocks": 6, "noiseFloor": false,
        "variants": [{"name": "native", "preset": "native"}, {"name": "wasm", "preset": "wasmtime-embedded"}],
        "workloads": [{"name": "echo"}],
        "sweeps": {"payload": {}},
    }));
    let all = trials(&run).into_iter().zip(0..);
    let records = all.map(|(trial, position)| {
        let is_wasm = trial.cell.variant == "wasm";
        let per_megabyte = if is_wasm { 300.0 * times } else { 300.0 };
        let day = 1.0 + 0.01 * f64::from(trial.block % 3) + if is_wasm { 0.003 } else { 0.0 };
        let mut record = measured(trial, position);
        let document = record.load_mut().unwrap();
        document.timed = None;
        document.sizes = SIZES.map(|bytes| size(bytes, day, per_megabyte)).to_vec();
        record
    });
    (run, records.collect())
}

fn size(bytes: u32, day: f64, per_megabyte: f64) -> PayloadSize {
    let microseconds = day * (40.0 + per_megabyte * f64::from(bytes) / 1e6);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and small"
    )]
    let cpu_nanoseconds = (microseconds * 1e3 * 2000.0) as u64;
    PayloadSize {
        bytes,
        answer_bytes: bytes.into(),
        requests: 2000,
        failed: 0,
        window: TimedWindow {
            duration_nanoseconds: 4_000_000_000,
            subject: Some(Meter {
                cpu_nanoseconds,
                ..Meter::default()
            }),
            ..TimedWindow::default()
        },
    }
}

fn found(times: f64) -> Summary {
    let (run, records) = records(times);
    summarize(&run, &records)
}

fn cell<'a>(summary: &'a Summary, variant: &str) -> &'a PayloadCell {
    let mut cells = summary.payload.iter();
    cells.find(|cell| cell.variant == variant).unwrap()
}

fn is_close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 0.03
}

#[test]
fn a_fixed_cost_and_a_cost_per_megabyte_are_found_with_their_intervals() {
    let summary = found(2.0);
    let detail = &cell(&summary, "wasm").detail;
    let fixed = detail.fixed_cpu_microseconds.unwrap();
    let slope = detail.cpu_microseconds_per_megabyte.unwrap();
    assert!(
        is_close(fixed.median, 40.0) && is_close(slope.median, 600.0),
        "{fixed:?} {slope:?}"
    );
    assert!(fixed.low < fixed.high && slope.low < slope.high);
    assert!(detail.off_line_share.unwrap() < 1e-3, "{detail:?}");
    let largest = detail.sizes.last().unwrap();
    assert!(is_close(largest.rps.unwrap().median, 500.0), "{largest:?}");
    let received = largest.received_megabytes_per_second.unwrap().median;
    assert!(is_close(received, 524.3), "{largest:?}");
}

#[test]
fn both_costs_are_compared_and_bytes_are_what_the_run_decides() {
    let summary = found(2.0);
    let compared = |metric| {
        let found = summary.comparison(cell(&summary, "wasm").any(), metric);
        found.unwrap()
    };
    let slope = compared(Metric::PayloadCpuPerMegabyte);
    assert!(slope.primary && slope.point == Point::Payload);
    assert_eq!(slope.verdict, Verdict::Larger);
    assert!(is_close(slope.estimate.ratio, 2.0), "{slope:?}");
    let fixed = compared(Metric::PayloadFixedCpu);
    assert!(!fixed.primary);
    assert_eq!(fixed.verdict, Verdict::Equivalent, "{fixed:?}");
    assert!(
        summary.verdict.contains("CPU per MB of payload"),
        "{}",
        summary.verdict
    );
}

#[test]
fn every_output_has_the_costs() {
    let summary = found(2.0);
    let report = &report_files_of(&summary).unwrap()["report.md"];
    for expected in [
        "## What bytes cost",
        "Per MB",
        "Off the line",
        "1.00 MiB",
        "In, MB/s",
    ] {
        assert!(report.contains(expected), "{expected}: {report}");
    }
    let csv = summary_csv(&summary);
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .contains("cpu_microseconds_per_megabyte_median"),
        "{csv}"
    );
    let compared = comparisons_csv(&summary);
    assert!(
        compared.contains("wasm,echo,payloadCpuPerMegabyte,payload"),
        "{compared}"
    );
    let rows = status_rows(&summary);
    let row = rows.iter().find(|row| row.variant == "wasm").unwrap();
    let status = row.payload.as_ref().unwrap();
    assert_eq!((status.trials, status.sizes.len()), (6, SIZES.len()));
    assert!(is_close(
        status.cpu_microseconds_per_megabyte.unwrap(),
        600.0
    ));
    let measures: Vec<&str> = row
        .versus_baseline
        .iter()
        .map(|one| one.metric.as_str())
        .collect();
    assert_eq!(measures, ["payloadCpuPerMegabyte", "payloadFixedCpu"]);
}

#[test]
fn a_failed_request_makes_a_trial_invalid_and_is_a_doubt() {
    let (run, mut records) = records(2.0);
    for record in records
        .iter_mut()
        .filter(|one| one.trial.cell.variant == "wasm")
    {
        record.load_mut().unwrap().sizes[4].failed = 3;
    }
    let summary = summarize(&run, &records);
    let wasm = cell(&summary, "wasm");
    assert!(wasm.is_invalid_by(Reason::ErrorsInLoad) && !wasm.ranked);
    let doubt = summary
        .doubts
        .iter()
        .find(|one| one.reason == Reason::ErrorsInLoad);
    assert!(
        doubt
            .unwrap()
            .message
            .contains("payload of wasm on echo (18 failed requests)"),
        "{doubt:?}"
    );
    assert!(summary.comparisons.is_empty());
}

#[test]
fn without_cpu_time_there_are_rates_and_no_costs() {
    let (run, mut records) = records(2.0);
    for record in &mut records {
        for size in &mut record.load_mut().unwrap().sizes {
            size.window.subject = None;
        }
    }
    let summary = summarize(&run, &records);
    let detail = &cell(&summary, "native").detail;
    assert_eq!(detail.cpu_microseconds_per_megabyte, None);
    assert!(detail.sizes[0].rps.is_some());
    assert!(!report_html(&summary, usize::MAX).contains("Payload: CPU time"));
}

#[test]
fn the_plot_has_every_size_of_every_trial_and_a_line_for_each_variant() {
    let summary = found(2.0);
    for page in [
        report_html(&summary, usize::MAX),
        plots(&summary, usize::MAX, true).into_string(),
    ] {
        for expected in [
            "Payload: CPU time per request by the size of its body",
            "wasm: 40",
            "us per MB",
            "logarithmic axis",
            "256 KiB",
            "wasm, block 3, 1.00 MiB: ",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        let points = page.matches("wasm, block ").count();
        assert_eq!(points, 6 * SIZES.len());
    }
}
