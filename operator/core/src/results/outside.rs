//! What the container runtime used for a variant's pods outside their cgroups: memory and CPU time
//! that neither the pod's own numbers nor `kubectl top` show. It depends on the runtime, hardly on
//! the request, so there is one row per variant.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;

use super::statistics::{Spread, round_significant};
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

/// The shims of a variant, over all its valid trials.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ShimSummary {
    /// Name of the variant.
    pub variant: String,
    /// CPU time per second of load, in microseconds.
    pub cpu_microseconds_per_second: Spread,
    /// Resident memory, in bytes. Its file pages are shared with the shims of other pods.
    pub resident_bytes: Spread,
    /// The part of it that belongs to this pod's shim alone, in bytes.
    pub anonymous_bytes: Spread,
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
                .filter(|cell| cell.variant == variant)
                .flat_map(|cell| &cell.trials)
                .filter(|trial| trial.state == TrialState::Valid)
                .filter_map(|trial| trial.metrics.shim)
                .collect();
            let spread = |of: fn(&ShimUse) -> f64| {
                let Spread { median, low, high } = Spread::of(used.iter().map(of))?;
                let [median, low, high] =
                    [median, low, high].map(|value| round_significant(value, SUMMARY_DIGITS));
                Some(Spread { median, low, high })
            };
            Some(ShimSummary {
                variant: variant.to_owned(),
                cpu_microseconds_per_second: spread(|s| s.cpu_microseconds_per_second)?,
                resident_bytes: spread(|s| s.resident_bytes as f64)?,
                anonymous_bytes: spread(|s| s.anonymous_bytes as f64)?,
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
        ("Interval", Align::Right),
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
                units::bytes(resident.low),
                units::bytes(resident.high)
            ),
            units::bytes(shim.anonymous_bytes.median),
            units::micros(shim.cpu_microseconds_per_second.median),
        ]);
    }
    format!(
        "## Outside the pods\n\nThe container runtime's shim works for each pod outside the pod's \
         cgroup. None of this is in the numbers above, nor in 'kubectl top'. Resident memory counts \
         file pages that the shims of all pods share; 'its own' does not.\n\n{}",
        table.markdown()
    )
}
