//! Numbers of which some blocks show only a bound, because they lie beyond an end of what was measured.
//! Each block has a least and a most, which are equal where the number is known.
//!
//! An interval reaches from the lower end of the interval of the least numbers to the upper end of that
//! of the most: the truth is in no block below the one or above the other, so that it misses the truth no
//! more often than an interval of the numbers themselves. Where a block has no least number at all (or
//! no most), ranks decide that end: it is unknown only if too many blocks are.

use serde::{Deserialize, Serialize};

use crate::statistics::ratio::Interval;
use crate::statistics::spread::{interval, middle, misses};

/// What is known of a number.
#[derive(
    Serialize,
    Deserialize,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
    strum::EnumString,
)]
pub enum OneSided {
    /// It is this or more.
    AtLeast,
    /// It is this or less.
    AtMost,
}

impl OneSided {
    /// The bound before its number: `at least`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }
}

/// A ratio of which some blocks show only a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    /// The interval, as natural logarithms. Where only one end is known, the estimate is that of the
    /// blocks' bounds, and the known end is half the width away from it.
    pub interval: Interval,
    /// Which end is the known one; `None` if both are.
    pub bound: Option<OneSided>,
}

impl Bounded {
    /// The interval of the ratios of blocks, each with its least, 0 if it has none, and its most, which
    /// may be infinite. `None` if neither end is known.
    pub fn from_ratios(ratios: &[[f64; 2]]) -> Option<Self> {
        let least: Vec<f64> = ratios.iter().map(|ratio| libm::log(ratio[0])).collect();
        let most: Vec<f64> = ratios.iter().map(|ratio| -libm::log(ratio[1])).collect();
        let (low, high) = (Side::new(&least), Side::new(&most).map(Side::mirrored));
        Some(match (low, high) {
            (Some(low), Some(high)) => {
                let (from, to) = (low.end.min(high.end), low.end.max(high.end));
                let estimate = f64::midpoint(from, to);
                let p_value = if estimate > 0.0 {
                    low.p_value
                } else {
                    high.p_value
                };
                Self {
                    interval: interval_of(estimate, to - estimate, p_value),
                    bound: None,
                }
            }
            (Some(low), None) => low.one_sided(OneSided::AtLeast),
            (None, Some(high)) => high.one_sided(OneSided::AtMost),
            (None, None) => return None,
        })
    }
}

fn interval_of(estimate: f64, half_width: f64, p_value: f64) -> Interval {
    Interval {
        estimate,
        half_width: Some(half_width),
        p_value,
    }
}

/// What bounds on one side say.
#[derive(Clone, Copy)]
struct Side {
    /// Their average.
    centre: f64,
    /// The end of the interval, beyond which the truth lies in 2.5 of 100 cases at most.
    end: f64,
    /// The chance of bounds so far on the known side of 0 if the truth were 0.
    p_value: f64,
}

impl Side {
    /// The lower end, from a least number of each block, which is minus infinity where there is none;
    /// `None` where that says nothing.
    fn new(least: &[f64]) -> Option<Self> {
        if least.iter().all(|number| number.is_finite()) {
            let found = Interval::from_differences(least)?;
            return Some(Self {
                centre: found.estimate,
                end: found.low()?,
                p_value: if found.estimate > 0.0 {
                    found.p_value
                } else {
                    1.0
                },
            });
        }
        Self::by_ranks(least)
    }

    /// The same by the order of the numbers alone: that of their median, and the sign test.
    fn by_ranks(least: &[f64]) -> Option<Self> {
        let mut in_order = least.to_vec();
        in_order.sort_by(f64::total_cmp);
        let end = interval(&in_order)?.0;
        let centre = middle(&in_order)?;
        let others = least.iter().filter(|number| **number <= 0.0).count();
        (end.is_finite() && centre.is_finite()).then(|| Self {
            centre,
            end,
            p_value: misses(least.len()).get(others).copied().unwrap_or(1.0),
        })
    }

