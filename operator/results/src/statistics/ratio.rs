//! A variant as a multiple of the baseline: paired ratios in, estimate, interval and p-value out.
//!
//! On the log scale, where half and double are equally far from one, the ratios of the blocks are
//! averaged without the outermost eighth at each end (one block from 10 on, two from 16, a part of
//! one at 8 and 9). The interval is that of Tukey and McLaughlin (1963): Student's t with the
//! winsorised variance. Below 8 blocks this is the ordinary t interval around the geometric mean.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::statistics::trimmed::{Estimated, Trimming};
use crate::statistics::{LEVEL, Scale, student};

/// A ratio with its 95 % interval, as natural logarithms, or a difference, in its unit. The
/// estimate lies in the middle, and the p-value is below [`LEVEL`] exactly when the interval
/// excludes 0: all three come from the same t distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The logarithm of the ratio, or the difference.
    pub estimate: f64,
    /// Half the width of the interval; `None` for a single block, which shows no spread.
    pub half_width: Option<f64>,
    /// The chance of an estimate at least this far from 0 if the truth were 0; 1 for one block.
    pub p_value: f64,
}

impl Interval {
    /// The interval of `numbers` on a scale, one per block. Those that have no place on the scale
    /// are left out; `None` if none is left.
    pub fn new(numbers: &[f64], scale: Scale) -> Option<Self> {
        Some(Self::around(&Estimated::from_values(numbers, scale)?))
    }

    /// The interval of `ratios`, one per block. Ratios that are not positive and finite are left
    /// out; `None` if none is left.
    pub fn from_ratios(ratios: &[f64]) -> Option<Self> {
        Self::new(ratios, Scale::Ratio)
    }

    /// The interval of `differences`, one per block. Those that are not finite are left out; `None`
    /// if none is left.
    pub fn from_differences(differences: &[f64]) -> Option<Self> {
        Self::new(differences, Scale::Difference)
    }

    /// The interval of what a variant is to the baseline and to its twin, one pair per block.
    pub fn from_pairs(pairs: &[[f64; 2]], scale: Scale) -> Option<Self> {
        Some(Self::around(&Estimated::from_pairs(pairs, scale)?))
    }

    fn around(found: &Estimated) -> Self {
        Self::with_error(found.estimate, found.error, found.freedom)
    }

    /// The interval of an estimate with this standard error; without one it has no width.
    pub(super) fn with_error(estimate: f64, error: Option<f64>, freedom: u32) -> Self {
        Self {
            estimate,
            half_width: error.map(|error| student::quantile(LEVEL, freedom) * error),
            p_value: error.map_or(1.0, |error| p_value(estimate, error, freedom)),
        }
    }

    /// The same interval of `blocks` blocks with the degrees of freedom of the first `pilot` of them,
    /// if those are fewer: the scatter of the pilot chose how many blocks there are (Stein, 1945). The
    /// p-value never gets smaller by that: of a bound that shows nothing it stays 1.
    #[must_use]
    pub fn with_freedom_of(self, pilot: u32, blocks: u32) -> Self {
        let planned = fewest_freedom(blocks, Some(pilot));
        let Some(half_width) = self.half_width.filter(|_| planned != blocks) else {
            return self;
        };
        let error = half_width / student::quantile(LEVEL, freedom(blocks));
        let wider = Self::with_error(self.estimate, Some(error), freedom(planned));
        Self {
            p_value: wider.p_value.max(self.p_value),
            ..wider
        }
    }

    /// Lower end of the interval, in the unit of the estimate.
    pub fn low(&self) -> Option<f64> {
        self.half_width.map(|half| self.estimate - half)
    }

    /// Upper end of the interval, in the unit of the estimate.
    pub fn high(&self) -> Option<f64> {
        self.half_width.map(|half| self.estimate + half)
    }

    /// The largest distance from 0 that the interval allows.
    pub fn farthest(&self) -> Option<f64> {
        self.half_width.map(|half| self.estimate.abs() + half)
    }
}

