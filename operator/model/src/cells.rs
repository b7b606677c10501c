//! What a run measures in each block.

use wasmbench_api::run::BenchmarkRunSpec;

use crate::points::points_of;
use crate::variants::not_applicable;
use crate::wire::record::Cell;

/// Every cell of a block, unshuffled. What a variant cannot do is left out.
pub fn cells_of(spec: &BenchmarkRunSpec) -> Vec<Cell> {
    let points = points_of(spec);
    let mut cells = vec![];
    for variant in &spec.variants {
        for workload in &spec.workloads {
            let applicable = points
                .iter()
                .filter(|point| not_applicable::reason(variant, workload, **point).is_none());
            cells.extend(applicable.map(|&point| Cell {
                variant: variant.name.clone(),
                workload: workload.name.clone(),
                point,
            }));
        }
    }
    cells
}
