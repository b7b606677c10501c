//! What a density sweep may request: the CRD's rules again, and the administrator's limits.

use std::collections::BTreeSet;

use wasmbench_api::density::Density;
use wasmbench_api::run::{BenchmarkRunSpec, Network};

use crate::config::OperatorConfig;
use crate::validate::cold_start::sizes;
use crate::validate::{Invalid, invalid};

const INSTANCES: &str = "spec.sweeps.density.instances";

pub(super) fn check(
    spec: &BenchmarkRunSpec,
    sweep: &Density,
    config: &OperatorConfig,
) -> Result<(), Invalid> {
    // A preset on the node's network has no density cell (variants::not_applicable); with this
    // setting, no variant has one.
    if spec.network() == Network::Host {
        return Err(invalid(
            "spec.sweeps.density",
            "with spec.placement.network Host all pods share the node's ports, so that a second instance \
             cannot listen: remove this sweep, or set network to Pod",
        ));
    }
    let list = &sweep.instances;
    let distinct: BTreeSet<u32> = list.iter().copied().collect();
    if list.len() < 2 || distinct.len() != list.len() || distinct.contains(&0) {
        return Err(invalid(
            INSTANCES,
            "list at least two different numbers of instances, each 1 or more",
        ));
    }
    let limit = config.limits.density_instances;
    if let Some(above) = distinct.last().filter(|most| **most > limit) {
        return Err(invalid(
            INSTANCES,
            format!(
                "{above} instances are requested and the administrator allows {limit}: lower it"
            ),
        ));
    }
    if sweep.requests < 10 {
        return Err(invalid(
            "spec.sweeps.density.requests",
            "ask for 10 or more",
        ));
    }
    let stop = &sweep.stop;
    if !(1..=90).contains(&stop.available_memory_percent) || stop.timeout_seconds == 0 {
        return Err(invalid(
            "spec.sweeps.density.stop",
            "set availableMemoryPercent from 1 to 90, and timeoutSeconds to 1 or more",
        ));
    }
    sizes(spec)
}
