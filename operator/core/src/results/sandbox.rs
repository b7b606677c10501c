//! What a variant's pods used beyond the numbers by which variants are compared: the parts of their
//! memory and of their CPU time, and how often they were made to wait. One row per variant over the
//! valid trials of all its points that are not invalid, since it says what kind of thing runs there
//! rather than how well.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;

use super::statistics::{Range, round_significant};
use super::summary::{CellSummary, Summary};
use super::table::{Align, Table};
use super::tables::NOTHING;
use super::trial::{SUMMARY_DIGITS, TrialState};
use super::units;
use crate::wire::document::{Meter, TimedWindow};

/// The pod over one timed window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SandboxUse {
    /// Largest memory since the pod began, in bytes.
    pub peak_bytes: Option<f64>,
    /// Memory of the pause container, in bytes.
    pub pause_bytes: Option<f64>,
    /// Share (0 to 1) of the CPU time that was spent in the kernel.
    pub system_share: Option<f64>,
    /// Times per request that a thread waited for something.
    pub voluntary_switches: Option<f64>,
    /// Times per request that a thread lost its CPU to another.
    pub involuntary_switches: Option<f64>,
    /// Share (0 to 1) of the window in which a thread waited for a CPU.
    pub cpu_pressure_share: Option<f64>,
}

/// The pods of a variant, over the valid trials of all its points that are not invalid: the median trial with
/// the smallest and the largest. What was not seen is absent.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SandboxSummary {
    /// Name of the variant.
    pub variant: String,
    /// Largest memory since the pod began, its start included, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<Range>,
    /// Memory of the pause container, in bytes. It is part of the pod's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_bytes: Option<Range>,
    /// Share (0 to 1) of the CPU time that was spent in the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_share: Option<Range>,
    /// Times per request that a thread waited for something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_switches_per_request: Option<Range>,
    /// Times per request that a thread lost its CPU to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub involuntary_switches_per_request: Option<Range>,
    /// Share (0 to 1) of the windows in which a thread waited for a CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_share: Option<Range>,
}

/// What the pod used in a timed window with so many requests; `None` where nothing was read.
pub fn sandbox_use(window: &TimedWindow, requests: u64) -> Option<SandboxUse> {
    let meter = window.subject.as_ref()?;
    let processes = meter.processes;
    // Threads that ended took their counts along: what is left would look like few switches.
    let switches = processes
        .and_then(|processes| processes.switches)
        .filter(|switches| switches.threads_ended == 0);
    let per_request = |count: u64| (requests > 0).then(|| count as f64 / requests as f64);
    let nanoseconds = window.duration_nanoseconds;
    let waited = meter.pressure.and_then(|pressure| pressure.cpu_nanoseconds);
    Some(SandboxUse {
        peak_bytes: meter.memory_peak_bytes.map(|bytes| bytes as f64),
        pause_bytes: meter.pause.map(|pause| pause.memory_bytes as f64),
        system_share: system_share(meter),
        voluntary_switches: switches.and_then(|switches| per_request(switches.voluntary)),
        involuntary_switches: switches.and_then(|switches| per_request(switches.involuntary)),
        cpu_pressure_share: waited
            .filter(|_| nanoseconds > 0)
            .map(|waited| waited as f64 / nanoseconds as f64),
    })
}

/// Of user and system together, because under cgroup v1 they need not add up to the total.
fn system_share(meter: &Meter) -> Option<f64> {
    let system = meter.cpu_system_nanoseconds?;
    let both = meter.cpu_user_nanoseconds?.saturating_add(system);
    (both > 0).then(|| system as f64 / both as f64)
}

