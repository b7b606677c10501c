//! What the probe of a payload trial gets: the bodies, and the load of all sizes together.

use wasmbench_api::payload::Payload;
use wasmbench_api::run::Sweeps;
use wasmbench_model::wire::record::Point;
use wasmbench_model::wire::request::{self as wire, Load};

use crate::validate::ValidatedRun;

/// Seconds of the windows of all sizes together, and of the discarded load before them.
pub fn seconds(sweep: &Payload) -> [u32; 2] {
    let sizes = u32::try_from(sweep.sizes().len()).unwrap_or(u32::MAX);
    [sweep.duration_seconds, sweep.warmup_seconds].map(|seconds| sizes.saturating_mul(seconds))
}

/// The load of all sizes together.
pub(super) fn load(sweeps: &Sweeps) -> Load {
    let sweep = sweeps.payload.as_ref();
    let [seconds, warmup_seconds] = sweep.map_or([1, 0], seconds);
    Load::Duration {
        seconds,
        warmup_seconds,
    }
}

/// The bodies of a point; `None` for a point of another sweep.
pub(super) fn request(run: &ValidatedRun, point: Point) -> Option<wire::Payload> {
    let sweep = run.spec.sweeps.payload.as_ref();
    let sweep = sweep.filter(|_| point == Point::Payload)?;
    Some(wire::Payload {
        path: sweep.path.clone(),
        bytes: sweep.sizes(),
        seed: run.seed,
        seconds: sweep.duration_seconds,
        warmup_seconds: sweep.warmup_seconds,
    })
}
