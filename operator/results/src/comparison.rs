//! A variant as a multiple of the baseline, and the baseline as a multiple of itself.

use serde::{Deserialize, Serialize};
use wasmbench_core::rounding::round_number;
use wasmbench_core::units;
use wasmbench_core::wire::record::Point;

use crate::any_cell::place;
use crate::doubt::Reason;
use crate::judge::Verdict;
use crate::measure::{Judged, Measured as _, Metric, Unit};
use crate::statistics::Interval;

/// A rate below this ratio is said as how many times fewer it is.
const FEW: f64 = 0.5;

/// A ratio within blocks, with its interval, in the digits of a summary.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// The ratio: the mean of the blocks' ratios on the log scale, trimmed by an eighth at each end.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// The ratio of each of these blocks, in the order of the blocks.
    pub per_block: Vec<f64>,
}

impl Estimate {
    /// What `ratios`, one per block, come to.
    pub fn of(interval: &Interval, ratios: &[f64]) -> Self {
        Self {
            ratio: factor(interval.estimate),
            low: interval.low().map(factor),
            high: interval.high().map(factor),
            blocks: u32::try_from(ratios.len()).unwrap_or(u32::MAX),
            per_block: ratios.iter().copied().map(round_number).collect(),
        }
    }

    /// The ends of the interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The ends of the interval in words, `0.48-0.55`.
    pub fn interval_words(&self) -> Option<String> {
        let (low, high) = self.ends()?;
        let (low, high) = (units::ratio_number(low), units::ratio_number(high));
        Some(format!("{low}-{high}"))
    }

    /// The ratio with its interval and what it comes to, `0.52x (0.48-0.55), slower`.
    pub fn words(&self, comes_to: &str) -> String {
        units::judged_ratio(self.ratio, self.ends(), comes_to)
    }
}

/// A logarithm as a factor, in the digits of a summary.
pub fn factor(logarithm: f64) -> f64 {
    round_number(libm::exp(logarithm))
}

/// How much more than the baseline a variant takes, in the unit of the measure, within blocks.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The mean of the blocks' differences, trimmed by an eighth at each end.
    pub value: f64,
    /// Lower end of its 95 % interval; absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The smallest one that matters.
    pub smallest: f64,
    /// The least that it may be, where it is judged and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The smallest one that a run with this scatter finds in 80 of 100 cases; absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_found: Option<f64>,
}

impl Difference {
    /// What an interval of differences comes to.
    pub fn of(interval: &Interval, smallest: f64) -> Self {
        Self {
            value: round_number(interval.estimate),
            low: interval.low().map(round_number),
            high: interval.high().map(round_number),
            smallest,
            at_least: None,
            smallest_found: None,
        }
    }

    /// In words, `+185 ms (183 ms to 187 ms)`.
    pub fn words(&self, unit: Unit) -> String {
        let value = unit.shown_difference(self.value);
        match self.low.zip(self.high) {
            Some((low, high)) => {
                let (low, high) = (unit.shown_difference(low), unit.shown_difference(high));
                format!("{value} ({low} to {high})")
            }
            None => value,
        }
    }
}

/// A measure of a variant as a multiple of the baseline's.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// What is compared.
    pub metric: Metric,
    /// The sweep and its point at which it is compared: in the throughput sweep the baseline's knee.
    #[serde(flatten)]
    pub point: Point,
    /// Whether the run was to decide it.
    #[serde(default)]
    pub primary: bool,
    /// The ratio.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The difference, of what is judged by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The chance of a ratio at least this far from 1, or a difference from 0, between equals.
    pub p_value: f64,
    /// The same, adjusted for the number of the run's primary comparisons, or of the others (Benjamini and Hochberg); 1 of what
    /// is equivalent, which is tested first.
    pub adjusted_p_value: f64,
    /// By which factor above 1 the baseline's twin may differ from it; absent without a twin. It tells of the node, and
    /// decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Why it is not to be trusted, although it stands. Empty when nothing speaks against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<Reason>,
    /// Of a difference, the least that it may be, as a factor above 1: the near end of the interval that is corrected for
    /// having been found among the run's primary comparisons, or the others (Benjamini and Yekutieli).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The smallest difference that a run with this scatter finds in 80 of 100 cases, as a factor above 1; absent with one
    /// block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_found: Option<f64>,
}

impl Comparison {
    /// What is compared, and where a measure is compared at several points, at which: `p99 from the schedule at 90 %
    /// of the peak`.
    pub fn what(&self) -> String {
        self.metric.at(self.point)
    }

