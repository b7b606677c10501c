//! Many comparisons at once. Of 20 true null hypotheses one has a p-value below 5 % by chance. The
//! procedure of Benjamini and Hochberg (1995) keeps the expected share of false findings among all
//! findings at the level, and, if there is nothing to find, the chance of any finding at all.

/// The p-values adjusted for multiple comparisons, in the given order: a comparison is a finding if
/// its adjusted value is at most the level. Never below the value itself, never above 1.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut rising: Vec<usize> = (0..p_values.len()).collect();
    rising.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least: f64 = 1.0;
    for (rank, &index) in rising.iter().enumerate().rev() {
        let p_value = p_values[index];
        // Rounding must not lower a p-value.
        least = least.min(p_value.max(p_value * p_values.len() as f64 / (rank + 1) as f64));
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_benjamini_and_hochberg_gives_their_four_findings() {
        let published = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let findings = adjusted(&published).into_iter().filter(|p| *p <= 0.05);
        assert_eq!(findings.count(), 4);
    }

    #[test]
    fn a_single_comparison_is_not_adjusted() {
        assert_eq!(adjusted(&[0.03]), [0.03]);
        assert!(adjusted(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn an_adjusted_value_is_no_smaller_and_keeps_the_order(
            values in prop::collection::vec(0.0..=1.0, 1..60)
        ) {
            let adjusted = adjusted(&values);
            for (one, p) in values.iter().enumerate() {
                prop_assert!(adjusted[one] >= *p && adjusted[one] <= 1.0);
                for (other, q) in values.iter().enumerate() {
                    prop_assert!(p > q || adjusted[one] <= adjusted[other]);
                }
            }
        }
    }
}
