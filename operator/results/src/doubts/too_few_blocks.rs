//! Runs with too few blocks to know the noise of the node.

use crate::doubts::{Doubt, Evidence, Reason};
use crate::judge::ratios::FEWEST_BLOCKS;

pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let blocks = evidence.spec.blocks;
    (blocks < FEWEST_BLOCKS).then(|| {
        super::doubt(
            Reason::TooFewBlocks,
            format!("{blocks} block(s) say little about the noise of the node"),
            "set spec.blocks to 5 or more",
        )
    })
}
