//! A synthetic run for the tests of results: the spec of a realistic comparison, and records whose
//! windows are real fortio output, stretched by a factor per variant and block.

pub mod capacity;
pub mod climbs;
pub mod cold_starts;
mod document;
mod loads;
mod output;
mod records;

use serde_json::{Value, json};
use wasmbench_api::run::BenchmarkRunSpec;
use wasmbench_model::wire::record::{Record, TrialId};
use wasmbench_results::summary::collect::RunInput;

pub use loads::{measured, quantiles};
pub use output::{fortio, slower};
pub use records::{facts, failed, record, recorded_at, skipped};

/// Uid of the synthetic run.
pub const UID: &str = "5a1b9f0c-1111-4222-8333-444455556666";

/// A run of two variants and two workloads: warm latency and two throughput points, five blocks.
pub fn run() -> RunInput {
    run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "baseline": "native",
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded", "engine": {"allocator": "Pooling"}},
        ],
        "workloads": [
            {"name": "hello", "path": "/", "expect": {"bodySuffix": "hello"}},
            {"name": "compute", "path": "/compute?iters=20000", "expect": {"sameAcrossVariants": true}},
        ],
        "sweeps": {
            "warmLatency": {"requests": 300},
            "throughput": {"connections": [10, 50], "durationSeconds": 2},
        },
    }))
}

/// A run with this spec.
pub fn run_with(spec: Value) -> RunInput {
    RunInput {
        namespace: "default".into(),
        name: "gateway-overhead".into(),
        uid: UID.into(),
        seed: 42,
        spec: serde_json::from_value::<BenchmarkRunSpec>(spec).expect("a spec"),
    }
}

/// Every trial of a run, unshuffled.
pub fn trials(run: &RunInput) -> Vec<TrialId> {
    let cells = wasmbench_model::cells::cells_of(&wasmbench_model::twin::with_twin(&run.spec));
    (1..=run.spec.blocks)
        .flat_map(|block| {
            cells.iter().map(move |cell| TrialId {
                cell: cell.clone(),
                block,
            })
        })
        .collect()
}

/// A measured record for every trial of a run.
pub fn all_measured(run: &RunInput) -> Vec<Record> {
    trials(run)
        .into_iter()
        .zip(0..)
        .map(|(trial, position)| measured(trial, position))
        .collect()
}

/// Stretches the loads of trials by `factor`, which must pick at least one trial.
pub fn slow(records: &mut [Record], factor: impl Fn(&TrialId) -> Option<f64>) {
    let mut picked = 0;
    for record in records {
        let Some(factor) = factor(&record.trial) else {
            continue;
        };
        if let Some(window) = record.load_mut().and_then(|load| load.timed.as_mut()) {
            window.fortio = slower(window.fortio.clone(), factor);
            picked += 1;
        }
    }
    assert!(picked > 0, "no load is stretched");
}

/// Adds the variant `shim` to the run.
pub fn add_shim(run: &mut RunInput) {
    let mut shim = run.spec.variants[0].clone();
    shim.name = "shim".into();
    run.spec.variants.push(shim);
}

/// Replaces the trials of the variant `shim`, which cannot be started.
pub fn shim_cannot_start(records: &mut [Record], why: &str) {
    let is_shim = |trial: &TrialId| trial.cell.variant == "shim";
    replace(records, is_shim, |trial, position| {
        let outcome = if trial.block == 1 {
            failed("RuntimeClassNotFound", why)
        } else {
            skipped("RuntimeClassNotFound", why)
        };
        record(trial, position, outcome, None)
    });
}

/// Replaces the records of the trials that `which` picks, which must be at least one.
pub fn replace(
    records: &mut [Record],
    which: impl Fn(&TrialId) -> bool,
    with: impl Fn(TrialId, u32) -> Record,
) {
    let mut picked = 0;
    for record in records.iter_mut().filter(|record| which(&record.trial)) {
        *record = with(record.trial.clone(), record.position);
        picked += 1;
    }
    assert!(picked > 0, "no record is replaced");
}
