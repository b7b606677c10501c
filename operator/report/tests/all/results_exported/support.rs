//! Runs to export.

use serde_json::{Value, json};
use wasmbench_model::wire::record::{Outcome, Point, Record, TrialId};
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};

use crate::results_support::{
    add_shim, all_measured, failed, fortio, record, replace, run, shim_cannot_start,
};

/// The usual run with `blocks` blocks, plus a variant that cannot be started.
pub fn with_blocks(blocks: u32) -> RunInput {
    let mut run = run();
    run.spec.blocks = blocks;
    add_shim(&mut run);
    run
}

/// The run's records: one trial of one point has errors, and the variant that cannot be started
/// has a reason.
pub fn records(run: &RunInput) -> Vec<Record> {
    let mut records = all_measured(run);
    let errors = |trial: &TrialId| {
        trial.cell.variant == "embedded"
            && trial.cell.workload == "hello"
            && trial.cell.point == Point::Throughput { connections: 10 }
            && trial.block == 2
    };
    replace(&mut records, errors, |trial, position| {
        record(trial, position, Outcome::Measured, Some(fortio("errors")))
    });
    let why = "no class '<b>wasm</b>' & \u{2192} ask @admins, see #1";
    shim_cannot_start(&mut records, why);
    records
}

/// Sets the run's expectations.
pub fn expecting(run: &mut RunInput, expectations: &Value) {
    run.spec.expectations =
        serde_json::from_value(expectations.clone()).expect("a list of expectations");
}

/// One expectation that is met, one that is not, and one that remains undecided.
pub fn of_every_outcome() -> Value {
    let expectation = |name: &str, variant: &str, most: &str| {
        json!({
            "name": name, "metric": "cpuPerRequest", "variant": variant, "workload": "hello", "atMost": most,
        })
    };
    json!([
        expectation("at-most-triple", "embedded", "3"),
        expectation("at-most-a-half-more", "embedded", "1.5"),
        expectation("shim-at-most-double", "shim", "2"),
    ])
}

/// A run of five blocks with everything in it.
pub fn mixed() -> Summary {
    let mut run = with_blocks(5);
    expecting(&mut run, &of_every_outcome());
    summarize(&run, &records(&run))
}

/// The mixed run with so few blocks that nothing in it is trusted.
pub fn untrusted() -> Summary {
    let mut run = with_blocks(2);
    expecting(&mut run, &of_every_outcome());
    summarize(&run, &records(&run))
}

/// A run in which nothing was measured.
pub fn nothing() -> Summary {
    summarize(&run(), &[])
}

/// A run in which a trial of one variant at one point failed: the remaining trials may have been
/// the quick ones.
pub fn with_a_lost_trial() -> Summary {
    let run = run();
    let mut records = all_measured(&run);
    let lost = |trial: &TrialId| {
        trial.cell.variant == "embedded"
            && trial.cell.workload == "hello"
            && trial.cell.point == Point::WarmLatency
            && trial.block == 4
    };
    replace(&mut records, lost, |trial, position| {
        record(trial, position, failed("SubjectLost", "gone"), None)
    });
    summarize(&run, &records)
}
