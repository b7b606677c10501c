//! A variant as a multiple of the baseline, and the baseline as a multiple of itself.

mod words;

use serde::{Deserialize, Serialize};
use wasmbench_api::absent::is_zero;
use wasmbench_model::rounding::round_number;
use wasmbench_model::units;
use wasmbench_model::wire::record::Point;

use crate::judge::verdict::Verdict;
use crate::statistics::{Interval, OneSided};
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::{Metric, Unit};

/// A ratio within blocks, with its interval, in the digits of a summary.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// The ratio: the mean of the blocks' ratios on the log scale, trimmed by an eighth at each
    /// end. With a `bound` it is the mean of the blocks' bounds, and says nothing by itself.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent with one block, and where it is not known.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// Which end is known, where only one is: the ratio is at least `low`, or at most `high`.
    pub bound: Option<OneSided>,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// Those of them that show only a bound.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub censored_blocks: u32,
    /// The first blocks of a run with precision, from which it planned how many it has: the interval
    /// has their degrees of freedom. Absent where it has its own.
    pub pilot_blocks: Option<u32>,
    /// The ratio of each of these blocks in which it is known, in the order of the blocks.
    pub per_block: Vec<f64>,
}

impl Estimate {
    /// The estimate from `ratios`, one per block.
    pub fn new(interval: &Interval, ratios: &[f64]) -> Self {
        Self {
            ratio: factor(interval.estimate),
            low: interval.low().map(factor),
            high: interval.high().map(factor),
            bound: None,
            blocks: u32::try_from(ratios.len()).unwrap_or(u32::MAX),
            censored_blocks: 0,
            pilot_blocks: None,
            per_block: ratios.iter().copied().map(round_number).collect(),
        }
    }

    /// The same where so many more blocks show only a bound, and perhaps only one end is known.
    #[must_use]
    pub fn within(self, bound: Option<OneSided>, censored_blocks: u32) -> Self {
        Self {
            low: self.low.filter(|_| bound != Some(OneSided::AtMost)),
            high: self.high.filter(|_| bound != Some(OneSided::AtLeast)),
            bound,
            blocks: self.blocks.saturating_add(censored_blocks),
            censored_blocks,
            ..self
        }
    }

    /// The ratio that may be stated: where only one end is known, that end.
    pub fn stated(&self) -> f64 {
        let end = match self.bound {
            None => None,
            Some(OneSided::AtLeast) => self.low,
            Some(OneSided::AtMost) => self.high,
        };
        end.unwrap_or(self.ratio)
    }

    /// The ratio in words: `0.52x`, `at least 2.08x`.
    pub fn ratio_text(&self) -> String {
        let ratio = units::ratio(self.stated());
        match self.bound {
            None => ratio,
            Some(bound) => format!("{} {ratio}", bound.text()),
        }
    }

    /// The ends of the interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The ends of the interval in words, `0.48-0.55`.
    pub fn interval_text(&self) -> Option<String> {
        match self.bound {
            None => self.ends().map(units::ratio_interval),
            Some(_) => Some("one end is known".to_owned()),
        }
    }

    /// The ratio with its interval and the verdict, `0.52x (0.48-0.55), slower`.
    pub fn text(&self, comes_to: &str) -> String {
        match self.bound {
            None => units::judged_ratio(self.ratio, self.ends(), comes_to),
            Some(_) => format!("{}, {comes_to}", self.ratio_text()),
        }
    }
}

/// A logarithm as a factor, in the digits of a summary.
pub fn factor(logarithm: f64) -> f64 {
    round_number(libm::exp(logarithm))
}

/// How much more a variant takes than the baseline, within blocks, in the unit of the measure.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The mean of the blocks' differences, trimmed by an eighth at each end.
    pub value: f64,
    /// Lower end of its 95 % interval; absent with one block.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// The smallest difference that matters.
    pub smallest: f64,
    /// The least that a judged and found difference may be.
    pub at_least: Option<f64>,
    /// The smallest difference that a run with this scatter finds in 80 of 100 cases; absent with
    /// one block.
    pub smallest_found: Option<f64>,
}

impl Difference {
    /// The difference from its interval.
    pub fn new(interval: &Interval, smallest: f64) -> Self {
        Self {
            value: round_number(interval.estimate),
            low: interval.low().map(round_number),
            high: interval.high().map(round_number),
            smallest,
            at_least: None,
            smallest_found: None,
        }
    }

    /// The ends of the interval.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The difference in words, `+185 ms (+183 ms to +187 ms)`.
    pub fn text(&self, unit: Unit) -> String {
        unit.difference_within(self.value, self.ends())
    }
}

/// A measure of a variant as a multiple of the baseline's.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// What is compared.
    pub metric: Metric,
    /// The point of the sweep at which the measure is compared; in the throughput sweep the
    /// baseline's knee.
    #[serde(flatten)]
    pub point: Point,
    /// Whether the comparison is primary.
    #[serde(default)]
    pub primary: bool,
    /// The ratio.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// The difference, for measures that are judged by it.
    pub difference: Option<Difference>,
    /// The chance of a ratio at least this far from 1, or of a difference at least this far from 0,
    /// between equals.
    pub p_value: f64,
    /// The same, adjusted for the number of the run's primary or secondary comparisons (Benjamini
    /// and Hochberg); 1 for equivalent ratios, because equivalence is tested first.
    pub adjusted_p_value: f64,
    /// The factor above 1 by which the baseline's twin may differ from the baseline; absent without
    /// a twin. It describes the node and decides nothing.
    pub noise_floor: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the comparison is not to be trusted, although it is kept. Empty if nothing speaks
    /// against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untrusted: Vec<Reason>,
    /// The least that a found difference may be, as a factor above 1: the near end of an interval that
    /// holds together with those of all primary, or of all secondary, comparisons of the run
    /// (Bonferroni). Absent where that interval contains 1.
    pub at_least: Option<f64>,
    /// The smallest difference that a run with this scatter finds in 80 of 100 cases, as a factor
    /// above 1; absent with one block.
    pub smallest_found: Option<f64>,
}

/// How the baseline compares with itself in one measure. Never ranked.
#[serde_with::skip_serializing_none]
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
    /// The end of the interval that is farther from 1, as a factor above 1.
    pub factor: Option<f64>,
}

impl NoiseFloor {
    /// Whether this is the noise floor of the comparison.
    pub fn is_of(&self, compared: &Comparison) -> bool {
        (self.metric, &self.workload, self.point)
            == (compared.metric, &compared.workload, compared.point)
    }

    /// The ratio in words, with its interval and the noise floor.
    pub fn text(&self) -> String {
        let floor = self
            .factor
            .map(units::excess)
            .map(|floor| format!("noise floor {floor}"));
        self.estimate.text(floor.as_deref().unwrap_or("one block"))
    }
}
