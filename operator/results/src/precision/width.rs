//! How wide the interval of a ratio is.

use serde::{Deserialize, Serialize};

use crate::comparison::Comparison;

/// How wide an interval is.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Width {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// What is compared, of which variant and where, in words.
    pub what: String,
    /// How far the interval reaches from the ratio, as a share: 0.05 from the ratio / 1.05 to the
    /// ratio x 1.05. Absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
}

impl Width {
    /// The width of a comparison.
    pub fn of(comparison: &Comparison) -> Self {
        Self {
            variant: comparison.variant.clone(),
            workload: comparison.workload.clone(),
            what: comparison.subject(),
            relative: comparison.estimate.ends().map(reach),
        }
    }

    pub(super) fn share(&self) -> f64 {
        self.relative.unwrap_or(f64::INFINITY)
    }
}

fn reach((low, high): (f64, f64)) -> f64 {
    libm::expm1(libm::log(high / low) / 2.0)
}
