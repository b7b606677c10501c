//! What is kept of a run: a line in which names are indices into tables and numbers are lists, so
//! that thousands of runs fit into a `ConfigMap`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wasmbench_model::rounding::round_number;
use wasmbench_model::units;
use wasmbench_model::wire::record::Point;

use crate::cells::any::AnyCell;
use crate::runs::history::bounded;
use crate::statistics::ratio::noise_with_pilot;
use crate::statistics::{Interval, OfRun, Scale};
use crate::vocabulary::cell::place;
use crate::vocabulary::measure::{Measured as _, Metric};

/// What is followed from run to run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Series {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The measure.
    pub metric: Metric,
    /// The sweep and its point.
    #[serde(flatten)]
    pub point: Point,
}

impl Series {
    /// The scale on which runs are compared in this series.
    pub fn scale(&self) -> Scale {
        self.metric.scale()
    }

    /// Whether the series is measured in this cell.
    pub fn is_of(&self, cell: AnyCell<'_>) -> bool {
        cell.is_at(&self.variant, &self.workload, self.point)
    }

    /// How a variant compares with the baseline, or a change of it: `1.10x (1.05-1.14)`, or
    /// `+12 ms (+8 ms to +15 ms)`.
    pub fn number_text(&self, number: f64, interval: Option<(f64, f64)>) -> String {
        match self.scale() {
            Scale::Ratio => units::ratio_within(number, interval),
            Scale::Difference => {
                let unit = self.metric.measure().unit;
                unit.difference_within(number, interval)
            }
        }
    }

    /// The series in words: `CPU per request of embedded on hello at 50 connections`.
    pub fn text(&self) -> String {
        let place = place(&self.variant, &self.workload, self.point);
        // The nouns of cold starts and density name the sweep.
        format!("{} of {place}", self.metric.noun())
    }
}

/// The most images of a setting: a run has 16 variants, and a twin of the baseline.
pub const MOST_IMAGES: usize = 17;

/// Where and with what a run measured.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Setting {
    /// Name of the node; empty if no trial got that far.
    pub node: String,
    /// Fingerprint of the node; empty if unknown.
    pub fingerprint: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Digests of the images, by variant.
    #[serde(deserialize_with = "bounded::map::<MOST_IMAGES, _>")]
    pub images: BTreeMap<String, String>,
    /// Digest of workloads and sweeps, and of the baseline's resources where variants have their own.
    pub asked: String,
}

impl Setting {
    /// What must be equal for runs to be compared: a new kernel, a new baseline or another
    /// workload would explain a change.
    pub fn stratum(&self) -> String {
        let baseline = self.images.get(&self.baseline).map_or("", String::as_str);
        let Self {
            fingerprint, asked, ..
        } = self;
        format!("{fingerprint} {} {baseline} {asked}", self.baseline)
    }
}

/// A run, or several folded runs.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// Name of the run, or of the first folded run.
    pub name: String,
    /// When the run, or the last folded run, ended.
    pub ended: Timestamp,
    /// The number of runs that the line represents.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub runs: u32,
    /// Place in the history's settings.
    pub setting: usize,
    /// What was measured.
    pub numbers: Vec<Number>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_one(runs: &u32) -> bool {
    *runs == 1
}

impl Line {
    /// The number of this series in the line.
    pub fn number(&self, series: usize) -> Option<&Number> {
        self.numbers.iter().find(|number| number.series == series)
    }
}

/// One measure of one run. As JSON: `[series, versusBaseline, blocks, value, trusted, pilot]`, the last
/// of which is left out if there is none.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(from = "Packed", into = "Packed")]
pub struct Number {
    /// Place in the history's series.
    pub series: usize,
    /// The ratio to the baseline, or the difference in the measure's unit if that is what is judged;
    /// `None` for the baseline itself.
    pub versus_baseline: Option<Ends>,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// The measure itself, in its unit.
    pub value: Option<Ends>,
    /// Whether nothing speaks against the number.
    pub trusted: bool,
    /// The first blocks of a run with precision, if the interval versus the baseline has their degrees
    /// of freedom.
    pub pilot: Option<u32>,
}

impl Number {
    /// How the variant compares with the baseline, on a scale, with its standard error.
    pub(super) fn versus_on(&self, scale: Scale) -> Option<OfRun> {
        self.versus_baseline?.on(scale, self.blocks, self.pilot)
    }

