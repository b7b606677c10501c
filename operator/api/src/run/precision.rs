//! How precise a run has to be.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::absent::number;
use crate::share::share_of;
use crate::validation;

/// The maximum number of blocks of a run.
pub const MOST_BLOCKS: u32 = 50;
/// The minimum number of blocks from which a run with `precision` plans: with fewer, narrow intervals
/// are luck.
pub const FEWEST_PRECISE_BLOCKS: u32 = 8;

/// How precise a run has to be, and what it may cost.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Precision {
    /// How far the 95 % interval of a ratio to the baseline may extend to either side, in percent
    /// from `0.1%` to `50%`: `5%` reaches from the ratio divided by 1.05 to the ratio times 1.05.
    /// The first blocks show how many it takes for all primary ratios. Default: half of `minimumEffect`,
    /// with which equals are mostly found `Equivalent`. Measures judged by their difference (cold
    /// starts, the share that succeeds) must instead be known to half of the smallest difference
    /// that matters.
    #[schemars(length(min = 2, max = 5))]
    #[x_kube(validation = Rule::new(validation::MINIMUM_EFFECT_RULE).message(validation::TARGET_MESSAGE))]
    pub target_relative_interval: Option<String>,

    /// The maximum number of blocks, at least `blocks`.
    #[serde(default = "number::<20>")]
    #[schemars(range(min = 8, max = MOST_BLOCKS))]
    pub max_blocks: u32,
}

impl Precision {
    /// Returns the target in percent, for a run with this `minimumEffect`.
    pub fn target(&self, minimum_effect: &str) -> String {
        let half = || {
            let half = share_of(minimum_effect).unwrap_or_default() * 50.0;
            // An effect has at most one decimal place.
            let digits = format!("{half:.2}");
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            format!("{digits}%")
        };
        self.target_relative_interval.clone().unwrap_or_else(half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_defaults_to_half_of_the_minimum_effect() {
        let precision = Precision {
            target_relative_interval: None,
            max_blocks: 20,
        };
        for (effect, target) in [
            ("5%", "2.5%"),
            ("2.5%", "1.25%"),
            ("20%", "10%"),
            ("0.1%", "0.05%"),
        ] {
            assert_eq!(precision.target(effect), target);
            assert!(share_of(target).is_some());
        }
    }
}
