//! What is known of a ratio: of all blocks the number, or of some only a bound.

use crate::statistics::{Bounded, Interval, OneSided};
use crate::vocabulary::cell::EndsByBlock;

/// What is known of a ratio.
pub struct Known {
    /// Its interval; see [`Bounded::interval`].
    pub interval: Interval,
    /// Which end of the interval is the known one; `None` if both are.
    pub bound: Option<OneSided>,
    /// The ratio of each block in which it is known.
    pub per_block: Vec<f64>,
    /// Blocks that show only a bound of it.
    pub censored: u32,
}

impl Known {
    /// What is known of the ratio of two series, from what their blocks show at least and at most. `None`
    /// if that is nothing.
    pub fn from_ends(value: &EndsByBlock, base: &EndsByBlock) -> Option<Self> {
        let pair = |(block, value): (&u32, &[f64; 2])| {
            let base = base.get(block)?;
            Some([value[0] / base[1], value[1] / base[0]])
        };
        let pairs: Vec<[f64; 2]> = value.iter().filter_map(pair).collect();
        let found = Bounded::from_ratios(&pairs)?;
        let is_exact = |pair: &&[f64; 2]| pair[0].total_cmp(&pair[1]).is_eq();
        let per_block: Vec<f64> = pairs.iter().filter(is_exact).map(|pair| pair[0]).collect();
        Some(Self {
            interval: found.interval,
            bound: found.bound,
            censored: u32::try_from(pairs.len() - per_block.len()).unwrap_or(u32::MAX),
            per_block,
        })
    }
}

/// What the baseline's blocks show at least and at most, and with a twin the geometric means of both.
pub fn pooled_ends(base: EndsByBlock, twin: Option<EndsByBlock>) -> EndsByBlock {
    let twin = twin.unwrap_or_default();
    let of_block = |(block, own): (u32, [f64; 2])| {
        let both = twin.get(&block).map(|twin| {
            let mean = |end: usize| (own[end] * twin[end]).sqrt();
            [mean(0), mean(1)]
        });
        (block, both.unwrap_or(own))
    };
    base.into_iter().map(of_block).collect()
}
