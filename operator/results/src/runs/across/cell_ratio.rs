//! One number compared across runs.

use serde::{Deserialize, Serialize};
use wasmbench_model::units;

use crate::judge::comparison::Difference;
use crate::judge::verdict::Verdict;
use crate::vocabulary::measure::{Measured as _, Metric};

/// Why a number has no verdict.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// More connections than at the knee of the earlier run's baseline: they mostly queue.
    BeyondKnee,
    /// It belongs to the baseline itself or has no baseline number to be a multiple of, and there
    /// are too few earlier runs to show how far runs scatter.
    TooFewRuns,
    /// The runs do not all have the same baseline.
    BaselineChanged,
    /// The schedule's history shows how far runs scatter for other numbers, but not for this one.
    NotFollowed,
    /// One of the runs does not trust it, or does not trust the baseline's number in its ratio.
    Untrusted,
}

/// A number as a multiple of the baseline's within the same run, or minus the baseline's in its unit,
/// if differences of the measure are judged.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct VersusBaseline {
    /// In the earlier runs.
    pub before: f64,
    /// In the later run.
    pub after: f64,
}

/// One metric of one cell as a multiple of what it was in the earlier runs.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CellRatio {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The point, as in names of records: `warm`, `throughput-c50`, `open-p90`, `cold-c1`,
    /// `density`.
    pub point: String,
    /// The metric that is compared.
    pub metric: Metric,
    /// The trimmed mean of the earlier runs, in the unit of the metric.
    pub before: f64,
    /// The trimmed mean of the later run.
    pub after: f64,
    /// Both numbers as multiples of the baseline, or as differences to it; absent for the baseline
    /// itself, and where the baseline has no number.
    pub versus_baseline: Option<VersusBaseline>,
    /// Whether the change is that of the ratio or difference to the baseline, rather than of the
    /// number itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_baseline: bool,
    /// The number of other runs of the same thing that show how far runs scatter; absent where the
    /// scatter is stated or unknown.
    pub runs: Option<u32>,
    /// After as a multiple of before; of the multiples of the baseline with `is_of_baseline`.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent when a side has a single trial. Where it is not what
    /// would be judged, it accounts only for the scatter of trials.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high: Option<f64>,
    /// After minus before in the unit of the metric, of the differences to the baseline if these are
    /// judged; only for measures that are judged by their difference.
    pub difference: Option<Difference>,
    /// The smallest change that matters, as a factor above 1; absent for measures that are judged by
    /// their difference, which has its own.
    pub smallest: Option<f64>,
    /// The smallest change that such runs find in 80 of 100 cases, as a factor above 1; absent
    /// without a verdict, and for measures that are judged by their difference.
    pub smallest_found: Option<f64>,
    /// The probability of a ratio at least this far from 1 between equals; absent without a
    /// verdict.
    pub p_value: Option<f64>,
    /// The p-value adjusted for the number of comparisons (Benjamini and Hochberg); absent without
    /// a verdict.
    pub adjusted_p_value: Option<f64>,
    /// The verdict.
    pub verdict: Option<Verdict>,
    /// Why there is no verdict.
    pub unjudged: Option<Unjudged>,
    /// The number of valid trials in the earlier runs.
    pub trials_before: u32,
    /// The number of valid trials in the later run.
    pub trials_after: u32,
}

impl CellRatio {
    /// The smallest difference that such runs find, if differences are what is judged.
    pub fn smallest_difference_found(&self) -> Option<f64> {
        self.difference?.smallest_found
    }

    /// The change as a multiple of the smallest one that matters, on the scale on which it is judged:
    /// how far it goes, for changes of different measures.
    pub fn times_what_matters(&self) -> f64 {
        let (change, smallest) = match (&self.difference, self.smallest) {
            (Some(difference), _) => (difference.value, difference.smallest),
            (None, smallest) => (libm::log(self.ratio), smallest.map_or(0.0, libm::log)),
        };
        // Where any change matters, larger ones go farther.
        change.abs() / smallest.max(f64::EPSILON)
    }

    /// The change with its interval: `1.08x (1.02-1.14)`, or `+12 ms (+8 ms to +15 ms)`.
    pub fn change_text(&self) -> String {
        match &self.difference {
            Some(difference) => difference.text(self.metric.measure().unit),
            None => units::ratio_within(self.ratio, self.low.zip(self.high)),
        }
    }
}
