//! The one-line verdict of a run if its first choice has no comparison.

use serde_json::json;
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::{all_measured, fortio, run, run_with, slower};

fn summary_with(
    run: &RunInput,
    which: impl Fn(&TrialId) -> bool,
    change: impl Fn(&mut Record),
) -> Summary {
    let mut records = all_measured(run);
    let changed = records.iter_mut().filter(|record| which(&record.trial));
    changed.for_each(change);
    summarize(run, &records)
}

#[test]
fn the_verdict_uses_warm_latency_if_all_rates_are_the_generators() {
    let is_throughput = |trial: &TrialId| trial.cell.point != Point::WarmLatency;
    let summary = summary_with(&run(), is_throughput, |record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.generator_cpu_limit = Some(0.5);
        window.generator_cpu_nanoseconds = Some(window.duration_nanoseconds / 2);
    });
    let line = "embedded: 1.92x native's warm p50 latency on hello (";
    assert!(summary.verdict.starts_with(line), "{}", summary.verdict);
    assert!(summary.verdict.contains("slower"), "{}", summary.verdict);
}

#[test]
fn a_rate_below_half_is_stated_as_how_many_times_fewer_requests() {
    let mut run = run();
    run.spec.primary_measures = vec![Metric::ThroughputRps];
    let of_embedded = |trial: &TrialId| trial.cell.variant == "embedded";
    let summary = summary_with(&run, of_embedded, |record| {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.fortio = slower(window.fortio.clone(), 10.0);
    });
    let line = &summary.verdict;
    let (first, second) = line.split_once("; ").unwrap();
    assert!(
        first.starts_with("embedded: 19.2x fewer requests/s than native on hello (")
            && first.contains("), at least 1"),
        "{line}"
    );
    assert!(second.ends_with("x fewer requests/s on compute"), "{line}");
    let ratio = summary.comparisons.iter().find(|one| one.primary).unwrap();
    assert!(
        ratio.text().ends_with(", fewer requests/s"),
        "tables keep the ratio"
    );
    assert!(ratio.text().starts_with("0.05"), "{}", ratio.text());
}

/// A run on a schedule at 200 and 500 requests per second.
fn on_schedule() -> RunInput {
    run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded"},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"openLoop": {"rates": [200, 500]}},
    }))
}

#[test]
fn the_verdict_uses_the_p50_from_the_schedule_if_there_is_no_p99() {
    let summary = summary_with(
        &on_schedule(),
        |_| true,
        |record| {
            let document = record.load_mut().unwrap();
            // 300 requests.
            document.timed.as_mut().unwrap().fortio = fortio("exactly");
        },
    );
    let line = "native's p50 from the schedule at 500 requests/s on hello (";
    assert!(summary.verdict.contains(line), "{}", summary.verdict);
}

#[test]
fn the_verdict_uses_the_highest_compared_rate_if_the_highest_is_invalid() {
    let is_highest = |trial: &TrialId| {
        let rate = Rate::Rps(500);
        trial.cell.point == Point::OpenLoop { rate }
    };
    let summary = summary_with(&on_schedule(), is_highest, |record| {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        timed.open_loop.as_mut().unwrap().achieved_share = 0.9;
    });
    let line = "native's p99 from the schedule at 200 requests/s on hello (";
    assert!(summary.verdict.contains(line), "{}", summary.verdict);
}
