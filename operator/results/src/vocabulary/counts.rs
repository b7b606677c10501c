//! How the trials of a cell or a run ended.

use serde::{Deserialize, Serialize};
use wasmbench_api::absent::is_zero;

/// How the trials of a cell or a run ended.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TrialCounts {
    /// Trials that the spec requests.
    pub planned: u32,
    /// Measured, and included in the numbers.
    pub valid: u32,
    /// Measured, but for example with failed requests or wrong answers: shown, but excluded from
    /// the numbers.
    pub invalid: u32,
    /// Tried, but without a usable measurement.
    pub failed: u32,
    /// Not tried, because the variant or workload had already failed.
    pub skipped: u32,
    /// Without a record.
    pub missing: u32,
    /// Repeated because the node was noisy the first time; these are also counted above.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u32,
}

impl TrialCounts {
    /// Trials with a record that are excluded from the numbers.
    pub const fn unused(&self) -> u32 {
        self.invalid + self.failed + self.skipped
    }

    /// Whether there is a measurement, valid or not.
    pub const fn is_measured(&self) -> bool {
        self.valid + self.invalid > 0
    }

    /// Adds the counts of another cell.
    pub fn add(&mut self, other: Self) {
        self.planned += other.planned;
        self.valid += other.valid;
        self.invalid += other.invalid;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.missing += other.missing;
        self.repeated += other.repeated;
    }
}
