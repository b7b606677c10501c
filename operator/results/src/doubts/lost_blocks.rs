//! Comparisons that rest on fewer blocks than the run has, because windows were too short to read a
//! number, or trials were left out or failed.

use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed};
use crate::judge::ratios::FEWEST_BLOCKS;

/// Comparisons with too few blocks in a run that has enough.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let (blocks, fewest) = (evidence.spec.blocks, FEWEST_BLOCKS);
    let compared = evidence.comparisons.iter();
    let few = compared.filter(|one| blocks >= fewest && one.estimate.blocks < fewest);
    let places = few.map(|one| format!("{} ({})", one.subject(), one.estimate.blocks));
    Some(crate::doubts::doubt(
        Reason::TooFewBlocks,
        format!(
            "comparisons that rest on fewer than {fewest} of the run's {blocks} blocks: {}",
            listed(places, MAX_PLACES, ", ")?
        ),
        "raise spec.sweeps.warmLatency.requests where CPU and memory are absent; else look at the trials that failed or \
         were left out, and run again",
    ))
}
