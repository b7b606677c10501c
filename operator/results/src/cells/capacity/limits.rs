//! What CPU and memory limits did to a subject while its capacity was measured.

use serde::{Deserialize, Serialize};
use wasmbench_model::units;

/// What limits did, on the rungs next to the crossing. Nothing is absent where there is no limit.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The share (0 to 1) of the periods of a CPU limit in which it stopped the subject: the median of the
    /// blocks.
    pub throttled_share_of_periods: Option<f64>,
    /// Blocks in which the subject's memory reached its limit.
    #[serde(default)]
    pub memory_limit_blocks: u32,
    /// Processes that were killed because memory was at its limit, in all blocks.
    #[serde(default)]
    pub oom_kills: u64,
}

impl Limits {
    /// Whether a CPU limit stopped the subject.
    pub fn is_throttled(&self) -> bool {
        self.throttled_share_of_periods
            .is_some_and(|share| share > 0.0)
    }

    /// What they did, in words: `stopped in 71 % of its periods, 2 OOM kills`; `None` if nothing.
    pub fn text(&self) -> Option<String> {
        let throttled = self.throttled_share_of_periods.filter(|share| *share > 0.0);
        let all = [
            throttled.map(|share| format!("stopped in {} of its periods", units::percent(share))),
            (self.memory_limit_blocks > 0).then(|| {
                format!(
                    "memory at its limit in {} block(s)",
                    self.memory_limit_blocks
                )
            }),
            (self.oom_kills > 0).then(|| format!("{} OOM kill(s)", self.oom_kills)),
        ];
        let texts: Vec<String> = all.into_iter().flatten().collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_did_something_are_named() {
        assert_eq!(Limits::default().text(), None);
        let all = Limits {
            throttled_share_of_periods: Some(0.71),
            memory_limit_blocks: 3,
            oom_kills: 2,
        };
        assert_eq!(
            all.text().unwrap(),
            "stopped in 71 % of its periods, memory at its limit in 3 block(s), 2 OOM kill(s)"
        );
    }
}
