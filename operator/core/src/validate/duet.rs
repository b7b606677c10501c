//! What a run with `pairing: Duet` may ask for: the CRD's rules again, and what the administrator
//! allows.

use wasmbench_api::run::{BenchmarkRunSpec, Network, Pairing};

use super::{Invalid, invalid, network_of};
use crate::config::OperatorConfig;
use crate::wire::request::MeterLevel;

const FIELD: &str = "spec.pairing";

pub(super) fn check(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> Result<(), Invalid> {
    if spec.pairing != Pairing::Duet {
        return Ok(());
    }
    if spec.sweeps.warm_latency.is_none() && spec.sweeps.throughput.is_none() {
        return Err(invalid(
            FIELD,
            "cold starts and density are not measured in pairs: add sweeps.warmLatency or \
             sweeps.throughput, or set it to Alternating",
        ));
    }
    // With the baseline's twin, where the run has one.
    if spec.variants.len() < 2 {
        return Err(invalid(
            FIELD,
            "there is nothing to measure beside the baseline: add a second variant, set \
             spec.noiseFloor to true, or set it to Alternating",
        ));
    }
    if network_of(spec) == Network::Host {
        return Err(invalid(
            FIELD,
            "two pods cannot serve on the node's ports at the same moment: set \
             spec.placement.network to Pod, or this to Alternating",
        ));
    }
    if !config.duet {
        return Err(invalid(
            FIELD,
            "the administrator does not allow duets, whose probes share the node's process ids: set \
             it to Alternating, leave it out, or have duet.enabled set in the chart",
        ));
    }
    if config.meter == MeterLevel::None {
        return Err(invalid(
            FIELD,
            "a duet needs to see the subjects' processes, and the administrator lets probes see \
             nothing of the node: set it to Alternating, leave it out, or have meter.level set to \
             cgroup in the chart",
        ));
    }
    Ok(())
}
