//! Student's t-test of the means before and after, with one variance for both (Hawkins, Qiu and
//! Kang, 2003). It considers how far apart they are, which ranks do not. So that no single outlier
//! makes a change, the test must also find the change without the later run that supports it most.

use crate::statistics::change::group::Group;
use crate::statistics::{LEVEL, mean, student};

/// A smaller shift of a mean comes from rounding: for logarithms as such, for larger numbers as a
/// multiple of them.
const NOTHING: f64 = 1e-9;

/// The two-sided p-value: the larger of those with all runs and without the farthest run after the
/// change.
pub(super) fn p_value(groups: &[Group]) -> f64 {
    let all = shift(groups);
    // The test without one run makes no difference here.
    if all.p_value > LEVEL {
        return all.p_value;
    }
    let rest = shift(&without_farthest(groups, all.size));
    if all.size * rest.size <= 0.0 {
        return 1.0;
    }
    all.p_value.max(rest.p_value)
}

/// The mean after minus the mean before.
pub(super) fn size(groups: &[Group]) -> f64 {
    shift(groups).size
}

struct Shift {
    /// Mean after minus mean before.
    size: f64,
    p_value: f64,
}

/// The shift over all strata, which are weighted by how much they count and assumed to scatter
/// alike.
fn shift(groups: &[Group]) -> Shift {
    let (mut weight, mut weighted, mut squares, mut freedom) = (0.0, 0.0, 0.0, 0);
    let mut largest = 1.0_f64;
    for group in groups {
        let (before, after) = (mean(&group.before), mean(&group.after));
        largest = largest.max(before.abs()).max(after.abs());
        weight += group.weight();
        weighted += group.weight() * (after - before);
        squares += scatter(&group.before, before) + scatter(&group.after, after);
        freedom += group.before.len() + group.after.len() - 2;
    }
    let size = if weight > 0.0 { weighted / weight } else { 0.0 };
    if freedom == 0 || size.abs() < NOTHING * largest {
        return Shift { size, p_value: 1.0 };
    }
    let error = (squares / freedom as f64 / weight).sqrt();
    let freedom = u32::try_from(freedom).unwrap_or(u32::MAX);
    Shift {
        size,
        p_value: student::two_sided_tail(size / error, freedom),
    }
}

fn scatter(numbers: &[f64], mean: f64) -> f64 {
    let squares = numbers.iter().map(|number| (number - mean).powi(2));
    squares.sum()
}

/// The groups without the run after the change that lies farthest from the mean before it, in the
/// direction of `size`.
fn without_farthest(groups: &[Group], size: f64) -> Vec<Group> {
    let runs = groups.iter().enumerate().flat_map(|(stratum, group)| {
        let before = mean(&group.before);
        let numbers = group.after.iter().enumerate();
        numbers.map(move |(at, number)| ((stratum, at), (number - before) * size.signum()))
    });
    let farthest = runs.max_by(|one, other| one.1.total_cmp(&other.1));
    let mut rest = groups.to_vec();
    if let Some(((stratum, at), _)) = farthest {
        rest[stratum].after.remove(at);
    }
    rest.retain(|group| !group.after.is_empty());
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(before: &[f64], after: &[f64]) -> Group {
        Group {
            before: before.to_vec(),
            after: after.to_vec(),
            own_variance: 0.0,
        }
    }

    const BEFORE: [f64; 5] = [-0.02, -0.01, 0.0, 0.01, 0.02];

    /// Means 0 and 0.1, squares 0.001 and 0.0002, 6 degrees of freedom: t is 0.1 / sqrt(0.0002 * 8
    /// / 15).
    #[test]
    fn the_shift_is_that_of_students_test_with_pooled_variance() {
        let found = shift(&[group(&BEFORE, &[0.09, 0.1, 0.11])]);
        let t = 0.1 / (0.000_2_f64 * 8.0 / 15.0).sqrt();
        assert!((found.size - 0.1).abs() < 1e-12, "{}", found.size);
        let expected = student::two_sided_tail(t, 6);
        assert!(
            (found.p_value - expected).abs() < 1e-9,
            "{} is not {expected}",
            found.p_value
        );
    }

    #[test]
    fn a_single_run_makes_no_shift_however_far_off_it_is() {
        let before = BEFORE.repeat(6);
        for wild in [0.2, 1.0, 100.0] {
            let groups = [group(&before, &[0.0, wild, 0.01])];
            assert!(shift(&groups).p_value < 0.002, "{wild}");
            let found = p_value(&groups);
            assert!(found > LEVEL, "{wild}: {found}");
        }
        assert!(p_value(&[group(&BEFORE, &[0.1, 0.1, 0.11])]) < 0.002);
    }

    #[test]
    fn a_stratum_at_another_level_changes_nothing() {
        let one = group(&BEFORE, &[0.09, 0.1, 0.11]);
        let moved = |numbers: &[f64]| -> Vec<f64> { numbers.iter().map(|x| x + 3.0).collect() };
        let other = group(&moved(&one.before), &moved(&one.after));
        let (one_stratum, both) = (
            p_value(std::slice::from_ref(&one)),
            p_value(&[one.clone(), other]),
        );
        assert!(both < one_stratum, "{both} and {one_stratum}");
    }

    #[test]
    fn equal_numbers_have_no_shift_despite_rounding() {
        let found = p_value(&[group(&[0.1; 29], &[0.1; 7])]);
        assert!((found - 1.0).abs() < f64::EPSILON, "{found}");
    }
}
