//! Climbs of a ladder of rates by subjects whose capacity is known.

use serde_json::json;
use wasmbench_model::ladder;
use wasmbench_model::wire::document::{Meter, NodeCpu, Rung, TimedWindow};
use wasmbench_model::wire::open_loop::{OpenLoopWindow, Quantiles};
use wasmbench_model::wire::record::{Record, TrialId};
use wasmbench_model::wire::request::Target;
use wasmbench_results::cells::capacity::CapacityCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};

use super::{measured, run_with, trials};

const RATES: [u32; 6] = [200, 260, 340, 440, 570, 740];
const TARGET: Target = Target {
    p99_microseconds: 50_000.0,
    max_error_share: 0.0,
};

/// Six blocks of two variants whose capacity `most` gives, in requests per second.
pub fn records(most: impl Fn(&TrialId) -> f64) -> (RunInput, Vec<Record>) {
    records_of(6, most)
}

/// The same of so many blocks.
pub fn records_of(blocks: u32, most: impl Fn(&TrialId) -> f64) -> (RunInput, Vec<Record>) {
    let run = run_with(json!({
        "blocks": blocks, "noiseFloor": false,
        "resources": {"limits": {"cpu": "500m"}},
        "variants": [{"name": "native", "preset": "native"}, {"name": "wasm", "preset": "wasmtime-embedded"}],
        "workloads": [{"name": "shop"}],
        "sweeps": {"openLoop": {"target": {"p99": "50ms"}, "rates": RATES}},
        "expectations": [{"name": "gate", "metric": "capacity", "variant": "wasm", "workload": "shop",
                          "atLeast": "0.6"}],
    }));
    let all = trials(&run).into_iter().zip(0..);
    let records = all.map(|(trial, position)| {
        let rungs = climb(most(&trial));
        let mut record = measured(trial, position);
        let document = record.load_mut().unwrap();
        document.timed = None;
        document.rungs = rungs;
        record
    });
    (run, records.collect())
}

/// Answers take 10 ms up to `most`, and a hundred times as long above it.
fn climb(most: f64) -> Vec<Rung> {
    let mut rungs = vec![];
    for rps in RATES.map(f64::from) {
        rungs.push(rung(rps, if rps <= most { 10.0 } else { 1000.0 }));
        if ladder::is_over(&ladder::outcomes(&rungs, TARGET)) {
            break;
        }
    }
    rungs
}

/// A rung at this rate with this p99: a thousand requests, and 30 of 100 periods in which a limit stopped the subject.
pub fn rung(rps: f64, p99_milliseconds: f64) -> Rung {
    let open_loop = OpenLoopWindow {
        requested_rps: rps,
        achieved_share: 1.0,
        requests: 1000,
        from_schedule: Quantiles {
            p50_microseconds: 5000.0,
            p99_microseconds: p99_milliseconds * 1e3,
            ..Quantiles::default()
        },
        ..OpenLoopWindow::default()
    };
    Rung {
        requested_rps: rps,
        between: false,
        window: Some(TimedWindow {
            duration_nanoseconds: 10_000_000_000,
            open_loop: Some(open_loop),
            subject: Some(Meter {
                cpu_nanoseconds: 2_000_000_000,
                memory_bytes: 32 << 20,
                throttled_periods: Some(30),
                limit_periods: Some(100),
                ..Meter::default()
            }),
            generator_cpu_nanoseconds: Some(1_000_000_000),
            node: Some(NodeCpu {
                busy_nanoseconds: 3_000_000_000,
                ..NodeCpu::default()
            }),
            ..TimedWindow::default()
        }),
    }
}

/// The baseline can do 500 requests per second, the other variant this many.
pub fn with(wasm: f64) -> (Summary, Vec<Record>, RunInput) {
    let (run, records) = records(|trial| {
        if trial.cell.variant == "wasm" {
            wasm
        } else {
            500.0
        }
    });
    (summarize(&run, &records), records, run)
}

/// The cell of a variant.
pub fn cell<'a>(summary: &'a Summary, variant: &str) -> &'a CapacityCell {
    let mut cells = summary.capacity.iter();
    cells.find(|cell| cell.variant == variant).unwrap()
}
