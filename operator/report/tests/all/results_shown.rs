//! What people see of points and numbers that do not count, in the terminal, in tables and in
//! plots.

use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus};
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_report::files::report_files;
use wasmbench_report::html::report_html;
use wasmbench_report::markdown::report_md;
use wasmbench_report::terminal::status_text;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::summary::verdict::statement::without_comparison;

use crate::results_support::{all_measured, failed, record, replace, run, run_with};

/// What the terminal shows.
fn terminal(input: &RunInput, summary: &Summary) -> String {
    let mut run = BenchmarkRun::new(&input.name, input.spec.clone());
    run.status = Some(BenchmarkRunStatus {
        baseline: Some(summary.baseline.clone()),
        summary: status_rows(summary),
        ..BenchmarkRunStatus::default()
    });
    status_text(&run)
}

/// The line of a variant in the first table.
fn line<'a>(text: &'a str, variant: &str) -> &'a str {
    let mut lines = text.lines();
    lines.find(|line| line.starts_with(variant)).unwrap()
}

/// Records in which a CPU limit throttled `embedded` under `hello` at these points.
fn throttled(input: &RunInput, points: &[Point]) -> Vec<Record> {
    let mut records = all_measured(input);
    let is_meant = |record: &&mut Record| {
        let cell = &record.trial.cell;
        let of_hello = (cell.variant.as_str(), cell.workload.as_str()) == ("embedded", "hello");
        of_hello && points.contains(&cell.point)
    };
    for record in records.iter_mut().filter(is_meant) {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        timed.subject.as_mut().unwrap().throttled_periods = Some(3);
    }
    records
}

#[test]
fn the_terminal_shows_the_reason_next_to_the_numbers_of_invalid_points() {
    let input = run();
    let points = [
        Point::WarmLatency,
        Point::Throughput { connections: 10 },
        Point::Throughput { connections: 50 },
    ];
    let all = summarize(&input, &throttled(&input, &points));
    let shown = terminal(&input, &all);
    let embedded = line(&shown, "embedded");
    assert!(
        embedded.ends_with("warm: Throttled; at 10, 50 connections: Throttled"),
        "{shown}"
    );
    let native = line(&shown, "native");
    assert!(!native.contains("Throttled"), "{shown}");
    // Usage without a load must not pass for usage under a load.
    assert!(
        !embedded.contains("MiB") && native.contains("MiB"),
        "{shown}"
    );

    let warm_only = summarize(&input, &throttled(&input, &points[..1]));
    let shown = terminal(&input, &warm_only);
    let embedded = line(&shown, "embedded");
    assert!(embedded.ends_with("warm: Throttled"), "{shown}");
    assert!(embedded.contains("MiB"), "{shown}");
    let warm: Vec<&str> = embedded.split_whitespace().skip(1).take(2).collect();
    assert_eq!(warm, ["-", "-"], "{shown}");

    let clean = summarize(&input, &all_measured(&input));
    let shown = terminal(&input, &clean);
    assert!(!shown.contains("INVALID"), "{shown}");
}

#[test]
fn every_trial_of_an_invalid_point_is_crossed_and_its_median_marked_invalid() {
    let input = run();
    let crossed = "point invalid: Throttled: ";
    let clean = report_html(&summarize(&input, &all_measured(&input)), usize::MAX);
    assert!(!clean.contains(crossed) && !clean.contains("class=\"out"));
    let records = throttled(&input, &[Point::WarmLatency]);
    let html = report_html(&summarize(&input, &records), usize::MAX);
    // Four plots of a warm variant, in five blocks each.
    assert_eq!(html.matches(crossed).count(), 4 * 5);
    assert_eq!(html.matches("class=\"out").count(), 4 * 5);
    let medians = "<title>point invalid: Throttled</title><text class=\"none\"";
    assert_eq!(html.matches(medians).count(), 4);
    assert_eq!(html.matches(">invalid</text>").count(), 4);
    // A curve has no median there, and the reason is below it.
    let records = throttled(&input, &[Point::Throughput { connections: 10 }]);
    let html = report_html(&summarize(&input, &records), usize::MAX);
    let beneath = "embedded: point invalid: Throttled (each at 10 connections)";
    assert_eq!(html.matches(beneath).count(), 5, "{html}");
    assert_eq!(html.matches("class=\"out").count(), 5 * 5);
}

/// Records of windows in which `requests` requests succeeded.
fn with_requests(input: &RunInput, requests: u64) -> Vec<Record> {
    let mut records = all_measured(input);
    for record in &mut records {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        timed.fortio["RetCodes"] = json!({"200": requests});
        let bucket = json!({"Start": 0.000_25, "End": 0.000_26, "Count": requests});
        let histogram = &mut timed.fortio["DurationHistogram"];
        (histogram["Count"], histogram["Data"]) = (json!(requests), json!([bucket]));
    }
    records
}

