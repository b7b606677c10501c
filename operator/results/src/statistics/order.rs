//! Does the order of trials move their numbers? Trials and their places in the order in, effects of
//! the order out.
//!
//! The order is drawn at random, so what runs before a trial and when in its block it runs have
//! nothing to do with its variant, and the node's drift from block to block is not in them. Both
//! effects are least squares with a mean for each variant and each block: the numbers and what may
//! move them are reduced to what variant and block leave, and the first are fitted to the second.

use std::collections::{BTreeMap, BTreeSet};

use crate::statistics::trimmed::Estimated;
use crate::statistics::unpaired::together;
use crate::statistics::{Interval, mean, square};

/// With fewer trials behind a variant, or not behind it, a single outlier would be an effect.
const FEWEST: usize = 5;

/// Squares whose sum is smaller are rounding: numbers that scatter by less than a hundredth of a
/// percent, or an order that is the same in every block.
const ROUNDING: f64 = 1e-8;

/// A trial with its place in the order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed<'a> {
    /// The logarithm of its number.
    pub log: f64,
    /// How many blocks had passed when it ran: 2.5 is the middle of the third.
    pub when: f64,
    /// The variant of the trial directly before it in the same block.
    pub after: Option<&'a str>,
}

/// The trials of one measure: a row per variant, and in each row one trial of every block.
#[derive(Clone, Debug, PartialEq)]
pub struct Placements<'a>(Vec<Vec<Placed<'a>>>);

impl<'a> Placements<'a> {
    /// From the trials of each variant by block. Blocks in which a variant has no trial are left
    /// out.
    pub fn new(variants: &[BTreeMap<u32, Placed<'a>>]) -> Self {
        let is_complete = |block: &u32| variants.iter().all(|trials| trials.contains_key(block));
        let of_variant = |trials: &BTreeMap<u32, Placed<'a>>| {
            let complete = trials.iter().filter(|(block, _)| is_complete(block));
            complete.map(|(_, trial)| *trial).collect()
        };
        Self(variants.iter().map(of_variant).collect())
    }

    /// The variants that ran before any of the trials.
    pub fn predecessors(&self) -> BTreeSet<&'a str> {
        let trials = self.0.iter().flatten();
        trials.filter_map(|trial| trial.after).collect()
    }

    /// The geometric mean of each variant's numbers.
    pub fn typical(&self) -> Vec<f64> {
        let logs = self.each(|trial| trial.log);
        logs.iter().map(|row| libm::exp(mean(row))).collect()
    }

    /// The share of each variant's trials that ran directly after `variant`.
    pub fn shares_after(&self, variant: &str) -> Vec<f64> {
        let after = self.each(|trial| exposure(trial, variant));
        after.iter().map(|row| mean(row)).collect()
    }

    /// How much larger the numbers of trials directly after `variant` are than those of all others,
    /// as a logarithm; `None` if too few trials show it.
    pub fn carry_over(&self, variant: &str) -> Option<Interval> {
        let after = self.each(|trial| exposure(trial, variant));
        let count = after.iter().flatten().filter(|one| **one > 0.0).count();
        let others = after.iter().flatten().count() - count;
        let found = self.slope_within(&after)?;
        (count.min(others) >= FEWEST)
            .then(|| Interval::with_error(found.estimate, found.error, found.freedom))
    }

    /// How much the numbers grow from the beginning of a block to its end, as a logarithm, beyond
    /// what they grow from one block to the next: a node that drifts over the run does both alike.
    pub fn position(&self) -> Option<Interval> {
        let when = self.each(|trial| trial.when);
        let within = self.slope_within(&when)?;
        let blocks = block_means(&when);
        let between = slope(
            &centred(&block_means(&self.each(|trial| trial.log))),
            &centred(&blocks),
            blocks.len().saturating_sub(2),
        )?;
        let (error, freedom) = together(&within, &between, 0.0)?;
        let estimate = within.estimate - between.estimate;
        Some(Interval::with_error(estimate, Some(error), freedom))
    }

    /// By how much the numbers change with `exposure`, within variants and blocks.
    fn slope_within(&self, exposure: &[Vec<f64>]) -> Option<Estimated> {
        let logs = self.each(|trial| trial.log);
        let blocks = logs.first()?.len();
        let cells = logs.len().saturating_sub(1) * blocks.saturating_sub(1);
        let freedom = cells.saturating_sub(1);
        slope(&residuals(&logs), &residuals(exposure), freedom)
    }

    fn each(&self, of_trial: impl Fn(&Placed<'a>) -> f64) -> Vec<Vec<f64>> {
        let of_row = |row: &Vec<Placed<'a>>| -> Vec<f64> { row.iter().map(&of_trial).collect() };
        self.0.iter().map(of_row).collect()
    }
}

/// Whether a trial ran directly after `variant`, as 0 or 1.
fn exposure(trial: &Placed<'_>, variant: &str) -> f64 {
    f64::from(u8::from(trial.after == Some(variant)))
}

