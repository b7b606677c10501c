//! Two sections: resources that the pods used inside, and those that the runtime used for them
//! outside.

use wasmbench_model::rounding::round_significant;
use wasmbench_model::units;
use wasmbench_results::statistics::Range;
use wasmbench_results::summary::Summary;

use crate::section::Section;
use crate::sheet::Sheet;

/// The section on resources inside pods; `None` where nothing was read.
pub fn inside(summary: &Summary) -> Option<Section> {
    if summary.sandboxes.is_empty() {
        return None;
    }
    let median =
        |range: Option<Range>, unit: fn(f64) -> String| range.map(|range| unit(range.median));
    let table = Sheet::new(&summary.sandboxes)
        .left("Variant", |pods| pods.variant.clone())
        .right("Peak", |pods| median(pods.peak_bytes, units::bytes))
        .right("Pause", |pods| median(pods.pause_bytes, units::bytes))
        .right("In the kernel", |pods| {
            median(pods.system_share, units::percent)
        })
        .right("Waits/request", |pods| {
            median(pods.voluntary_switches_per_request, times)
        })
        .right("Preempted/request", |pods| {
            median(pods.involuntary_switches_per_request, times)
        })
        .right("Waited for CPU", |pods| {
            median(pods.cpu_pressure_share, units::percent)
        })
        .table();
    let section = Section::new("Inside the pods")
        .guide(
            "Medians over the valid trials of all points of a variant that are not invalid, whatever the load; summary.json has \
             the smallest and the largest of them. Peak: since the pod began, its start included. Pause: the pod's own \
             container, part of its memory. Waits and preemptions: context switches; absent where threads ended, which take \
             their counts along.",
        )
        .table(table);
    Some(section)
}

fn times(count: f64) -> String {
    if count < 0.001 {
        return "<0.001".to_owned();
    }
    round_significant(count, 2).to_string()
}

/// The section on resources outside pods; `None` where no shim was read.
pub fn outside(summary: &Summary) -> Option<Section> {
    if summary.shims.is_empty() {
        return None;
    }
    let table = Sheet::new(&summary.shims)
        .left("Variant", |shim| shim.variant.clone())
        .right("Resident", |shim| units::bytes(shim.resident_bytes.median))
        .right("Range", |shim| {
            let Range { min, max, .. } = shim.resident_bytes;
            format!("{} to {}", units::bytes(min), units::bytes(max))
        })
        .right("Its own", |shim| units::bytes(shim.anonymous_bytes.median))
        .right("CPU per second of load", |shim| {
            units::micros(shim.cpu_microseconds_per_second.median)
        })
        .table();
    let section = Section::new("Outside the pods")
        .guide(
            "The container runtime's shim works for each pod outside the pod's cgroup. None of this is in the numbers above, \
             nor in 'kubectl top'. Medians over the valid trials of all points of a variant that are not invalid; the range is \
             from the smallest to the largest of them. Resident memory counts file pages that the shims of all pods share; 'its \
             own' does not.",
        )
        .table(table);
    Some(section)
}