/// How many blocks an interval needs to reach no farther than `target` on either side, if it
/// reaches `half_width` with `blocks` blocks and the noise stays the same; `None` above `most`.
pub fn blocks_for(half_width: f64, blocks: u32, target: f64, most: u32) -> Option<u32> {
    let noise = noise_of(half_width, blocks)?;
    (blocks + 1..=most).find(|more| noise * reach(*more, LEVEL) <= target)
}

/// With how many blocks of `numbers` an interval reaches no farther than `target` on either side, if
/// it reaches `half_width` with the `blocks` of a pilot, whose degrees of freedom it then has
/// ([`Interval::with_freedom_of`]); `None` if with none of them.
pub fn blocks_planned(
    half_width: f64,
    blocks: u32,
    target: f64,
    mut numbers: RangeInclusive<u32>,
) -> Option<u32> {
    let noise = noise_of(half_width, blocks)?;
    let of_pilot = student::quantile(LEVEL, freedom(blocks));
    let quantile = |more: u32| {
        if freedom(more) < freedom(blocks) {
            student::quantile(LEVEL, freedom(more))
        } else {
            of_pilot
        }
    };
    numbers.find(|more| noise * standard_error(*more) * quantile(*more) <= target)
}

/// How many blocks it takes to find equals `Equivalent` in 80 of 100 cases, under the same
/// conditions.
pub fn blocks_to_decide(half_width: f64, blocks: u32, effect: f64, most: u32) -> Option<u32> {
    let noise = noise_of(half_width, blocks)?;
    (blocks..=most).find(|more| decides(*more, noise, effect))
}

/// The same before the run: `noise` is the scatter of the blocks' log ratios.
pub fn blocks_for_equals(effect: f64, noise: f64, most: u32) -> Option<u32> {
    (2..=most).find(|blocks| decides(*blocks, noise, effect))
}

/// Whether the whole interval lies within `effect`: the sum of its half-width and of how far
/// estimates of equals stray.
fn decides(blocks: u32, noise: f64, effect: f64) -> bool {
    noise * (reach(blocks, LEVEL) + reach(blocks, UNDECIDED)) <= effect
}

/// The half-width with which this many intervals all contain the truth in 95 of 100 runs, from the
/// half-width with which a single one does (Bonferroni).
pub fn simultaneous(half_width: f64, blocks: u32, intervals: usize) -> f64 {
    if blocks < 2 {
        return half_width;
    }
    let level = LEVEL / intervals.max(1) as f64;
    half_width * reach(blocks, level) / reach(blocks, LEVEL)
}

/// The share of equals that may stay undecided.
const UNDECIDED: f64 = 0.2;

/// The smallest difference that 80 of 100 runs with this many blocks find, if it is the only one
/// among `among` comparisons (Bonferroni, which is the worst case of Benjamini and Hochberg). The
/// interval must exclude 0 and must reach beyond `matters`: below it the verdict is `Equivalent`.
/// `noise` is the scatter of the blocks' log ratios, and the result is a logarithm; `None` for one
/// block, which finds nothing.
pub fn smallest_found(noise: f64, blocks: u32, among: usize, matters: f64) -> Option<f64> {
    let half_width = |level: f64| noise * reach(blocks, level);
    (blocks > 1).then(|| found_by(half_width, among, matters - half_width(LEVEL)))
}

/// The smallest difference that 80 of 100 estimates find whose interval reaches `half_width` at a
/// level, if it is the only one among `among` comparisons: the interval must exclude 0, and the
/// estimate must reach `least`.
pub(super) fn found_by(half_width: impl Fn(f64) -> f64, among: usize, least: f64) -> f64 {
    let excludes = half_width(LEVEL / among.max(1) as f64);
    let by_one = excludes.max(least) + half_width(MISSED);
    // If both conditions are equally hard, each may miss half as many.
    let by_both = excludes.min(least) + half_width(MISSED / 2.0);
    by_one.max(by_both)
}

/// The number of blocks with which a difference of this size is found in 80 of 100 runs, if no
/// difference is too small to matter; `None` above `most`.
pub fn blocks_to_find(effect: f64, noise: f64, among: usize, most: u32) -> Option<u32> {
    let finds = |blocks: &u32| {
        smallest_found(noise, *blocks, among, 0.0).is_some_and(|found| found <= effect)
    };
    (2..=most).find(finds)
}

