//! The plot of capacity: what a synthetic run shows of it on the page and in the dashboard.

use wasmbench_model::wire::record::{Cell, Point};
use wasmbench_report::html::{plots, report_html};
use wasmbench_results::cells::capacity::limits::Limits;
use wasmbench_results::cells::capacity::{
    BlockRung, CapacityBlock, CapacityCell, CapacityDetail, RungOutcome, RungSummary,
};
use wasmbench_results::statistics::{BoundedSpread, OneSided, Spread};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::counts::TrialCounts;
use wasmbench_results::vocabulary::doubt::Reason;

use crate::results_support::{all_measured, run};

const TARGET: f64 = 50e3;
const RATES: [f64; 4] = [200.0, 300.0, 450.0, 700.0];

/// A rung with this p99; one without has taken too long.
fn rung(rps: f64, p99: Option<f64>, is_invalid: bool) -> BlockRung {
    let outcome = match p99 {
        _ if is_invalid => RungOutcome::Invalid,
        Some(p99) if p99 <= TARGET => RungOutcome::Met,
        Some(_) | None => RungOutcome::Missed,
    };
    BlockRung {
        requested_rps: rps,
        outcome,
        sent_rps: p99.map(|_| rps),
        p50_microseconds: p99.map(|p99| p99 / 3.0),
        p99_microseconds: p99,
        failed: p99.map(|_| 0),
        generator_p99_microseconds: p99.map(|_| 80.0),
    }
}

/// A variant with these p99s in each of five blocks, at rates that differ a little.
fn cell(variant: &str, p99s: &[Option<f64>], rps: BoundedSpread) -> CapacityCell {
    let bound = match (rps.median, rps.low) {
        (Some(_), _) => None,
        (None, Some(_)) => Some(OneSided::AtLeast),
        (None, None) => Some(OneSided::AtMost),
    };
    let blocks = (1..=5u32).map(|block| {
        let shift = 0.94 + 0.02 * f64::from(block);
        let rungs = RATES.iter().zip(p99s);
        CapacityBlock {
            block,
            rps: rps.median.or(rps.low).or(rps.high),
            bound,
            cpu_microseconds_per_request: None,
            memory_bytes: None,
            rungs: rungs
                .map(|(rate, p99)| rung(rate * shift, *p99, variant == "native" && *rate > 600.0))
                .collect(),
        }
    });
    let spread = |number: f64| Spread {
        median: number,
        low: number,
        high: number,
    };
    let rungs = RATES.iter().zip(p99s).map(|(rate, p99)| RungSummary {
        requested_rps: *rate,
        trials: 5,
        met: 5,
        invalid: if variant == "native" && *rate > 600.0 {
            5
        } else {
            0
        },
        sent_rps: p99.map(|_| spread(*rate)),
        p50_microseconds: p99.map(spread),
        p99_microseconds: p99.map(spread),
        failed_share_max: None,
        throttled_share_of_periods: None,
    });
    let detail = CapacityDetail {
        target_p99_microseconds: TARGET,
        connections: 50,
        rps,
        cpu_microseconds_per_request: None,
        memory_bytes: None,
        limits: Limits::default(),
        noisy_blocks: 0,
        noise_unknown_blocks: 0,
        rungs: rungs.collect(),
        blocks: blocks.collect(),
    };
    let cell = Cell {
        variant: variant.to_owned(),
        workload: "hello".to_owned(),
        point: Point::Capacity,
    };
    let counts = TrialCounts {
        planned: 5,
        valid: 5,
        ..TrialCounts::default()
    };
    CapacityCell::new(cell, counts, detail, vec![])
}

fn known(median: f64) -> BoundedSpread {
    BoundedSpread {
        median: Some(median),
        low: Some(median * 0.97),
        high: Some(median * 1.03),
    }
}

/// A run in which `native` crosses the target and `embedded` meets it on every rung.
fn summary() -> Summary {
    let run = run();
    let mut summary = summarize(&run, &all_measured(&run));
    let at_least = BoundedSpread {
        median: None,
        low: Some(700.0),
        high: None,
    };
    summary.capacity = vec![
        cell("native", &[3e3, 9e3, 80e3, 2e6].map(Some), known(420.0)),
        cell("embedded", &[2e3, 2e3, 3e3, 6e3].map(Some), at_least),
    ];
    summary
}

#[test]
fn the_page_and_the_dashboard_show_where_each_variant_crosses_the_target() {
    let summary = summary();
    for page in [
        report_html(&summary, usize::MAX),
        plots(&summary, usize::MAX, true).into_string(),
    ] {
        for expected in [
            "Capacity: p99 by rate",
            "target: p99 of 50 ms",
            "native: 420/s (407 to 433)",
            "embedded: at least 700/s",
            "requests per second",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        assert_eq!(page.matches("class=\"target\"").count(), 1, "one workload");
    }
}

#[test]
fn every_rung_is_a_point_with_its_rate_and_a_late_generator_is_named() {
    let page = report_html(&summary(), usize::MAX);
    for block in 1..=5 {
        let points = page.matches(&format!(", block {block}, ")).count();
        assert_eq!(points, 2 * RATES.len(), "block {block}");
    }
    assert_eq!(
        page.matches("invalid: the load generator was late").count(),
        5
    );
    assert!(page.contains("native, block 3, 200/s: 3.00 ms"), "{page}");
}

#[test]
fn rungs_that_took_too_long_are_counted_beneath_the_plot() {
    let mut summary = summary();
    let slow = BoundedSpread {
        median: None,
        low: None,
        high: Some(200.0),
    };
    summary.capacity[1] = cell("embedded", &[Some(90e3), None], slow);
    let page = report_html(&summary, usize::MAX);
    for expected in [
        "embedded: at most 200/s",
        "5 rung(s) took more than twice their time",
        "took more than twice its time",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn a_rung_that_failures_made_miss_the_target_is_not_drawn_below_it() {
    let mut summary = summary();
    let detail = &mut summary.capacity[1].detail;
    for block in &mut detail.blocks {
        let last = &mut block.rungs[3];
        (last.outcome, last.failed) = (RungOutcome::Missed, Some(400));
    }
    detail.rungs[3].met = 0;
    detail.blocks[0].rungs[3].p99_microseconds = None;
    let page = report_html(&summary, usize::MAX);
    for expected in [
        "5 rung(s) took more than twice their time or had too many failures",
        "6.00 ms, 400 failed",
        "no right answer, 400 failed",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn a_variant_that_does_not_count_has_points_but_no_line_and_no_crossing() {
    let mut summary = summary();
    let invalid = &mut summary.capacity[1];
    invalid.ranked = false;
    invalid.invalid_because = vec![Reason::Throttled];
    let page = report_html(&summary, usize::MAX);
    assert!(!page.contains("embedded: at least"), "{page}");
    assert!(
        page.contains("embedded: point invalid: Throttled"),
        "{page}"
    );
    assert!(page.contains("embedded, block 1, "), "{page}");
}

#[test]
fn a_run_without_a_target_has_no_such_plot() {
    let run = run();
    let page = report_html(&summarize(&run, &all_measured(&run)), usize::MAX);
    assert!(!page.contains("Capacity: p99"), "{page}");
}
