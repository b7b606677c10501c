//! Climbs of density whose memory is known.

use wasmbench_model::wire::density::{DENSITY_SCHEMA, DensityDocument, DensityMemory, DensityStep};
use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::record::{Cell, Outcome, Point, Record, TrialId};
use wasmbench_results::summary::collect::RunInput;

use super::{measured, record, trials};

/// A record for every trial of a run with no other sweep: all steps were reached, and `memory`
/// gives the total for a trial's number of instances.
pub fn climbs(run: &RunInput, memory: impl Fn(&TrialId, u32) -> DensityMemory) -> Vec<Record> {
    let density = run.spec.sweeps.density.as_ref().expect("a ladder");
    let ladder = density.ladder();
    trials(run)
        .into_iter()
        .zip(0..)
        .map(|(trial, position)| climb(trial, position, &ladder, &memory))
        .collect()
}

fn climb(
    trial: TrialId,
    position: u32,
    ladder: &[u32],
    memory: impl Fn(&TrialId, u32) -> DensityMemory,
) -> Record {
    let load = first_instance(&trial).load().expect("a load").clone();
    let window = load.timed.expect("a window");
    let below = std::iter::once(0).chain(ladder.iter().copied());
    let steps = ladder.iter().zip(below);
    let step = |(&instances, below): (&u32, u32)| DensityStep {
        instances,
        added: instances - below,
        all_answered_nanoseconds: 900_000_000,
        first: window.clone(),
        cpus: None,
        memory: Some(memory(&trial, instances)),
        node_available_bytes: None,
    };
    let document = DensityDocument {
        schema: DENSITY_SCHEMA.into(),
        probe_version: load.probe_version,
        fortio_version: load.fortio_version,
        steps: steps.map(step).collect(),
        environment: load.environment,
        ..DensityDocument::default()
    };
    Record {
        evidence: Some(document.into()),
        ..record(trial, position, Outcome::Measured, None)
    }
}

/// The load on the first instance, the same at every step of every block.
fn first_instance(trial: &TrialId) -> Record {
    let cell = Cell {
        point: Point::WarmLatency,
        ..trial.cell.clone()
    };
    measured(TrialId { cell, block: 1 }, 0)
}

/// The windows of one step of the climbs that `which` picks, for modification.
pub fn windows(
    records: &mut [Record],
    step: usize,
    which: impl Fn(&TrialId) -> bool,
) -> impl Iterator<Item = &mut TimedWindow> {
    let picked = records.iter_mut().filter(move |r| which(&r.trial));
    picked.map(move |record| {
        let document = record.density_mut().expect("a climb");
        &mut document.steps[step].first
    })
}
