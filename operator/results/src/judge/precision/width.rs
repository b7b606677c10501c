//! The width of an interval, and how wide it may be.

use serde::{Deserialize, Serialize};
use wasmbench_api::run::MOST_BLOCKS;
use wasmbench_model::units;

use crate::judge::comparison::{Comparison, Difference};
use crate::statistics::ratio::blocks_planned;
use crate::vocabulary::measure::{Measured as _, Metric};

/// The width of the interval of a comparison.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Width {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// What is compared, of which variant and where, in words.
    pub what: String,
    /// How far the interval reaches from the ratio, as a share: with 0.05, from the ratio / 1.05 to
    /// the ratio x 1.05. Absent with one block.
    pub relative: Option<f64>,
    /// How far the interval of the difference reaches, if the difference is judged.
    pub difference: Option<DifferenceWidth>,
    /// Blocks in which both were measured.
    pub blocks: u32,
}

/// The width of the interval of a difference, in the unit of the measure.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DifferenceWidth {
    /// What is compared.
    pub metric: Metric,
    /// How far the interval reaches.
    pub reaches: f64,
    /// How far it may reach: half of the smallest difference that matters, with which equals are
    /// mostly found equivalent.
    pub target: f64,
}

impl Width {
    /// The width of a comparison.
    pub fn from_comparison(comparison: &Comparison) -> Self {
        let metric = comparison.metric;
        let difference = comparison.judged_difference();
        Self {
            variant: comparison.variant.clone(),
            workload: comparison.workload.clone(),
            what: comparison.subject(),
            relative: comparison.estimate.ends().map(reach),
            difference: difference.and_then(|difference| of_difference(metric, difference)),
            blocks: comparison.estimate.blocks,
        }
    }

    /// Whether this is the width of a comparison of the same variant and workload.
    pub(super) fn is_of_same(&self, other: &Self) -> bool {
        (&self.variant, &self.workload) == (&other.variant, &other.workload)
    }

    /// The blocks that the interval needs to meet its target, from `pilot` to [`MOST_BLOCKS`], as it
    /// shows in the pilot; `share` is the target for ratios.
    pub(super) fn needed(&self, share: f64, pilot: u32) -> Option<u32> {
        let (half_width, target) = match (self.difference, self.relative) {
            (Some(difference), _) => (difference.reaches, difference.target),
            (None, Some(relative)) => (libm::log1p(relative), libm::log1p(share)),
            (None, None) => return None,
        };
        blocks_planned(half_width, self.blocks, target, pilot..=MOST_BLOCKS)
    }

    /// The width as a multiple of the target; `share` is the target for ratios.
    pub(super) fn excess(&self, share: f64) -> f64 {
        match (self.difference, self.relative) {
            (Some(difference), _) => difference.reaches / difference.target,
            (None, Some(relative)) => relative / share,
            (None, None) => f64::INFINITY,
        }
    }

    /// The width and its target in words; `target` is that for ratios: `+-7.2 %` and `2.5%`.
    pub(super) fn text(&self, target: &str) -> (String, String) {
        let Some(DifferenceWidth {
            metric,
            reaches,
            target,
        }) = self.difference
        else {
            let of_share = |share: f64| format!("+-{}", units::excess(1.0 + share));
            let reach = self.relative.map(of_share);
            return (
                reach.unwrap_or_else(|| "any width".to_owned()),
                target.to_owned(),
            );
        };
        let unit = metric.measure().unit;
        (format!("+-{}", unit.shown(reaches)), unit.shown(target))
    }
}

fn of_difference(metric: Metric, found: Difference) -> Option<DifferenceWidth> {
    let (low, high) = found.low.zip(found.high)?;
    Some(DifferenceWidth {
        metric,
        reaches: (high - low) / 2.0,
        target: found.smallest / 2.0,
    })
}

fn reach((low, high): (f64, f64)) -> f64 {
    libm::expm1(libm::log(high / low) / 2.0)
}