/// One in five estimates may fall so far below a difference that it is missed: 0.2 in one tail, and
/// thus 0.4 in both.
const MISSED: f64 = 0.4;

/// How far an interval of this level reaches if the noise of one block is 1.
fn reach(blocks: u32, level: f64) -> f64 {
    standard_error(blocks) * student::quantile(level, freedom(blocks))
}

/// The standard error of a trimmed mean if the noise of one block is 1.
fn standard_error(blocks: u32) -> f64 {
    let trimming = Trimming::new(blocks as usize);
    (1.0 + TRIMMED * trimming.first()) / f64::from(blocks).sqrt()
}

/// Degrees of freedom of the interval of two blocks or more.
fn freedom(blocks: u32) -> u32 {
    Trimming::new(blocks as usize).freedom()
}

/// The number of blocks whose degrees of freedom an interval of `blocks` blocks has if a pilot chose
/// the number: of the two, the one with fewer.
pub fn fewest_freedom(blocks: u32, pilot: Option<u32>) -> u32 {
    let has_fewer = |pilot: &u32| *pilot > 1 && blocks > 1 && freedom(*pilot) < freedom(blocks);
    pilot.filter(has_fewer).unwrap_or(blocks)
}

/// By how much the standard error of a trimmed mean exceeds the plain mean's, under normal noise: with
/// very many blocks by 3 % without a tenth at each end, and by 4 % without an eighth.
const TRIMMED: f64 = 0.035;

/// The scatter of the blocks' log ratios behind an interval; `None` for a single block.
fn noise_of(half_width: f64, blocks: u32) -> Option<f64> {
    noise_with_pilot(half_width, blocks, None)
}

/// The same of an interval with the degrees of freedom of a pilot, if there was one
/// ([`Interval::with_freedom_of`]).
pub fn noise_with_pilot(half_width: f64, blocks: u32, pilot: Option<u32>) -> Option<f64> {
    (blocks > 1).then(|| {
        let quantile = student::quantile(LEVEL, freedom(fewest_freedom(blocks, pilot)));
        half_width / (standard_error(blocks) * quantile)
    })
}

fn p_value(estimate: f64, error: f64, freedom: u32) -> f64 {
    // Without scatter any distance from 0 is certain, and no distance is no evidence.
    if error > 0.0 {
        student::two_sided_tail(estimate / error, freedom)
    } else if estimate.abs() > 0.0 {
        0.0
    } else {
        1.0
    }
}

/// One pair for every key of `value` that `base` holds, in the order of the keys: how `value` compares
/// with `base`, and with `twin`. Where the twin has no number, the baseline's stands for it.
pub fn pairs_with_both(
    value: &BTreeMap<u32, f64>,
    base: &BTreeMap<u32, f64>,
    twin: &BTreeMap<u32, f64>,
    scale: Scale,
) -> Vec<[f64; 2]> {
    let pair = |(block, value): (&u32, &f64)| {
        let base = base.get(block)?;
        let twin = twin.get(block).unwrap_or(base);
        Some([base, twin].map(|base| scale.compare(*value, *base)))
    };
    value.iter().filter_map(pair).collect()
}