    /// The measure itself on a scale, with its standard error.
    pub(super) fn value_on(&self, scale: Scale) -> Option<OfRun> {
        self.value?.on(scale, self.blocks, None)
    }
}

#[derive(Serialize, Deserialize)]
struct Packed(
    usize,
    Option<Ends>,
    u32,
    Option<Ends>,
    u8,
    #[serde(default, skip_serializing_if = "Option::is_none")] Option<u32>,
);

impl From<Packed> for Number {
    fn from(Packed(series, versus_baseline, blocks, value, trusted, pilot): Packed) -> Self {
        Self {
            series,
            versus_baseline,
            blocks,
            value,
            trusted: trusted == 1,
            pilot,
        }
    }
}

impl From<Number> for Packed {
    fn from(number: Number) -> Self {
        let Number {
            series,
            versus_baseline,
            blocks,
            value,
            trusted,
            pilot,
        } = number;
        let trusted = u8::from(trusted);
        Self(series, versus_baseline, blocks, value, trusted, pilot)
    }
}

/// A number and its 95 % interval; without an interval both ends are the number itself. As JSON:
/// `[number, low, high]`.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub struct Ends(pub f64, pub f64, pub f64);

impl Ends {
    /// A number with the ends of its interval, if it has one.
    pub fn new(value: f64, ends: Option<(f64, f64)>) -> Self {
        let (low, high) = ends.unwrap_or((value, value));
        Self(value, low, high)
    }

    /// The same from an interval on a scale.
    pub fn from_interval(interval: &Interval, scale: Scale) -> Self {
        let number = |place: f64| round_number(scale.inverse(place));
        let ends = interval.low().zip(interval.high());
        Self::new(
            number(interval.estimate),
            ends.map(|(low, high)| (number(low), number(high))),
        )
    }

    /// The number on a scale, with the standard error behind the interval of `blocks` blocks, whose
    /// number a `pilot` may have chosen. `None` if the number has no place there.
    fn on(self, scale: Scale, blocks: u32, pilot: Option<u32>) -> Option<OfRun> {
        let [estimate, low, high] = [self.0, self.1, self.2].map(|end| scale.transform(end));
        let noise = noise_with_pilot((high - low) / 2.0, blocks, pilot);
        estimate.is_finite().then(|| OfRun {
            estimate,
            error: noise.map(|noise| noise / f64::from(blocks).sqrt()),
        })
    }

    /// Whether the number has an interval.
    pub fn has_interval(&self) -> bool {
        self.1 < self.2
    }

    /// The weighted mean of two numbers and of their ends, on a scale.
    pub(super) fn between(self, weight: f64, other: Self, other_weight: f64, scale: Scale) -> Self {
        let mean = |one: f64, two: f64| {
            let (from, to) = (scale.transform(one), scale.transform(two));
            if !from.is_finite() || !to.is_finite() {
                return one.max(two);
            }
            let sum = weight * from + other_weight * to;
            round_number(scale.inverse(sum / (weight + other_weight)))
        };
        Self(
            mean(self.0, other.0),
            mean(self.1, other.1),
            mean(self.2, other.2),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(found: &Interval, pilot: Option<u32>) -> Number {
        Number {
            series: 0,
            versus_baseline: Some(Ends::from_interval(found, Scale::Ratio)),
            blocks: 20,
            value: None,
            trusted: true,
            pilot,
        }
    }

    #[test]
    fn the_error_of_a_number_is_that_of_its_trials_although_a_pilot_widens_its_interval() {
        let ratios: Vec<f64> = (0..20)
            .map(|block| 1.0 + f64::from(block) / 100.0)
            .collect();
        let own = Interval::from_ratios(&ratios).unwrap();
        let planned = number(&own.with_freedom_of(8, 20), Some(8));
        let error = |of: &Number| of.versus_on(Scale::Ratio).unwrap().error.unwrap();
        let times = error(&planned) / error(&number(&own, None));
        assert!((times - 1.0).abs() < 0.01, "{times}");
        let json = serde_json::to_string(&planned).unwrap();
        assert_eq!(serde_json::from_str::<Number>(&json).unwrap(), planned);
        let without = serde_json::to_string(&number(&own, None)).unwrap();
        assert!(without.ends_with(",20,null,1]"), "{without}");
        assert_eq!(
            serde_json::from_str::<Number>(&without).unwrap().pilot,
            None
        );
    }
}
