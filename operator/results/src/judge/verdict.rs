//! Comparisons to verdicts: what an interval allows us to say, given how many comparisons there are
//! and which differences matter to the user.

use serde::{Deserialize, Serialize};

use crate::statistics::{Interval, LEVEL};
use crate::vocabulary::measure::{Aspect, Better, Measure, Measured as _, Metric};

/// The verdict on a comparison with the baseline.
#[derive(
    Serialize,
    Deserialize,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::IntoStaticStr,
    strum::EnumString,
)]
pub enum Verdict {
    /// Less time or a higher rate than the baseline.
    Faster,
    /// More time or a lower rate than the baseline.
    Slower,
    /// Less CPU or memory than the baseline.
    Smaller,
    /// More CPU or memory than the baseline.
    Larger,
    /// The whole interval lies within the minimum effect: any difference is too small to matter.
    Equivalent,
    /// The data allow no statement.
    Inconclusive,
}

impl Verdict {
    /// Whether the verdict is that there is a difference.
    pub fn is_difference(self) -> bool {
        match self {
            Self::Faster | Self::Slower | Self::Smaller | Self::Larger => true,
            Self::Equivalent | Self::Inconclusive => false,
        }
    }

    /// Whether the verdict decides: there is a difference, or none that matters.
    pub fn is_decided(self) -> bool {
        match self {
            Self::Faster | Self::Slower | Self::Smaller | Self::Larger | Self::Equivalent => true,
            Self::Inconclusive => false,
        }
    }

    /// Whether the variant is worse than what it is compared with.
    pub fn is_worse(self, metric: Metric) -> bool {
        match self {
            Self::Slower => true,
            Self::Larger => metric.measure().better == Better::Less,
            Self::Smaller => metric.measure().better == Better::More,
            Self::Faster | Self::Equivalent | Self::Inconclusive => false,
        }
    }

    /// The verdict on `metric` as people read it: `more CPU`, `starts later`, `undecided`.
    pub fn text(self, metric: Metric) -> String {
        self.text_by(metric, None)
    }

    /// The same, with the size of a difference in `by`: `at least 44 % more CPU`.
    pub fn text_by(self, metric: Metric, by: Option<&str>) -> String {
        let Measure { better, words, .. } = metric.measure();
        match self {
            Self::Faster => words.phrase(better == Better::More, by),
            Self::Slower => words.phrase(better == Better::Less, by),
            Self::Smaller => words.phrase(false, by),
            Self::Larger => words.phrase(true, by),
            Self::Equivalent => "equivalent".to_owned(),
            Self::Inconclusive => "undecided".to_owned(),
        }
    }
}

/// What a difference must exceed to count, as logarithms of ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The smallest difference that matters to the user.
    pub minimum_effect: f64,
    /// Whether an estimate below the minimum effect decides nothing: a gate must not fail because
    /// of a difference that does not matter.
    pub is_gate: bool,
}

/// The verdict on `metric`. Equivalence is tested first: it needs the whole interval within the
/// minimum effect. A difference needs a p-value that is significant among the run's other
/// comparisons (`adjusted_p`). It may be smaller than the minimum effect, and its near end shows by
/// how much it differs from 0 at least. Requiring in addition that the estimate reach the minimum
/// effect would miss half of the differences of exactly that size, and report the others as larger
/// than they are.
pub fn judge(
    metric: Metric,
    interval: &Interval,
    adjusted_p: f64,
    thresholds: Thresholds,
) -> Verdict {
    let Thresholds {
        minimum_effect,
        is_gate,
    } = thresholds;
    let distance = interval.estimate.abs();
    let is_small = |farthest: f64| farthest <= minimum_effect;
    if interval.farthest().is_some_and(is_small) {
        return Verdict::Equivalent;
    }
    if adjusted_p > LEVEL || (is_gate && distance < minimum_effect) {
        return Verdict::Inconclusive;
    }
    direction(metric, interval.estimate > 0.0)
}

