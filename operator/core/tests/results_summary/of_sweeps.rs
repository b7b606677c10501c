//! What density has as loads do: doubts, and a say in whether another block is needed.

use serde_json::json;
use wasmbench_core::results::precision::{Outcome as Ended, Precision};
use wasmbench_core::results::quality::Reason;
use wasmbench_core::results::{RunInput, Summary, summarize};
use wasmbench_core::wire::density::{DENSITY_SCHEMA, DensityDocument, DensityMemory, DensityStep};
use wasmbench_core::wire::document::{Environment, Meter, NodeCpu, TimedWindow};
use wasmbench_core::wire::record::{Outcome, Record};

use crate::results_support::{failed, record, run_with, trials};
use crate::support::doubt;

/// A run of density alone.
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

/// Five blocks, in which one more instance of `embedded` takes so many MiB.
fn density(embedded: [Option<u64>; 5]) -> Summary {
    summarize(&run(5), &climbs(&run(5), &embedded))
}

/// Climbs that fail where there is no number.
fn climbs(run: &RunInput, embedded: &[Option<u64>]) -> Vec<Record> {
    let trials = trials(run).into_iter().zip(0..);
    let climb = trials.map(|(trial, position)| {
        let of_block = embedded[trial.block as usize - 1];
        let is_native = trial.cell.variant == "native";
        let Some(mebibytes) = (if is_native { Some(10) } else { of_block }) else {
            return record(trial, position, failed("SubjectCrashed", "exit 1"), None);
        };
        let step = |instances: u32| DensityStep {
            instances,
            added: 1,
            all_answered_nanoseconds: 900_000_000,
            first: TimedWindow::default(),
            memory: Some(DensityMemory {
                pods_bytes: u64::from(instances) * (mebibytes << 20),
                ..DensityMemory::default()
            }),
            node_available_bytes: None,
        };
        let document = DensityDocument {
            schema: DENSITY_SCHEMA.into(),
            probe_version: "0.1.0".into(),
            fortio_version: "1.68.2".into(),
            failure: None,
            steps: [1, 2, 5].map(step).into(),
            stopped: None,
            answer: None,
            image_id: None,
            environment: Environment::default(),
        };
        Record {
            density: Some(document),
            ..record(trial, position, Outcome::Measured, None)
        }
    });
    climb.collect()
}

#[test]
fn an_undecided_density_is_noted_with_the_blocks_that_it_would_take() {
    let summary = density([6, 19, 8, 17, 11].map(Some));
    let note = doubt(&summary, Reason::HighVariance);
    assert!(!note.breaks_trust);
    assert!(
        note.message.contains("density of embedded on hello (") && note.message.contains("blocks"),
        "{note:?}"
    );
    let decided = density([20; 5].map(Some));
    assert_eq!(doubt(&decided, Reason::HighVariance).message, "missing");
}

#[test]
fn a_variant_of_which_no_climb_was_measured_is_named() {
    let note = doubt(&density([None; 5]), Reason::TrialsFailed);
    assert!(!note.breaks_trust, "{note:?}");
    assert_eq!(
        note.message,
        "not measured at all: density of embedded on hello"
    );
}

/// What becomes of a run of so many blocks, in two of which a neighbour keeps the node busy beside `variant`.
fn with_neighbour(blocks: u32, variant: &str) -> Precision {
    let mut records = climbs(&run(blocks), &vec![Some(20); blocks as usize]);
    for record in &mut records {
        let is_noisy = record.trial.cell.variant == variant && record.trial.block <= 2;
        let document = record.density.as_mut().unwrap();
        let facts = &mut document.environment.facts;
        facts.insert("cpus".into(), "0-1".into());
        for step in document.steps.iter_mut().filter(|_| is_noisy) {
            step.first.duration_nanoseconds = 1_000_000_000;
            step.first.subject = Some(Meter::default());
            step.first.generator_cpu_nanoseconds = Some(0);
            step.first.node = Some(NodeCpu {
                busy_nanoseconds: 2_000_000_000,
                ..NodeCpu::default()
            });
        }
    }
    let mut precise = run(5);
    let precision = json!({"targetRelativeInterval": "5%", "maxBlocks": 10});
    precise.spec.precision = Some(serde_json::from_value(precision).unwrap());
    summarize(&precise, &records).precision.unwrap()
}

#[test]
fn a_run_goes_on_while_noise_keeps_density_out_that_more_blocks_would_bring_back() {
    for variant in ["embedded", "native"] {
        let found = with_neighbour(8, variant);
        assert_eq!(found.outcome, Ended::GoingOn, "{found:?}");
        let words = format!(
            "memory per instance of embedded on hello versus native (too many climbs of {variant} on a noisy node)"
        );
        assert!(found.message.contains(&words), "{found:?}");
        // Two of ten may be noisy.
        let found = with_neighbour(10, variant);
        assert_ne!(found.outcome, Ended::NothingToCompare, "{found:?}");
        assert!(found.widest.unwrap().relative.is_some());
    }
}