/// `value / base` for every key that both maps hold, in the order of the keys, if the ratio is
/// positive and finite. The keys are blocks: both values of a pair were measured close together in
/// time.
pub fn paired_ratios(value: &BTreeMap<u32, f64>, base: &BTreeMap<u32, f64>) -> Vec<f64> {
    let ratio = |(block, value): (&u32, &f64)| {
        let ratio = value / base.get(block)?;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    };
    value.iter().filter_map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratios() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(1e-3..1e3, 2..40)
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * one.abs().max(1.0)
    }

    #[test]
    fn ratios_are_taken_within_blocks_only() {
        let value = BTreeMap::from([(1, 2.0), (2, 9.0), (4, 3.0), (5, 0.0)]);
        let base = BTreeMap::from([(1, 4.0), (3, 9.0), (4, 0.0), (5, 1.0)]);
        assert_eq!(paired_ratios(&value, &base), [0.5]);
    }

    /// Computed independently of this code: the logarithms have the mean 0.086927 and the standard
    /// deviation 0.145327.
    #[test]
    fn the_interval_below_eight_blocks_is_the_t_interval_of_the_logarithms() {
        let found = Interval::from_ratios(&[1.3, 0.9, 1.1, 1.0, 1.2]).unwrap();
        assert!((found.estimate - 0.086_927).abs() < 1e-6, "{found:?}");
        let half = 2.776_445 * 0.145_327 / 5.0_f64.sqrt();
        assert!((found.half_width.unwrap() - half).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn one_outlier_among_ten_blocks_does_not_move_the_estimate() {
        let with = |last| [0.8, 0.85, 0.9, 0.95, 1.0, 1.0, 1.02, 1.05, 1.1, last];
        let calm = Interval::from_ratios(&with(1.12)).unwrap();
        assert_eq!(Interval::from_ratios(&with(40.0)), Some(calm));
    }

    #[test]
    fn more_blocks_never_give_a_wider_interval() {
        for blocks in 2..200 {
            let (fewer, more) = (reach(blocks, LEVEL), reach(blocks + 1, LEVEL));
            assert!(more < fewer, "{blocks}: {fewer} {more}");
        }
    }

    #[test]
    fn a_variant_between_the_baseline_and_its_twin_is_equal_to_both() {
        let pair = |other: f64| [1.0 / other, other];
        let both = |pairs: &[[f64; 2]]| Interval::from_pairs(pairs, Scale::Ratio).unwrap();
        let found = both(&[pair(1.1), pair(1.2), pair(0.7)]);
        assert!(found.estimate.abs() < 1e-12, "{found:?}");
        let single = Interval::from_ratios(&[1.3, 0.9, 1.1]).unwrap();
        let same = both(&[[1.3; 2], [0.9; 2], [1.1; 2]]);
        assert!(close(single.estimate, same.estimate));
        assert!(close(single.half_width.unwrap(), same.half_width.unwrap()));
    }

    #[test]
    fn the_blocks_that_a_narrower_interval_needs_follow_from_its_width() {
        assert_eq!(blocks_for(0.088, 5, 0.088, 50), Some(6));
        assert_eq!(blocks_for(0.088, 5, 0.05, 50), Some(12));
        assert_eq!(blocks_for(0.088, 5, 0.001, 50), None);
        assert_eq!(blocks_for(0.088, 1, 0.05, 50), None);
        // With 3 % noise the half-width is 2.776 / sqrt(5) of it.
        let half = 0.03 * 2.776_445 / 5.0_f64.sqrt();
        assert_eq!(blocks_to_decide(half, 5, 0.1, 50), Some(5));
        let needed = blocks_to_decide(half, 5, 0.0488, 50).unwrap();
        assert!((6..12).contains(&needed), "{needed}");
        assert_eq!(blocks_to_decide(half, 5, 0.001, 50), None);
        // The two-sided 1 % point of four degrees of freedom is 4.604.
        let five = simultaneous(0.1, 5, 5);
        assert!((five - 0.1 * 4.604_095 / 2.776_445).abs() < 1e-6, "{five}");
        assert!((simultaneous(0.1, 5, 1) - 0.1).abs() < 1e-12);
    }

    /// The two-sided 5 % points of 6 and of 8 degrees of freedom, which 8 and 12 blocks have, are
    /// 2.446912 and 2.306004.
    #[test]
    fn the_interval_of_a_planned_number_of_blocks_has_the_freedom_of_its_pilot() {
        let ratios: Vec<f64> = (0..12)
            .map(|block| 1.0 + f64::from(block) / 100.0)
            .collect();
        let own = Interval::from_ratios(&ratios).unwrap();
        let planned = own.with_freedom_of(8, 12);
        let wider = planned.half_width.unwrap() / own.half_width.unwrap();
        assert!((wider - 2.446_912 / 2.306_004).abs() < 1e-6, "{wider}");
        assert!(planned.p_value > own.p_value);
        assert!(close(planned.estimate, own.estimate));
        let noise = noise_with_pilot(planned.half_width.unwrap(), 12, Some(8)).unwrap();
        assert!(close(noise, noise_of(own.half_width.unwrap(), 12).unwrap()));
        // No more than its own: 16 blocks have fewer degrees of freedom than 15.
        assert_eq!(own.with_freedom_of(12, 12), own);
        assert_eq!(own.with_freedom_of(15, 16), own);
    }

    #[test]
    fn a_plan_reaches_its_target_with_the_freedom_of_its_pilot() {
        assert_eq!(blocks_planned(0.03, 8, 0.031, 8..=50), Some(8));
        let planned = blocks_planned(0.031, 8, 0.025, 8..=50).unwrap();
        let ordinary = blocks_for(0.031, 8, 0.025, 50).unwrap();
        assert!(ordinary < planned && planned < 16, "{ordinary} {planned}");
        assert_eq!(blocks_planned(0.031, 8, 0.001, 8..=50), None);
        assert_eq!(blocks_planned(0.031, 1, 0.025, 8..=50), None);
    }

    #[test]
    fn one_block_gives_an_estimate_and_decides_nothing() {
        let one = Interval::from_ratios(&[2.0]).unwrap();
        assert_eq!((one.half_width, one.p_value), (None, 1.0));
        assert_eq!(Interval::from_ratios(&[]), None);
        assert_eq!(
            Interval::from_ratios(&[0.0, -1.0, f64::NAN, f64::INFINITY]),
            None
        );
    }

    proptest! {
        #[test]
        fn an_interval_contains_its_estimate_and_is_never_nan(ratios in ratios()) {
            let found = Interval::from_ratios(&ratios).unwrap();
            let (low, high) = (found.low().unwrap(), found.high().unwrap());
            prop_assert!(low <= found.estimate && found.estimate <= high);
            prop_assert!((0.0..=1.0).contains(&found.p_value));
        }

        #[test]
        fn interval_and_p_value_agree(ratios in ratios()) {
            let found = Interval::from_ratios(&ratios).unwrap();
            let half = found.half_width.unwrap();
            // The very edge is left to rounding.
            if (found.estimate.abs() - half).abs() > 1e-9 {
                prop_assert_eq!(found.estimate.abs() > half, found.p_value < LEVEL);
            }
        }

        #[test]
        fn the_order_of_blocks_does_not_matter(
            (one, other) in ratios().prop_flat_map(|r| (Just(r.clone()), Just(r).prop_shuffle()))
        ) {
            prop_assert_eq!(Interval::from_ratios(&one), Interval::from_ratios(&other));
        }

        #[test]
        fn a_factor_on_all_blocks_moves_the_estimate_and_nothing_else(
            ratios in ratios(), factor in 1e-3..1e3
        ) {
            let before = Interval::from_ratios(&ratios).unwrap();
            let scaled: Vec<f64> = ratios.iter().map(|ratio| ratio * factor).collect();
            let after = Interval::from_ratios(&scaled).unwrap();
            prop_assert!(close(after.estimate, before.estimate + libm::log(factor)));
            prop_assert!(close(after.half_width.unwrap(), before.half_width.unwrap()));
        }

        #[test]
        fn the_inverse_ratios_give_the_mirrored_interval(ratios in ratios()) {
            let there = Interval::from_ratios(&ratios).unwrap();
            let inverse: Vec<f64> = ratios.iter().map(|ratio| 1.0 / ratio).collect();
            let back = Interval::from_ratios(&inverse).unwrap();
            prop_assert!(close(there.estimate, -back.estimate));
            prop_assert!(close(there.half_width.unwrap(), back.half_width.unwrap()));
        }

        #[test]
        fn a_variant_compared_with_itself_is_exactly_one(
            values in prop::collection::btree_map(1u32..50, 1e-6..1e9, 2..20)
        ) {
            let found = Interval::from_ratios(&paired_ratios(&values, &values)).unwrap();
            prop_assert_eq!(found, Interval { estimate: 0.0, half_width: Some(0.0), p_value: 1.0 });
        }

        #[test]
        fn hostile_numbers_give_no_nan(
            ratios in prop::collection::vec(prop::num::f64::ANY, 0..20)
        ) {
            if let Some(found) = Interval::from_ratios(&ratios) {
                prop_assert!(found.estimate.is_finite());
                prop_assert!(found.half_width.is_none_or(f64::is_finite));
                prop_assert!((0.0..=1.0).contains(&found.p_value));
            }
        }
    }
}
