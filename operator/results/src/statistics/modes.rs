//! Do numbers fall into two groups?

use crate::statistics::{mean, sorted};

/// The fewest numbers; groups of fewer cannot be distinguished.
const FEWEST: usize = 8;
/// The fewest numbers in a group, which must also be one in [`ONE_IN`] of all: rarer ones are
/// outliers.
const LEAST: usize = 3;
/// See [`LEAST`].
const ONE_IN: usize = 5;
/// How far apart the groups must be, in multiples of their own scatter: the first number with many
/// numbers, and more with few (the second divided by their count), because the best of all
/// divisions of few numbers looks good by chance. One in a hundred samples of a single group
/// passes, under normal noise, heavy tails, outliers and drift
/// (`report/tests/all/modes_simulation.rs`).
const APART: (f64, f64) = (3.5, 25.0);

/// Two groups of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Mean of the smaller numbers, and how many there are.
    pub low: (f64, usize),
    /// Mean of the larger numbers, and how many there are.
    pub high: (f64, usize),
}

/// The two groups that `numbers` fall into; `None` if they are one group. The division with the
/// least scatter within the groups counts.
pub fn two_modes(numbers: &[f64]) -> Option<Modes> {
    let numbers = sorted(numbers.iter().copied());
    let count = numbers.len();
    if count < FEWEST {
        return None;
    }
    let least = LEAST.max(count.div_ceil(ONE_IN));
    let divided = |at: usize| {
        let (low, high) = numbers.split_at(at);
        let squares = scatter(low) + scatter(high);
        (
            squares,
            Modes {
                low: (mean(low), low.len()),
                high: (mean(high), high.len()),
            },
        )
    };
    let divisions = (least..=count - least).map(divided);
    let (squares, modes) = divisions.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let deviation = (squares / (count - 2) as f64).sqrt();
    let apart = APART.0 + APART.1 / count as f64;
    let distance = modes.high.0 - modes.low.0;
    (distance > apart * deviation).then_some(modes)
}

fn scatter(numbers: &[f64]) -> f64 {
    let mean = mean(numbers);
    numbers.iter().map(|number| (number - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_groups_are_found_with_their_means_and_sizes() {
        let numbers = [10.0, 20.2, 10.2, 9.8, 19.8, 10.1, 20.0, 9.9, 20.1, 10.0];
        let modes = two_modes(&numbers).unwrap();
        assert!((modes.low.0 - 10.0).abs() < 1e-9 && (modes.high.0 - 20.025).abs() < 1e-9);
        assert_eq!((modes.low.1, modes.high.1), (6, 4));
    }

    #[test]
    fn two_outliers_are_not_a_group_and_seven_numbers_are_too_few() {
        let outliers = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 2.0, 2.1];
        assert_eq!(two_modes(&outliers), None);
        assert_eq!(two_modes(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]), None);
    }

    proptest! {
        #[test]
        fn equal_numbers_are_one_group(number in -1e3..1e3, count in 0_usize..40) {
            prop_assert_eq!(two_modes(&vec![number; count]), None);
        }

        #[test]
        fn groups_hold_all_numbers_and_lie_apart(numbers in prop::collection::vec(-1e3..1e3, 0..40)) {
            if let Some(modes) = two_modes(&numbers) {
                prop_assert_eq!(modes.low.1 + modes.high.1, numbers.len());
                prop_assert!(modes.low.0 < modes.high.0);
            }
        }
    }
}
