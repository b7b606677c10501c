//! Which trials a run has, and their order.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};
use wasmbench_api::run::{BenchmarkRunSpec, TWIN, Workload};

use wasmbench_model::cells::cells_of;
use wasmbench_model::wire::record::{Cell, Point, TrialId};
use wasmbench_model::wire::scout::EVERY_WORKLOAD;

/// The seed of a run that sets none: it need not be stored, because the uid never changes.
pub(super) fn seed_of(uid: &str) -> i64 {
    let digest = Sha256::digest(uid.as_bytes());
    let bytes: [u8; 4] = [digest[0], digest[1], digest[2], digest[3]];
    i64::from(u32::from_be_bytes(bytes))
}

/// The workloads under which anything of `variant` is measured, in the order of the spec.
pub(super) fn workloads_of<'a>(spec: &'a BenchmarkRunSpec, variant: &str) -> Vec<&'a Workload> {
    let cells = cells_of(spec);
    let mut workloads: Vec<&Workload> = spec.workloads.iter().collect();
    workloads.retain(|workload| {
        let mut cells = cells.iter();
        cells.any(|cell| cell.variant == variant && cell.workload == workload.name)
    });
    workloads
}

/// One look at each variant of which anything is measured. The twin is the baseline.
fn scouts(cells: &[Cell]) -> Vec<TrialId> {
    let mut scouts: Vec<TrialId> = vec![];
    for cell in cells.iter().filter(|cell| cell.variant != TWIN) {
        let cell = Cell {
            variant: cell.variant.clone(),
            workload: EVERY_WORKLOAD.to_owned(),
            point: Point::Scout,
        };
        let scout = TrialId { cell, block: 0 };
        if scouts.last() != Some(&scout) {
            scouts.push(scout);
        }
    }
    scouts
}

/// Scouts, then randomised complete blocks: every block holds every cell once, each block shuffled anew from one
/// seeded stream. Blocks that precision may add come last and change nothing before them. `ChaCha8`
/// gives the same order on every platform and in every version.
pub(super) fn shuffled(spec: &BenchmarkRunSpec, seed: i64) -> Vec<TrialId> {
    let mut random = ChaCha8Rng::seed_from_u64(seed.unsigned_abs());
    let cells = cells_of(spec);
    let block = |block| {
        let mut trials: Vec<TrialId> = cells
            .iter()
            .map(|cell| TrialId {
                cell: cell.clone(),
                block,
            })
            .collect();
        trials.shuffle(&mut random);
        trials
    };
    let blocks = (1..=spec.most_blocks()).flat_map(block);
    scouts(&cells).into_iter().chain(blocks).collect()
}
