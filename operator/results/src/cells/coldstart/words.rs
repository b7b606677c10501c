//! The sweep of cold starts in words.

use wasmbench_api::cold_start::ColdStart;
use wasmbench_api::run::Network;

/// The sweep in one sentence.
pub fn sweep(sweep: &ColdStart, network: Network) -> String {
    let points: Vec<String> = sweep.concurrency.iter().map(u32::to_string).collect();
    let class: &str = sweep.class.into();
    format!(
        "cold start ({class}): {} samples per trial after one discarded sample, {} pod(s) at once{}",
        sweep.samples,
        points.join(", "),
        if network == Network::Host {
            ", on the node's network"
        } else {
            ""
        }
    )
}
