//! What a variant's pods used apart from the numbers by which variants are compared: the parts of
//! their memory and CPU time, and how often they had to wait. One row per variant, over the valid
//! trials of all its ranked points, since it describes what kind of thing runs there rather than
//! how well.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::rounding::round_number;

use crate::cells::load::LoadCell;
use crate::read::pod_use::SandboxUse;
use crate::statistics::Range;
use crate::summary::shim_use::of_variant;

/// The pods of a variant, over the valid trials of all its ranked points: the median trial with the
/// smallest and the largest. Numbers that were not read are absent.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SandboxSummary {
    /// Name of the variant.
    pub variant: String,
    /// Largest memory since the pod began, including its start, in bytes.
    pub peak_bytes: Option<Range>,
    /// Memory of the pause container, which is part of the pod's memory, in bytes.
    pub pause_bytes: Option<Range>,
    /// Share (0 to 1) of the CPU time spent in the kernel.
    pub system_share: Option<Range>,
    /// Voluntary context switches per request: a thread waited for something.
    pub voluntary_switches_per_request: Option<Range>,
    /// Involuntary context switches per request: a thread lost its CPU to another.
    pub involuntary_switches_per_request: Option<Range>,
    /// Share (0 to 1) of the windows in which a thread waited for a CPU.
    pub cpu_pressure_share: Option<Range>,
}

/// One row per variant with numbers about its pods, in the order of the spec.
pub fn sandboxes(spec: &BenchmarkRunSpec, cells: &[LoadCell]) -> Vec<SandboxSummary> {
    let variants = spec.variants.iter().map(|variant| variant.name.as_str());
    variants
        .map(|variant| {
            let used = of_variant(cells, variant, |trial| trial.metrics.sandbox);
            let range = |number: fn(&SandboxUse) -> Option<f64>| {
                let range = Range::from_values(used.iter().filter_map(number))?;
                Some(range.map(round_number))
            };
            SandboxSummary {
                variant: variant.to_owned(),
                peak_bytes: range(|used| used.peak_bytes),
                pause_bytes: range(|used| used.pause_bytes),
                system_share: range(|used| used.system_share),
                voluntary_switches_per_request: range(|used| used.voluntary_switches),
                involuntary_switches_per_request: range(|used| used.involuntary_switches),
                cpu_pressure_share: range(|used| used.cpu_pressure_share),
            }
        })
        .filter(|row| {
            let nothing = SandboxSummary {
                variant: row.variant.clone(),
                ..SandboxSummary::default()
            };
            *row != nothing
        })
        .collect()
}
