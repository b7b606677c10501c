//! Runs to compare.

use wasmbench_api::run::RunScatter;
use wasmbench_model::wire::density::DensityMemory;
use wasmbench_model::wire::record::Record;
use wasmbench_results::runs::across::{Across, Side, across};
use wasmbench_results::summary::collect::{RunInput, summarize};

use crate::results_support::climbs::climbs;
use crate::results_support::{all_measured, measured, replace, run, slower};

pub fn named(name: &str) -> RunInput {
    RunInput {
        name: name.into(),
        ..run()
    }
}

pub fn compared(
    before: (&RunInput, &[Record]),
    after: (&RunInput, &[Record]),
    forced: bool,
) -> Across {
    let (one, other) = (summarize(before.0, before.1), summarize(after.0, after.1));
    across(
        &[Side {
            spec: &before.0.spec,
            summary: &one,
        }],
        Side {
            spec: &after.0.spec,
            summary: &other,
        },
        None,
        RunScatter::default(),
        forced,
    )
}

/// The records of a run in which everything takes `embedded` `factor` times as long, with another
/// image.
pub fn changed(run: &RunInput, factor: f64) -> Vec<Record> {
    let mut records = all_measured(run);
    replace(
        &mut records,
        |trial| trial.cell.variant == "embedded",
        |trial, position| {
            let mut record = measured(trial, position);
            let window = record.load_mut().and_then(|d| d.timed.as_mut());
            if let Some(window) = window {
                window.fortio = slower(window.fortio.clone(), factor);
            }
            if let Some(subject) = &mut record.subject {
                subject.image_id = Some("sha256:changed".into());
            }
            record
        },
    );
    records
}

/// A run of one sweep, with the fixture's two variants.
pub fn of_sweep(name: &str, sweeps: serde_json::Value) -> RunInput {
    let mut input = named(name);
    input.spec.workloads.truncate(1);
    input.spec.sweeps = serde_json::from_value(sweeps).unwrap_or_default();
    input
}

/// Climbs of `native` and `embedded`; `embedded` is the MiB that each of its instances takes,
/// within a percent.
pub fn climbing(run: &RunInput, embedded: u64) -> Vec<Record> {
    climbs(run, |trial, instances| {
        let own = if trial.cell.variant == "embedded" {
            embedded
        } else {
            10
        };
        let per = own * (1 << 20) + u64::from(trial.block) * (own << 20) / 500;
        DensityMemory {
            pods_bytes: u64::from(instances) * per,
            ..DensityMemory::default()
        }
    })
}