/// One row per variant of whose pods something was read, in the order of the spec.
pub fn sandboxes(spec: &BenchmarkRunSpec, cells: &[CellSummary]) -> Vec<SandboxSummary> {
    let variants = spec.variants.iter().map(|variant| variant.name.as_str());
    variants
        .map(|variant| {
            let used: Vec<SandboxUse> = cells
                .iter()
                .filter(|cell| cell.variant == variant && cell.ranked)
                .flat_map(|cell| &cell.trials)
                .filter(|trial| trial.state == TrialState::Valid)
                .filter_map(|trial| trial.metrics.sandbox)
                .collect();
            let range = |of: fn(&SandboxUse) -> Option<f64>| {
                let range = Range::of(used.iter().filter_map(of))?;
                Some(range.map(|value| round_significant(value, SUMMARY_DIGITS)))
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

/// The section of the report; empty where nothing was read.
pub fn section(summary: &Summary) -> String {
    if summary.sandboxes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Peak", Align::Right),
        ("Pause", Align::Right),
        ("In the kernel", Align::Right),
        ("Waits/request", Align::Right),
        ("Preempted/request", Align::Right),
        ("Waited for CPU", Align::Right),
    ]);
    let cell = |range: Option<Range>, unit: fn(f64) -> String| {
        range.map_or_else(|| NOTHING.to_owned(), |range| unit(range.median))
    };
    for row in &summary.sandboxes {
        table.row(&[
            row.variant.clone(),
            cell(row.peak_bytes, units::bytes),
            cell(row.pause_bytes, units::bytes),
            cell(row.system_share, units::percent),
            cell(row.voluntary_switches_per_request, times),
            cell(row.involuntary_switches_per_request, times),
            cell(row.cpu_pressure_share, units::percent),
        ]);
    }
    table.drop_columns_of(NOTHING);
    format!(
        "## Inside the pods\n\nMedians over the valid trials of all points of a variant that are not \
         invalid, whatever the load; summary.json has the smallest and the largest of them. Peak: since the \
         pod began, its start included. Pause: the pod's own container, part of its memory. Waits and \
         preemptions: context switches; absent where threads ended, which take their counts along.\n\n{}",
        table.markdown()
    )
}

fn times(count: f64) -> String {
    if count < 0.001 {
        return "<0.001".to_owned();
    }
    round_significant(count, 2).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::document::{Processes, Switches};

    fn window(subject: Option<Meter>) -> TimedWindow {
        TimedWindow {
            start_unix_nanoseconds: 0,
            duration_nanoseconds: 1000,
            resolution_seconds: 0.1,
            offset_nanoseconds: 0,
            repeats: 0,
            discarded: None,
            open_loop: None,
            fortio: serde_json::Value::Null,
            subject,
            upstream_cpu_nanoseconds: None,
            generator_cpu_nanoseconds: None,
            generator_cpu_limit: None,
            probe_cpu_nanoseconds: None,
            node: None,
        }
    }

    #[test]
    fn what_was_not_read_is_absent_and_never_zero() {
        assert_eq!(sandbox_use(&window(None), 5), None);
        let nothing = sandbox_use(&window(Some(Meter::default())), 5).unwrap();
        assert_eq!(nothing, SandboxUse::default());
    }

    #[test]
    fn switches_are_shared_by_all_requests() {
        let switches = Switches {
            voluntary: 30,
            involuntary: 5,
            threads_ended: 0,
        };
        let mut meter = Meter {
            cpu_user_nanoseconds: Some(30),
            cpu_system_nanoseconds: Some(10),
            processes: Some(Processes {
                count: 1,
                switches: Some(switches),
            }),
            ..Meter::default()
        };
        let used = sandbox_use(&window(Some(meter.clone())), 10).unwrap();
        assert_eq!(used.voluntary_switches, Some(3.0));
        assert_eq!(used.involuntary_switches, Some(0.5));
        assert_eq!(used.system_share, Some(0.25));
        let none = sandbox_use(&window(Some(meter.clone())), 0).unwrap();
        assert_eq!(none.voluntary_switches, None);
        let switches = meter.processes.as_mut().and_then(|p| p.switches.as_mut());
        switches.unwrap().threads_ended = 1;
        let lost = sandbox_use(&window(Some(meter)), 10).unwrap();
        assert_eq!(lost.voluntary_switches, None, "nobody knows how many");
    }
}
