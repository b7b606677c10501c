//! What people see of points and numbers that do not count, in the terminal, in tables and in plots.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a broken fixture must stop the test"
)]

mod results_support;

use results_support::{all_measured, run};
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus};
use wasmbench_core::results::html::report_html;
use wasmbench_core::results::rows::status_rows;
use wasmbench_core::results::status_table::status_text;
use wasmbench_core::results::summary::Summary;
use wasmbench_core::results::{RunInput, summarize};
use wasmbench_core::wire::record::{Point, Record};

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

/// Records in which a CPU limit stopped `embedded` under `hello` at these points.
fn throttled(input: &RunInput, points: &[Point]) -> Vec<Record> {
    let mut records = all_measured(input);
    let is_meant = |record: &&mut Record| {
        let cell = &record.trial.cell;
        let of_hello = (cell.variant.as_str(), cell.workload.as_str()) == ("embedded", "hello");
        of_hello && points.contains(&cell.point)
    };
    for record in records.iter_mut().filter(is_meant) {
        let timed = record.document.as_mut().unwrap().timed.as_mut().unwrap();
        timed.subject.as_mut().unwrap().throttled_periods = Some(3);
    }
    records
}

#[test]
fn the_terminal_names_the_reason_beside_the_numbers_of_invalid_points() {
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
    // What was used without a load is nothing that a load used.
    assert!(!embedded.contains("MiB") && native.contains("MiB"), "{shown}");

    let warm_only = summarize(&input, &throttled(&input, &points[..1]));
    let shown = terminal(&input, &warm_only);
    let embedded = line(&shown, "embedded");
    assert!(embedded.ends_with("warm: Throttled"), "{shown}");
    assert!(embedded.contains("MiB"), "{shown}");

    let clean = summarize(&input, &all_measured(&input));
    let shown = terminal(&input, &clean);
    assert!(!shown.contains("INVALID"), "{shown}");
}

#[test]
fn every_trial_of_an_invalid_point_is_crossed_and_its_median_says_so() {
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
    // On a curve the median's mark has the reason.
    let records = throttled(&input, &[Point::Throughput { connections: 10 }]);
    let html = report_html(&summarize(&input, &records), usize::MAX);
    let marks = "<title>point invalid: Throttled</title><path class=\"median\"";
    assert_eq!(html.matches(marks).count(), 5);
    assert_eq!(html.matches("class=\"out").count(), 5 * 5);
}
