//! A number is rounded only once: rounding it again may change its last digit.

#![allow(clippy::float_cmp, reason = "digit by digit is what is tested")]

use wasmbench_controller::status::rows::status_rows;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::summary::collect::summarize;

use crate::results_support::{all_measured, run};

#[test]
fn the_status_has_the_numbers_of_the_report_digit_by_digit() {
    let summary = summarize(&run(), &all_measured(&run()));
    let rows = status_rows(&summary);
    assert_eq!(rows.len(), 4);
    let points = rows.iter().flat_map(|row| {
        let curve = row.throughput.iter().flat_map(|curve| &curve.points);
        curve.map(move |point| (row, point))
    });
    assert_eq!(points.clone().count(), 4);
    for (row, point) in points {
        let is_mine = |c: &&LoadCell| {
            (&c.variant, &c.workload) == (&row.variant, &row.workload)
                && c.detail.connections == point.connections
        };
        let cell = summary.cells.iter().find(is_mine).unwrap();
        assert_eq!(point.rps, cell.detail.rps.unwrap().median);
        assert_eq!(
            point.p99_microseconds,
            cell.detail.p99_microseconds.unwrap().median
        );
    }
    let shown: Vec<f64> = rows
        .iter()
        .flat_map(|row| &row.versus_baseline)
        .map(|r| r.judged.ratio)
        .collect();
    let found = |variant: &str| {
        let all = summary.comparisons.iter();
        all.filter(move |c| c.variant == variant)
            .map(|c| c.estimate.ratio)
            .collect::<Vec<f64>>()
    };
    assert_eq!(shown, found("embedded"));
    // Four digits would not do: they would be rounded again.
    assert!(
        shown.iter().any(|ratio| ratio.to_string().len() > 5),
        "{shown:?}"
    );
}
