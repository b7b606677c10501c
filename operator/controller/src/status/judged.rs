//! A comparison with its verdict, as a status has it.

use wasmbench_api::status::JudgedRatio;
use wasmbench_report::validity::invalid;
use wasmbench_results::judge::comparison::Comparison;

/// A ratio of any sweep.
pub fn judged(found: &Comparison) -> JudgedRatio {
    JudgedRatio {
        primary: found.primary,
        ratio: found.estimate.stated(),
        low: found.estimate.low,
        high: found.estimate.high,
        bound: found
            .estimate
            .bound
            .map(|bound| <&str>::from(bound).to_owned()),
        noise_floor: found.noise_floor,
        verdict: <&str>::from(found.verdict).to_owned(),
        untrusted: invalid(&found.untrusted),
        blocks: found.estimate.blocks,
    }
}
