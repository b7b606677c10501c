//! What density has in common with loads: doubts.

use serde_json::json;
use wasmbench_model::wire::density::DensityMemory;
use wasmbench_model::wire::record::TrialId;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::doubt;
use crate::results_support::climbs::climbs;
use crate::results_support::{failed, record, replace, run_with};

/// A run of only density.
fn run(blocks: u32) -> RunInput {
    run_with(json!({
        "blocks": blocks,
        "noiseFloor": false,
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded"},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"density": {"instances": [1, 2, 5]}},
    }))
}

/// Five blocks in which one more instance of `embedded` takes the given MiB; climbs without a
/// number fail.
fn density(embedded: [Option<u64>; 5]) -> Summary {
    let of_block = |trial: &TrialId| match trial.cell.variant.as_str() {
        "native" => Some(10),
        _ => embedded[trial.block as usize - 1],
    };
    let mut records = climbs(&run(5), |trial, instances| {
        memory(instances, of_block(trial).unwrap_or_default())
    });
    let is_lost = |trial: &TrialId| of_block(trial).is_none();
    if embedded.contains(&None) {
        replace(&mut records, is_lost, |trial, position| {
            record(trial, position, failed("SubjectCrashed", "exit 1"), None)
        });
    }
    summarize(&run(5), &records)
}

fn memory(instances: u32, mebibytes: u64) -> DensityMemory {
    DensityMemory {
        pods_bytes: u64::from(instances) * (mebibytes << 20),
        ..DensityMemory::default()
    }
}

#[test]
fn an_undecided_density_is_noted_with_the_blocks_needed_to_decide_it() {
    let summary = density([6, 19, 8, 17, 11].map(Some));
    let note = doubt(&summary, Reason::HighVariance);
    assert!(!note.breaks_trust);
    assert!(
        note.message
            .contains("memory per instance of embedded on hello (")
            && note.message.contains("blocks"),
        "{note:?}"
    );
    let decided = density([20; 5].map(Some));
    assert_eq!(doubt(&decided, Reason::HighVariance).message, "missing");
}

#[test]
fn a_variant_without_a_measured_climb_is_named() {
    let note = doubt(&density([None; 5]), Reason::TrialsFailed);
    assert!(!note.breaks_trust, "{note:?}");
    assert_eq!(
        note.message,
        "not measured at all: density of embedded on hello"
    );
}
