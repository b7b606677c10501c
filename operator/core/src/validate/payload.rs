//! What a payload sweep may request: the CRD's rules again, and the administrator's limits.

use std::collections::BTreeSet;

use wasmbench_api::payload::{PAYLOAD_MESSAGE, Payload};
use wasmbench_api::run::{BenchmarkRunSpec, MAX_BODY_BYTES};

use crate::config::OperatorConfig;
use crate::validate::open_loop::check_bounded;
use crate::validate::{Invalid, invalid};

/// Checks the sizes and the load.
pub(super) fn check(
    spec: &BenchmarkRunSpec,
    sweep: &Payload,
    config: &OperatorConfig,
) -> Result<(), Invalid> {
    if spec.workloads.len() != 1 {
        return Err(invalid("spec.sweeps.payload", PAYLOAD_MESSAGE));
    }
    let sizes: BTreeSet<u32> = sweep.bytes.iter().copied().collect();
    let is_allowed = sizes
        .last()
        .is_some_and(|largest| *largest <= MAX_BODY_BYTES);
    if sizes.len() < 2 || sizes.len() != sweep.bytes.len() || !is_allowed {
        let message =
            format!("list at least two different sizes, each from 0 to {MAX_BODY_BYTES} bytes");
        return Err(invalid("spec.sweeps.payload.bytes", message));
    }
    let limits = &config.limits;
    let bounded = [
        ("connections", sweep.connections, limits.connections, ""),
        (
            "durationSeconds",
            sweep.duration_seconds,
            limits.duration_seconds,
            " s",
        ),
    ];
    check_bounded("payload", &bounded)
}