/// The value of a column in the first row of the first table of a report that has the column.
fn column(report: &str, name: &str) -> String {
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut lines = report.lines();
    let has = |line: &&str| line.starts_with('|') && cells(line).iter().any(|cell| cell == name);
    let header = cells(lines.by_ref().find(has).unwrap());
    let index = header.iter().position(|cell| cell == name).unwrap();
    cells(lines.nth(1).unwrap())[index].clone()
}

#[test]
fn a_p90_of_fewer_than_100_requests_is_marked_in_the_tables_of_loads() {
    let open = run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "variants": [{"name": "native", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"openLoop": {"rates": [500]}},
    }));
    for input in [run(), open] {
        for (requests, [p90, p99]) in [(99, ["~"; 2]), (100, ["", "~"]), (1000, ["", ""])] {
            let records = with_requests(&input, requests);
            let report = &report_files(&input, &records).unwrap()["report.md"];
            let is_marked = |name| column(report, name).starts_with('~');
            let expected = (!p90.is_empty(), !p99.is_empty());
            assert_eq!((is_marked("p90"), is_marked("p99")), expected, "{report}");
        }
    }
}

#[test]
fn a_p99_of_an_open_loop_with_few_requests_is_marked_where_shown() {
    let input = run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "variants": [{"name": "native", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"openLoop": {"rates": [500]}},
    }));
    for (requests, marks) in [(999, 2), (1000, 0)] {
        let summary = summarize(&input, &with_requests(&input, requests));
        let shown = terminal(&input, &summary);
        assert_eq!(
            line(&shown, "native").matches('~').count(),
            marks,
            "{shown}"
        );
        let report = report_md(&summary, usize::MAX);
        assert!(
            !report.contains("## Loads"),
            "no table would follow: {report}"
        );
        let statement = without_comparison(&summary.cells[0].detail).unwrap();
        assert_eq!(statement.contains(" ~"), marks > 0, "{statement}");
        let point = serde_json::to_value(&status_rows(&summary)[0].open_loop[0]).unwrap();
        assert_eq!(point.get("p99NotCarried").is_some(), marks > 0, "{point}");
    }
}

/// A field of the first row of `summary.csv` that starts with `row`.
fn field(csv: &str, row: &str, name: &str) -> String {
    let mut lines = csv.lines();
    let mut header = lines.next().unwrap().split(',');
    let index = header.position(|column| column == name).unwrap();
    let row = lines.find(|line| line.starts_with(row)).unwrap();
    row.split(',').nth(index).unwrap().to_owned()
}

#[test]
fn a_count_that_was_never_taken_is_absent_not_zero() {
    let input = run();
    let mut records = all_measured(&input);
    for record in &mut records {
        let is_metered = record.trial.cell.variant == "native";
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        let meter = timed.subject.take().filter(|_| is_metered);
        timed.subject = meter;
    }
    let is_lost = |t: &TrialId| (t.cell.variant.as_str(), t.block) == ("embedded", 2);
    replace(&mut records, is_lost, |t, position| {
        record(t, position, failed("SubjectCrashed", "it ended"), None)
    });
    let is_compute = |t: &TrialId| t.cell.variant == "embedded" && t.cell.workload == "compute";
    replace(&mut records, is_compute, |t, position| {
        record(t, position, failed("SubjectCrashed", "it ended"), None)
    });
    let files = report_files(&input, &records).unwrap();

    let csv = &files["summary.csv"];
    let fields = |row| {
        let names = ["requests_per_trial_min", "throttled_periods"];
        names.map(|name| field(csv, row, name))
    };
    assert_eq!(fields("native,hello,warm"), ["300", "0"]);
    assert_eq!(fields("embedded,hello,warm"), ["300", ""]);
    assert_eq!(fields("embedded,compute,warm"), ["", ""]);

    let json: serde_json::Value = serde_json::from_str(&files["summary.json"]).unwrap();
    let mut cells = json["cells"].as_array().unwrap().iter();
    let cell = cells.find(|cell| cell["variant"] == "embedded" && cell["workload"] == "compute");
    let absent = ["fewestRequests", "throttledPeriods"].map(|name| cell.unwrap().get(name));
    assert_eq!(absent, [None, None]);
    assert_eq!(json["cells"][0]["throttledPeriods"], 0);

    let report = &files["report.md"];
    let mut rows = report.lines();
    let row: Vec<&str> = rows
        .find(|row| row.starts_with("| embedded/compute/warm/b1 "))
        .unwrap()
        .trim_matches('|')
        .split('|')
        .map(str::trim)
        .collect();
    assert!(row[2].contains("SubjectCrashed"), "{row:?}");
    assert_eq!(row[3..5], ["-", "-"], "{row:?}");
}

