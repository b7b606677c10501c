//! Variants that answer with more or fewer bytes than the baseline.

use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed, note};

/// Answers that contain a name, a time or a counter differ by some tens of bytes, whose cost cannot
/// be measured.
const LEAST_BYTES: f64 = 100.0;
/// A cost that grows with the answer grows by no more than the answer does: below this factor, the
/// sizes explain next to nothing.
const LEAST_FACTOR: f64 = 1.1;

/// Variants whose answers are not as large as those of the baseline, whether or not the node was
/// quiet enough to compare them. Answers that should have been the same are reported as wrong ones.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let baseline = evidence.spec.baseline_name();
    let is_wrong = |workload: &str, variant: &str| {
        let mut wrong = evidence.mismatches.iter();
        wrong.any(|one| one.workload == workload && one.variant == variant)
    };
    let places = evidence.answer_sizes.iter().filter_map(|(place, other)| {
        let (workload, variant) = place;
        let of_baseline = (workload.clone(), baseline.to_owned());
        let base = evidence.answer_sizes.get(&of_baseline)?;
        let is_new = differ(*base, *other) && !is_wrong(workload, variant);
        is_new.then(|| {
            format!(
                "{baseline} answers {workload} with {base:.0} bytes and {variant} with {other:.0}"
            )
        })
    });
    Some(note(
        Reason::UnequalAnswers,
        listed(places, MAX_PLACES, ", ")?,
        "see whether they do the same work, and set spec.workloads[].expect.sameAcrossVariants if they should answer the same; \
         otherwise ratios compare the answers, too",
    ))
}

fn differ(one: f64, other: f64) -> bool {
    let (smaller, larger) = (one.min(other), one.max(other));
    larger - smaller > LEAST_BYTES && larger > LEAST_FACTOR * smaller
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_a_time_or_a_tenth_more_bytes_in_an_answer_makes_no_difference() {
        for (one, other) in [(5.0, 105.0), (0.0, 100.0), (2000.0, 2200.0), (50.0, 50.0)] {
            assert!(!differ(one, other) && !differ(other, one), "{one} {other}");
        }
        for (one, other) in [(30.0, 50_000.0), (5.0, 106.0), (2000.0, 2201.0)] {
            assert!(differ(one, other) && differ(other, one), "{one} {other}");
        }
    }
}
