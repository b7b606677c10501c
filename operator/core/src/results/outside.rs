//! What the container runtime used for a variant's pods outside their cgroups: memory and CPU time
//! that neither the pod's own numbers nor `kubectl top` show. It depends on the runtime, hardly on
//! the request, so there is one row per variant.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;

use super::statistics::{Range, round_significant};
use super::summary::{CellSummary, Summary};
use super::table::{Align, Table};
use super::trial::{SUMMARY_DIGITS, TrialState};
use super::units;
use crate::wire::document::TimedWindow;

/// The shim over one timed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShimUse {
    /// CPU time per second of the window, in microseconds.
    pub cpu_microseconds_per_second: f64,
    /// Resident memory at its end, in bytes.
    pub resident_bytes: u64,
    /// The part of it that is no file page, in bytes.
    pub anonymous_bytes: u64,
}

/// The shims of a variant, over the valid trials of all its points that are not invalid: the median trial with
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
    /// The part of it that belongs to this pod's shim alone, in bytes.
    pub anonymous_bytes: Range,
}

/// What the shim used in a timed window; `None` where it was not read.
pub fn shim_use(window: &TimedWindow) -> Option<ShimUse> {
    let outside = window.subject.as_ref()?.outside?;
    let seconds = window.duration_nanoseconds as f64 / 1e9;
    (seconds > 0.0).then(|| ShimUse {
        cpu_microseconds_per_second: outside.cpu_nanoseconds as f64 / 1e3 / seconds,
        resident_bytes: outside.resident_bytes,
        anonymous_bytes: outside.anonymous_bytes,
    })
}

/// One row per variant whose shims were read, in the order of the spec.
pub fn shims(spec: &BenchmarkRunSpec, cells: &[CellSummary]) -> Vec<ShimSummary> {
    let variants = spec.variants.iter().map(|variant| variant.name.as_str());
    variants
        .filter_map(|variant| {
            let used: Vec<ShimUse> = cells
                .iter()
                .filter(|cell| cell.variant == variant && cell.ranked)
                .flat_map(|cell| &cell.trials)
                .filter(|trial| trial.state == TrialState::Valid)
                .filter_map(|trial| trial.metrics.shim)
                .collect();
            let range = |of: fn(&ShimUse) -> f64| {
                let range = Range::of(used.iter().map(of))?;
                Some(range.map(|value| round_significant(value, SUMMARY_DIGITS)))
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

/// The section of the report; empty where no shim was read.
pub fn section(summary: &Summary) -> String {
    if summary.shims.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Resident", Align::Right),
        ("Range", Align::Right),
        ("Its own", Align::Right),
        ("CPU per second of load", Align::Right),
    ]);
    for shim in &summary.shims {
        let resident = shim.resident_bytes;
        table.row(&[
            shim.variant.clone(),
            units::bytes(resident.median),
            format!(
                "{} to {}",
                units::bytes(resident.min),
                units::bytes(resident.max)
            ),
            units::bytes(shim.anonymous_bytes.median),
            units::micros(shim.cpu_microseconds_per_second.median),
        ]);
    }
    format!(
        "## Outside the pods\n\nThe container runtime's shim works for each pod outside the pod's \
         cgroup. None of this is in the numbers above, nor in 'kubectl top'. Medians over the valid \
         trials of all points of a variant that are not invalid; the range is from the smallest to the largest of \
         them. Resident memory counts file pages that the shims of all pods share; 'its own' does not.\n\n{}",
        table.markdown()
    )
}