/// By how much `values` change with `exposure`; the mean of each is 0. `None` if one of them hardly
/// changes, or if nothing is left to show the scatter.
fn slope(values: &[f64], exposure: &[f64], freedom: usize) -> Option<Estimated> {
    let sum_of_squares = |all: &[f64]| all.iter().copied().map(square).sum::<f64>();
    let (scatter, squares) = (sum_of_squares(values), sum_of_squares(exposure));
    if freedom == 0 || scatter < ROUNDING || squares < ROUNDING {
        return None;
    }
    let pairs = values.iter().zip(exposure);
    let estimate = pairs.map(|(value, by)| value * by).sum::<f64>() / squares;
    let rest = (scatter - square(estimate) * squares).max(0.0);
    Some(Estimated {
        estimate,
        error: Some((rest / freedom as f64 / squares).sqrt()),
        freedom: u32::try_from(freedom).unwrap_or(u32::MAX),
    })
}

/// What is left of each value without the means of its row and its column.
fn residuals(rows: &[Vec<f64>]) -> Vec<f64> {
    let blocks = centred(&block_means(rows));
    let of_row = |row: &Vec<f64>| -> Vec<f64> {
        let left = centred(row).into_iter().zip(&blocks);
        left.map(|(value, block)| value - block).collect()
    };
    rows.iter().flat_map(of_row).collect()
}

/// The mean of each column.
fn block_means(rows: &[Vec<f64>]) -> Vec<f64> {
    let blocks = rows.first().map_or(0, Vec::len);
    let of_block = |block: usize| {
        let column: Vec<f64> = rows.iter().map(|row| row[block]).collect();
        mean(&column)
    };
    (0..blocks).map(of_block).collect()
}

/// The values without their mean.
fn centred(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["base", "one", "heavy"];

    /// Six blocks, in each of which the variants run in another order. A trial's logarithm is what
    /// `log` gives for its variant, block, place in the block and predecessor.
    fn trials(log: impl Fn(usize, u32, usize, Option<&str>) -> f64) -> Placements<'static> {
        let orders = [
            [0, 1, 2],
            [2, 1, 0],
            [1, 2, 0],
            [0, 2, 1],
            [2, 0, 1],
            [1, 0, 2],
        ];
        let mut variants = vec![BTreeMap::new(); NAMES.len()];
        // Twice, so that each variant is followed by eight trials.
        for (block, order) in (0..).zip(orders.iter().chain(&orders)) {
            for (place, variant) in order.iter().enumerate() {
                let after = place.checked_sub(1).map(|before| NAMES[order[before]]);
                let trial = Placed {
                    log: log(*variant, block, place, after),
                    when: f64::from(block) + place as f64 / 3.0,
                    after,
                };
                variants[*variant].insert(block, trial);
            }
        }
        Placements::new(&variants)
    }

    /// A little scatter, the same in every run.
    fn noise(variant: usize, block: u32) -> f64 {
        let turn = variant as f64 * 7.0 + f64::from(block) * 5.0;
        0.001 * libm::sin(turn * turn)
    }

    fn is_close(found: Option<Interval>, expected: f64) -> bool {
        found.is_some_and(|found| (found.estimate - expected).abs() < 0.003)
    }

    #[test]
    fn an_effect_of_a_variant_on_the_next_trial_is_found_whatever_variants_and_blocks_differ_by() {
        let found = trials(|variant, block, _, after| {
            let carried = if after == Some("heavy") { 0.05 } else { 0.0 };
            variant as f64 + f64::from(block % 4) + carried + noise(variant, block)
        });
        assert!(is_close(found.carry_over("heavy"), 0.05), "{found:?}");
        assert!(found.carry_over("heavy").unwrap().p_value < 1e-6);
        assert_eq!(found.carry_over("nobody"), None);
    }

    #[test]
    fn a_place_in_the_block_is_found_and_a_drift_over_the_run_is_none() {
        let in_block = |place: usize| 0.03 * place as f64;
        let found = trials(|variant, block, place, _| in_block(place) + noise(variant, block));
        assert!(is_close(found.position(), 0.09), "{found:?}");
        assert!(found.position().unwrap().p_value < 1e-4);
        let drifting = trials(|variant, block, place, _| {
            0.1 * (f64::from(block) + place as f64 / 3.0) + noise(variant, block)
        });
        assert!(is_close(drifting.position(), 0.0), "{drifting:?}");
        assert!(drifting.position().unwrap().p_value > 0.01);
    }

    #[test]
    fn an_order_that_never_changes_shows_nothing() {
        let mut variants = vec![BTreeMap::new(); 2];
        for block in 0..10 {
            for (place, trials) in variants.iter_mut().enumerate() {
                let trial = Placed {
                    log: noise(place, block),
                    when: f64::from(block) + place as f64 / 2.0,
                    after: (place == 1).then_some("base"),
                };
                trials.insert(block, trial);
            }
        }
        let found = Placements::new(&variants);
        assert_eq!((found.carry_over("base"), found.position()), (None, None));
    }

    #[test]
    fn blocks_without_every_variant_are_left_out_and_no_trials_are_no_effect() {
        let one = Placed {
            log: 0.0,
            when: 0.0,
            after: None,
        };
        let variants = [
            BTreeMap::from([(1, one), (2, one)]),
            BTreeMap::from([(2, one)]),
        ];
        assert_eq!(Placements::new(&variants).typical(), [1.0, 1.0]);
        for variants in [vec![], vec![BTreeMap::new()], variants.to_vec()] {
            let found = Placements::new(&variants);
            assert_eq!((found.carry_over("base"), found.position()), (None, None));
        }
    }
}