    /// The upper end, from that of the numbers with the other sign.
    fn mirrored(self) -> Self {
        Self {
            centre: -self.centre,
            end: -self.end,
            ..self
        }
    }

    fn one_sided(self, bound: OneSided) -> Bounded {
        Bounded {
            interval: interval_of(self.centre, (self.centre - self.end).abs(), self.p_value),
            bound: Some(bound),
        }
    }
}

/// A median of which some trials show only a bound, in the unit of the values.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct BoundedSpread {
    /// The value in the middle; absent where it is not known.
    pub median: Option<f64>,
    /// Lower end of the interval of the median; absent where it is not known.
    pub low: Option<f64>,
    /// Upper end of the interval of the median; absent where it is not known.
    pub high: Option<f64>,
}

impl BoundedSpread {
    /// The spread of trials, each with its least, 0 if it has none, and its most, which may be infinite.
    pub fn from_ends(ends: &[[f64; 2]]) -> Self {
        let column = |which: usize| {
            let mut values: Vec<f64> = ends.iter().map(|ends| ends[which]).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (least, most) = (column(0), column(1));
        let known = |end: &f64| end.is_finite() && *end > 0.0;
        let both = middle(&least).zip(middle(&most));
        let median = both.filter(|(least, most)| least.total_cmp(most).is_eq());
        Self {
            median: median.map(|(median, _)| median).filter(known),
            low: interval(&least).map(|(low, _)| low).filter(known),
            high: interval(&most).map(|(_, high)| high).filter(known),
        }
    }

    /// Applies `change` to every number.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            median: self.median.map(&change),
            low: self.low.map(&change),
            high: self.high.map(&change),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Blocks whose ratios are known.
    fn known(ratios: &[f64]) -> Vec<[f64; 2]> {
        ratios.iter().map(|ratio| [*ratio, *ratio]).collect()
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    const AROUND_TWO: [f64; 10] = [1.9, 1.95, 1.98, 2.0, 2.0, 2.01, 2.02, 2.03, 2.05, 2.1];

    #[test]
    fn known_ratios_have_their_usual_interval() {
        let found = Bounded::from_ratios(&known(&AROUND_TWO)).unwrap();
        let usual = Interval::from_ratios(&AROUND_TWO).unwrap();
        assert_eq!(found.bound, None);
        assert!(close(found.interval.estimate, usual.estimate));
        assert!(close(
            found.interval.half_width.unwrap(),
            usual.half_width.unwrap()
        ));
        assert!(close(found.interval.p_value, usual.p_value));
    }

    #[test]
    fn bounds_in_all_blocks_give_one_end_and_a_verdict_by_it() {
        let beyond: Vec<[f64; 2]> = AROUND_TWO.map(|ratio| [ratio, f64::INFINITY]).to_vec();
        let found = Bounded::from_ratios(&beyond).unwrap();
        assert_eq!(found.bound, Some(OneSided::AtLeast));
        let low = found.interval.low().unwrap().exp();
        assert!((1.9..2.0).contains(&low), "{low}");
        assert!(found.interval.p_value < 0.001);
        let below: Vec<[f64; 2]> = AROUND_TWO.map(|ratio| [0.0, 1.0 / ratio]).to_vec();
        let mirrored = Bounded::from_ratios(&below).unwrap();
        assert_eq!(mirrored.bound, Some(OneSided::AtMost));
        assert!(close(
            mirrored.interval.high().unwrap(),
            -found.interval.low().unwrap()
        ));
        // It may be more or less than 1.
        let open: Vec<[f64; 2]> = AROUND_TWO
            .map(|ratio| [ratio / 3.0, f64::INFINITY])
            .to_vec();
        assert!(Bounded::from_ratios(&open).unwrap().interval.p_value > 0.99);
    }

    #[test]
    fn a_bound_that_shows_nothing_shows_no_more_with_the_freedom_of_a_pilot() {
        let open = AROUND_TWO.map(|ratio| [ratio / 3.0, f64::INFINITY]);
        let mirrored = AROUND_TWO.map(|ratio| [0.0, 3.0 / ratio]);
        for ratios in [open, mirrored] {
            let found = Bounded::from_ratios(&ratios).unwrap();
            let planned = found.interval.with_freedom_of(5, 10);
            assert!(planned.half_width > found.interval.half_width);
            assert!(planned.p_value > 0.99, "{planned:?}");
        }
    }

    #[test]
    fn with_few_bounds_among_many_blocks_ranks_know_the_other_end() {
        let mut blocks = known(&AROUND_TWO);
        blocks[9] = [2.0, f64::INFINITY];
        let one = Bounded::from_ratios(&blocks).unwrap();
        assert_eq!(one.bound, None);
        assert!(one.interval.high().unwrap().exp() < 2.1, "{one:?}");
        for block in &mut blocks[5..] {
            *block = [2.0, f64::INFINITY];
        }
        let half = Bounded::from_ratios(&blocks).unwrap();
        assert_eq!(half.bound, Some(OneSided::AtLeast));
        // Fewer than six blocks have no rank that lies far enough inside.
        let few = [[2.0, 2.0], [2.1, 2.1], [2.0, f64::INFINITY]];
        assert_eq!(
            Bounded::from_ratios(&few).unwrap().bound,
            Some(OneSided::AtLeast)
        );
    }

    #[test]
    fn where_nothing_is_known_there_is_no_interval() {
        assert_eq!(Bounded::from_ratios(&[[0.0, f64::INFINITY]; 10]), None);
        assert_eq!(Bounded::from_ratios(&[]), None);
    }

    #[test]
    fn a_median_is_known_if_the_bounds_do_not_move_it() {
        let mut trials: Vec<[f64; 2]> = (1..=9).map(|at| [f64::from(at); 2]).collect();
        trials[8] = [8.5, f64::INFINITY];
        let found = BoundedSpread::from_ends(&trials);
        assert_eq!(found.median, Some(5.0));
        assert!(found.low.is_some() && found.high.is_some(), "{found:?}");
        let beyond = BoundedSpread::from_ends(&[[7.0, f64::INFINITY]; 9]);
        assert_eq!(
            (beyond.median, beyond.low, beyond.high),
            (None, Some(7.0), None)
        );
        let below = BoundedSpread::from_ends(&[[0.0, 7.0]; 9]);
        assert_eq!(
            (below.median, below.low, below.high),
            (None, None, Some(7.0))
        );
    }

    proptest! {
        /// The more blocks show only a bound, the less is known.
        #[test]
        fn a_bound_instead_of_a_number_never_narrows_the_interval(
            ratios in prop::collection::vec(0.5f64..2.0, 8..20), beyond in 0usize..20,
        ) {
            let mut blocks = known(&ratios);
            let at = beyond % blocks.len();
            blocks[at][1] = f64::INFINITY;
            let found = Bounded::from_ratios(&blocks).unwrap();
            let usual = Interval::from_ratios(&ratios).unwrap();
            prop_assert!(found.interval.low().unwrap() <= usual.low().unwrap() + 1e-9);
        }

        #[test]
        fn hostile_bounds_give_no_nan(
            ends in prop::collection::vec((0.0f64..1e9, 0.0f64..1e9, any::<bool>(), any::<bool>()), 0..20)
        ) {
            let blocks: Vec<[f64; 2]> = ends
                .into_iter()
                .map(|(one, other, low, high)| [
                    if low { one.min(other) } else { 0.0 },
                    if high { one.max(other) } else { f64::INFINITY },
                ])
                .collect();
            if let Some(found) = Bounded::from_ratios(&blocks) {
                prop_assert!(found.interval.estimate.is_finite(), "{:?}", found);
                prop_assert!((0.0..=1.0).contains(&found.interval.p_value));
            }
            let _ = BoundedSpread::from_ends(&blocks);
        }
    }
}