fn direction(metric: Metric, is_more: bool) -> Verdict {
    let Measure { aspect, better, .. } = metric.measure();
    let is_better = is_more == (better == Better::More);
    match aspect {
        Aspect::HowMuch if is_more => Verdict::Larger,
        Aspect::HowMuch => Verdict::Smaller,
        Aspect::HowFast if is_better => Verdict::Faster,
        Aspect::HowFast => Verdict::Slower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TWIN: Thresholds = Thresholds {
        minimum_effect: 0.05,
        is_gate: false,
    };

    fn interval(estimate: f64, half_width: f64) -> Interval {
        let p_value = if estimate.abs() > half_width {
            0.01
        } else {
            0.5
        };
        Interval {
            estimate,
            half_width: Some(half_width),
            p_value,
        }
    }

    fn verdict(estimate: f64, half_width: f64) -> Verdict {
        let found = interval(estimate, half_width);
        judge(Metric::ThroughputRps, &found, found.p_value, NO_TWIN)
    }

    #[test]
    fn a_clear_difference_that_matters_has_a_direction() {
        assert_eq!(verdict(0.2, 0.1), Verdict::Faster);
        assert_eq!(verdict(-0.2, 0.1), Verdict::Slower);
    }

    #[test]
    fn more_is_slower_for_time_and_larger_for_cpu_and_memory() {
        let found = interval(0.2, 0.1);
        let verdict_on = |metric| judge(metric, &found, 0.01, NO_TWIN);
        assert_eq!(verdict_on(Metric::WarmP50), Verdict::Slower);
        assert_eq!(verdict_on(Metric::CpuPerRequest), Verdict::Larger);
        assert_eq!(verdict_on(Metric::ColdStartListening), Verdict::Slower);
        assert_eq!(verdict_on(Metric::ColdStartAnswer), Verdict::Slower);
        assert_eq!(verdict_on(Metric::Memory), Verdict::Larger);
    }

    #[test]
    fn a_verdict_names_the_quantity_that_is_more_or_less() {
        for (verdict, metric, words) in [
            (Verdict::Larger, Metric::CpuPerRequest, "more CPU"),
            (Verdict::Smaller, Metric::Memory, "less memory"),
            (Verdict::Larger, Metric::MemoryPerInstance, "more memory"),
            (Verdict::Slower, Metric::ThroughputRps, "fewer requests/s"),
            (Verdict::Faster, Metric::ThroughputRps, "more requests/s"),
            (Verdict::Slower, Metric::OpenLoopP99, "slower"),
            (Verdict::Slower, Metric::ColdStartAnswer, "starts later"),
            (Verdict::Smaller, Metric::Succeeded, "fewer succeed"),
            (Verdict::Inconclusive, Metric::WarmP50, "undecided"),
        ] {
            assert_eq!(verdict.text(metric), words);
        }
        let later = Verdict::Slower.text_by(Metric::ColdStartListening, Some("at least 9 ms"));
        assert_eq!(later, "starts at least 9 ms later");
    }

    #[test]
    fn a_certain_difference_that_does_not_matter_is_equivalence() {
        assert_eq!(verdict(0.03, 0.01), Verdict::Equivalent);
        assert_eq!(verdict(0.0, 0.0), Verdict::Equivalent);
    }

    #[test]
    fn a_wide_interval_around_one_is_inconclusive() {
        assert_eq!(verdict(0.0, 0.1), Verdict::Inconclusive);
    }

    #[test]
    fn a_certain_difference_that_may_matter_has_a_direction() {
        assert_eq!(verdict(0.04, 0.02), Verdict::Faster);
        let gate = Thresholds {
            is_gate: true,
            ..NO_TWIN
        };
        let found = interval(0.04, 0.02);
        let of_gate = judge(Metric::ThroughputRps, &found, found.p_value, gate);
        assert_eq!(of_gate, Verdict::Inconclusive);
    }

    #[test]
    fn a_chance_difference_among_many_comparisons_is_inconclusive() {
        let found = interval(0.2, 0.1);
        assert_eq!(
            judge(Metric::WarmP50, &found, 0.06, NO_TWIN),
            Verdict::Inconclusive
        );
    }

    #[test]
    fn one_block_decides_nothing() {
        let one = Interval {
            estimate: 2.0,
            half_width: None,
            p_value: 1.0,
        };
        assert_eq!(
            judge(Metric::Memory, &one, 1.0, NO_TWIN),
            Verdict::Inconclusive
        );
    }
}