    /// What is compared, of which variant and where: `throughput of embedded on hello at 50 connections`.
    pub fn subject(&self) -> String {
        let Self {
            variant, workload, ..
        } = self;
        let noun = self.metric.noun();
        match (self.metric, self.point) {
            // The noun tells the sweep.
            (Metric::WarmP50, _) => format!("{noun} of {variant} on {workload}"),
            (_, point) => format!("{noun} of {}", place(variant, workload, point)),
        }
    }

    /// What stands behind a verdict that is not to be trusted.
    pub fn mark(&self) -> &'static str {
        if self.untrusted.is_empty() {
            ""
        } else {
            ", untrusted"
        }
    }

    /// The difference, where this is what is judged.
    pub fn judged_difference(&self) -> Option<Difference> {
        match self.metric.measure().judged {
            Judged::Difference => self.difference,
            Judged::Ratio | Judged::RatioOrDifference => None,
        }
    }

    /// The ratio in words, with interval and verdict; before it the difference, where this is what is judged.
    pub fn words(&self) -> String {
        let verdict = self.verdict.words(self.metric) + self.mark();
        let ratio = self.estimate.words(&verdict);
        let unit = self.metric.measure().unit;
        match self.judged_difference() {
            Some(difference) => format!("{}, {ratio}", difference.words(unit)),
            None => ratio,
        }
    }

    /// What is judged with its interval, `1.91x (1.90-1.93)` or `+154 ms (152 ms to 157 ms)`.
    pub fn judged_words(&self) -> String {
        if let Some(difference) = self.judged_difference() {
            return difference.words(self.metric.measure().unit);
        }
        let ratio = units::ratio(self.estimate.ratio);
        let interval = self.estimate.interval_words();
        format!("{ratio} ({})", interval.as_deref().unwrap_or("1 block"))
    }

    /// The verdict with the near end of a difference: `at least 44 % slower`.
    pub fn verdict_words(&self) -> String {
        let least = self.least_words().map(|least| format!("at least {least}"));
        self.verdict.words_by(self.metric, least.as_deref())
    }

    /// The near end of a difference: `183 ms`, `2.10x`, `44 %`.
    fn least_words(&self) -> Option<String> {
        if let Some(least) = self.difference.and_then(|difference| difference.at_least) {
            return Some(self.metric.measure().unit.shown(least));
        }
        let factor = self.at_least?;
        Some(if factor >= 2.0 {
            units::ratio(factor)
        } else if self.estimate.ratio < 1.0 {
            units::excess(2.0 - 1.0 / factor)
        } else {
            units::excess(factor)
        })
    }

    /// Of a rate below half of the baseline's how many times fewer that is, `18.5x fewer requests/s`: few people see what
    /// 0.054x is. `None` of everything else.
    pub fn fewer_words(&self) -> Option<String> {
        let Estimate { ratio, .. } = self.estimate;
        let measure = self.metric.measure();
        let is_rate = measure.unit == Unit::PerSecond && self.verdict.is_difference();
        let is_far = is_rate && ratio > 0.0 && ratio < FEW;
        is_far.then(|| {
            let times = units::ratio(1.0 / ratio);
            measure.words.said(false, Some(&times))
        })
    }

    /// What stands behind [`Self::fewer_words`]: `(17.9-19.2), at least 17.1x`.
    pub fn fewer_interval_words(&self) -> String {
        let ends = self.estimate.ends().filter(|(low, _)| *low > 0.0);
        let interval = ends.map_or_else(
            || "1 block".to_owned(),
            |(low, high)| {
                let (least, most) = (1.0 / high, 1.0 / low);
                let (least, most) = (units::ratio_number(least), units::ratio_number(most));
                format!("{least}-{most}")
            },
        );
        let least = self.at_least.map(units::ratio);
        let least = least.map_or_else(String::new, |least| format!(", at least {least}"));
        format!("({interval}){least}")
    }
}

/// How the baseline compares with itself in one measure. Never ranked.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NoiseFloor {
    /// Name of the workload.
    pub workload: String,
    /// What is compared.
    pub metric: Metric,
    /// The sweep and its point.
    #[serde(flatten)]
    pub point: Point,
    /// The twin as a multiple of the baseline.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The chance of a ratio at least this far from 1 between equals.
    pub p_value: f64,
    /// Whether the two differ by more than chance, however many numbers are looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub differs: bool,
    /// The end of the interval that is farther from 1, as a factor above 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
}

impl NoiseFloor {
    /// Whether it is that of the comparison.
    pub fn is_beside(&self, compared: &Comparison) -> bool {
        (self.metric, &self.workload, self.point)
            == (compared.metric, &compared.workload, compared.point)
    }

    /// The ratio in words, with its interval and the floor that it shows.
    pub fn words(&self) -> String {
        let floor = self.factor.map(units::excess);
        let floor = floor.map(|floor| format!("noise floor {floor}"));
        self.estimate.words(floor.as_deref().unwrap_or("one block"))
    }
}
