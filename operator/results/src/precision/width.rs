//! How wide the interval of a ratio is.

use serde::{Deserialize, Serialize};

use crate::coldstart::{ColdRatio, ColdStartCell};
use crate::comparison::Comparison;
use crate::density::DensityCell;
use crate::measure::Metric;

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
    /// The width of a comparison of loads.
    pub fn of(comparison: &Comparison) -> Self {
        let Comparison {
            variant, workload, ..
        } = comparison;
        Self {
            variant: variant.clone(),
            workload: workload.clone(),
            what: format!("{} of {variant} on {workload}", comparison.what()),
            relative: comparison.low.zip(comparison.high).map(reach),
        }
    }

    pub(super) fn of_cold_start(cell: &ColdStartCell, metric: Metric, ratio: &ColdRatio) -> Self {
        let ends = (ratio.ratio.low, ratio.ratio.high);
        Self {
            variant: cell.variant.clone(),
            workload: cell.workload.clone(),
            what: format!("{} of {}", metric.noun(), cell.place()),
            relative: (ratio.per_block.len() > 1).then(|| reach(ends)),
        }
    }

    pub(super) fn of_density(cell: &DensityCell) -> Option<Self> {
        let ratio = cell.versus_baseline.as_ref()?;
        ratio.verdict.map(|_| Self {
            variant: cell.variant.clone(),
            workload: cell.workload.clone(),
            what: format!(
                "memory per instance of {} on {}",
                cell.variant, cell.workload
            ),
            relative: ratio.low.zip(ratio.high).map(reach),
        })
    }

    pub(super) fn share(&self) -> f64 {
        self.relative.unwrap_or(f64::INFINITY)
    }
}

fn reach((low, high): (f64, f64)) -> f64 {
    libm::expm1(libm::log(high / low) / 2.0)
}