#[test]
fn ranges_exclude_what_pods_and_shims_used_in_invalid_points() {
    let input = run();
    let mut records = throttled(&input, &[Point::Throughput { connections: 10 }]);
    for (record, trial) in records.iter_mut().zip(1_u64..) {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        let meter = timed.subject.as_mut().unwrap();
        let is_throttled = meter.throttled_periods == Some(3);
        // Every trial differs; those of the invalid point are far off.
        let bytes = if is_throttled { 1 << 40 } else { trial << 20 };
        meter.outside.as_mut().unwrap().resident_bytes = bytes;
        meter.memory_peak_bytes = Some(bytes);
    }
    let summary = summarize(&input, &records);
    let mut shims = summary.shims.iter();
    let shim = shims.find(|shim| shim.variant == "embedded").unwrap();
    let mut pods = summary.sandboxes.iter();
    let pod = pods.find(|pod| pod.variant == "embedded").unwrap();
    let used: Vec<f64> = records
        .iter()
        .filter_map(|record| {
            let timed = record.load()?.timed.as_ref()?;
            let bytes = timed.subject.as_ref()?.memory_peak_bytes?;
            let is_shown = record.trial.cell.variant == "embedded" && bytes < 1 << 40;
            is_shown.then_some(bytes as f64)
        })
        .collect();
    assert_eq!(used.len(), 25, "of six points one is out");
    let close = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 1e-3;
    for range in [shim.resident_bytes, pod.peak_bytes.unwrap()] {
        // The extremes rather than the ends of an interval.
        assert!(close(range.min, used[0]), "{range:?}");
        assert!(close(range.max, used[24]), "{range:?}");
    }
    let report = &report_files(&input, &records).unwrap()["report.md"];
    let (_, outside) = report.split_once("## Outside the pods").unwrap();
    assert!(outside.contains(" Range |"), "{outside}");
}

/// A status with ratios of all sweeps.
fn status_of_all_sweeps() -> Value {
    let start = json!({
        "p50Microseconds": 200_000.0, "p90Microseconds": 300_000.0,
        "versusBaseline": {
            "ratio": 2.0, "low": 1.9, "high": 2.1, "verdict": "Slower", "blocks": 5, "primary": true,
            "differenceMicroseconds": 100_000.0,
            "differenceLowMicroseconds": 90_000.0, "differenceHighMicroseconds": 110_000.0,
        },
    });
    let once = json!({
        "p50Microseconds": 250_000.0, "p90Microseconds": 300_000.0,
        "versusBaseline": {"ratio": 2.0, "verdict": "Inconclusive", "blocks": 1},
    });
    let open = json!({
        "percentOfPeak": 90, "trials": 5, "requestedRps": 100.0, "achievedPercent": 99.0,
        "p50Microseconds": 1.0, "p99Microseconds": 2.0, "serviceP99Microseconds": 1.0,
        "ratio": 1.5, "low": 1.4, "high": 1.6, "verdict": "Slower", "untrusted": "NodeNoisy", "blocks": 5,
    });
    let load = |metric: &str, verdict: &str| {
        let floor = json!({"noiseFloor": 1.02, "low": 0.9, "high": 1.1});
        let mut ratio = json!({"metric": metric, "ratio": 1.0, "verdict": verdict, "blocks": 5});
        ratio
            .as_object_mut()
            .unwrap()
            .extend(floor.as_object().unwrap().clone());
        ratio
    };
    json!({"baseline": "native", "summary": [
        {"variant": "native", "workload": "hello"},
        {
            "variant": "shim", "workload": "hello",
            "coldStart": [{"concurrency": 4, "trials": 5, "samples": 5, "listening": start, "answer": once}],
            "openLoop": [open],
            "density": {"trials": 5, "instances": 8, "ratio": 0.5, "verdict": "Smaller", "blocks": 5},
            "versusBaseline": [load("throughputRps", "Equivalent"), load("succeeded", "Smaller")],
        },
    ]})
}

#[test]
fn one_table_of_a_terminal_has_the_ratios_of_all_sweeps() {
    let mut run = BenchmarkRun::new("all", run().spec);
    run.status = Some(serde_json::from_value(status_of_all_sweeps()).unwrap());
    let text = status_text(&run);
    let table: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("VERSUS native"))
        .take_while(|line| !line.is_empty())
        .map(str::trim_end)
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn the_terminal_counts_the_rows_that_only_the_report_has() {
    let mut run = BenchmarkRun::new("all", run().spec);
    run.metadata.namespace = Some("bench".into());
    run.status = Some(serde_json::from_value(status_of_all_sweeps()).unwrap());
    assert!(!status_text(&run).contains("The report has"));
    run.status.as_mut().unwrap().summary_rows_omitted = 3;
    let text = status_text(&run);
    let remark =
        "The report has all points and 3 more row(s): kubectl wasmbench report all -n bench\n";
    assert!(text.contains(remark), "{text}");
}
