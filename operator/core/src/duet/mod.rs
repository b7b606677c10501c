//! Duets: the baseline and a variant are loaded at the same moment, each on one of two mirrored
//! sides of the node's CPUs ([`sides`]). A duet is the trial of its variant; the baseline is in
//! every one and has no trials of its own.

pub mod sides;

use sha2::{Digest, Sha256};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::Pairing;

use crate::wire::instrument::Side;
use crate::wire::record::{Cell, Point, TrialId};

/// Share of a window in which both halves have to be under load. Both windows are equally long; what
/// lies outside is the time between the two beginnings.
pub const LEAST_OVERLAP: f64 = 0.9;

/// Whether a trial of this point is a duet.
pub fn is_duet(spec: &BenchmarkRunSpec, point: Point) -> bool {
    let is_load = match point {
        Point::WarmLatency | Point::Throughput { .. } => true,
        // Rates from each subject's own peak: two schedules would not load both alike.
        Point::OpenLoop { .. } | Point::ColdStart { .. } | Point::Density => false,
    };
    is_load && spec.pairing == Pairing::Duet
}

/// Whether `cell` is measured in the duets of the other variants, and not by itself.
pub fn is_in_others(spec: &BenchmarkRunSpec, baseline: &str, cell: &Cell) -> bool {
    cell.variant == baseline && is_duet(spec, cell.point)
}

/// The side of the variant in a duet; the baseline has the other. It changes from block to block, so
/// that a better half of the CPUs favours neither, and where it begins is drawn from the seed.
pub fn side_of_variant(seed: i64, trial: &TrialId) -> Side {
    let Cell {
        variant,
        workload,
        point,
    } = &trial.cell;
    let text = format!("{seed}/{variant}/{workload}/{point}");
    let first = Sha256::digest(text.as_bytes())[0];
    if (u32::from(first) + trial.block).is_multiple_of(2) {
        Side::Left
    } else {
        Side::Right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(seed: i64, connections: u32, block: u32) -> Side {
        let cell = Cell {
            variant: "hare".into(),
            workload: "greet".into(),
            point: Point::Throughput { connections },
        };
        side_of_variant(seed, &TrialId { cell, block })
    }

    #[test]
    fn sides_change_from_block_to_block() {
        for block in 1..20 {
            assert_ne!(side(7, 50, block), side(7, 50, block + 1));
        }
    }

    #[test]
    fn about_half_of_all_duets_begin_on_each_side() {
        let left = (0..1000).filter(|seed| side(*seed, 50, 1) == Side::Left);
        let left = left.count();
        assert!((400..=600).contains(&left), "{left} of 1000");
        let left = (0..1000).filter(|c| side(7, *c, 1) == Side::Left).count();
        assert!((400..=600).contains(&left), "{left} of 1000");
    }
}
