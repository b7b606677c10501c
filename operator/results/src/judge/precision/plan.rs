//! How many blocks a run with precision needs: planned once, from the widths of its first blocks.

use wasmbench_api::run::MOST_BLOCKS;

use crate::judge::precision::target::Target;
use crate::judge::precision::width::Width;

/// The blocks that a run needs, as its first blocks show.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The blocks of the pilot, from which the run plans.
    pub pilot: u32,
    /// The blocks that the spec allows.
    pub most: u32,
    /// The blocks with which all intervals are expected to meet their targets; `None` above
    /// [`MOST_BLOCKS`].
    pub needed: Option<u32>,
    /// The widest interval of the pilot.
    pub widest: Width,
}

impl Plan {
    /// The plan of a run with the `widths` of its first `pilot` blocks and at most `most`; `None`
    /// without widths.
    pub fn new(target: &Target, pilot: u32, most: u32, widths: &[Width]) -> Option<Self> {
        let widest = target.widest(widths)?.clone();
        let needed: Option<Vec<u32>> = widths
            .iter()
            .map(|width| target.needed(width, pilot))
            .collect();
        Some(Self {
            pilot,
            most,
            needed: needed.and_then(|all| all.into_iter().max()),
            widest,
        })
    }

    /// Whether the run can have the blocks that it needs.
    pub fn fits(&self) -> bool {
        self.needed.is_some_and(|needed| needed <= self.most)
    }

    /// The blocks that the run will have.
    pub fn blocks(&self) -> u32 {
        self.needed
            .map_or(self.most, |needed| needed.min(self.most))
    }

    /// The pilot, if intervals of `blocks` blocks have its degrees of freedom: if it chose the number
    /// of blocks. A run that spends its budget has as many as it would have had anyway.
    pub fn pilot_of(&self, blocks: u32) -> Option<u32> {
        (self.fits() && blocks > self.pilot).then_some(self.pilot)
    }

    /// The needed blocks in words.
    pub(super) fn needed_text(&self) -> String {
        self.needed.map_or_else(
            || format!("more than {MOST_BLOCKS}"),
            |needed| needed.to_string(),
        )
    }
}
