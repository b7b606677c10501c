//! What the container runtime used for a variant's pods outside their cgroups: memory and CPU time
//! that neither the pod's own numbers nor `kubectl top` show. This depends on the runtime and
//! hardly on the request, so there is one row per variant.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::rounding::round_number;

use crate::cells::load::LoadCell;
use crate::read::pod_use::ShimUse;
use crate::read::trial::{Trial, valid};
use crate::statistics::Range;

/// The shims of a variant, over the valid trials of all its ranked points: the median trial with
/// the smallest and the largest.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ShimSummary {
    /// Name of the variant.
    pub variant: String,
    /// CPU time per second of load, in microseconds.
    pub cpu_microseconds_per_second: Range,
    /// Resident memory, in bytes. Its file pages are shared with the shims of other pods.
    pub resident_bytes: Range,
    /// The part of it that belongs only to this pod's shim, in bytes.
    pub anonymous_bytes: Range,
}

/// One row per variant whose shims were read, in the order of the spec.
pub fn shims(spec: &BenchmarkRunSpec, cells: &[LoadCell]) -> Vec<ShimSummary> {
    let variants = spec.variants.iter().map(|variant| variant.name.as_str());
    variants
        .filter_map(|variant| {
            let used = of_variant(cells, variant, |trial| trial.metrics.shim);
            let range = |number: fn(&ShimUse) -> f64| {
                let range = Range::from_values(used.iter().map(number))?;
                Some(range.map(round_number))
            };
            Some(ShimSummary {
                variant: variant.to_owned(),
                cpu_microseconds_per_second: range(|s| s.cpu_microseconds_per_second)?,
                resident_bytes: range(|s| s.resident_bytes as f64)?,
                anonymous_bytes: range(|s| s.anonymous_bytes as f64)?,
            })
        })
        .collect()
}

/// What was read in the valid trials of all ranked points of a variant.
pub fn of_variant<T>(cells: &[LoadCell], variant: &str, read: fn(&Trial) -> Option<T>) -> Vec<T> {
    let cells = cells
        .iter()
        .filter(|cell| cell.variant == variant && cell.ranked);
    let trials = cells.flat_map(|cell| valid(&cell.detail.trials));
    trials.filter_map(read).collect()
}
