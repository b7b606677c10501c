//! The climbs of a cell, by block and by step.

use std::collections::BTreeMap;

use crate::read::density_trial::{DensityTrial, Reached};

/// Climbs of a cell, by block.
pub(super) type Blocks<'a> = BTreeMap<u32, &'a DensityTrial>;

/// Groups the steps of all climbs by their number of instances.
pub(super) fn by_instances<'a>(blocks: &Blocks<'a>) -> BTreeMap<u32, Vec<&'a Reached>> {
    let mut found: BTreeMap<u32, Vec<&Reached>> = BTreeMap::new();
    for step in blocks.values().flat_map(|trial| &trial.steps) {
        found.entry(step.instances).or_default().push(step);
    }
    found
}
