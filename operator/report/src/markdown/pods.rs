//! Two sections: what the pods used inside, and what the runtime used for them outside.

use wasmbench_core::rounding::round_significant;
use wasmbench_core::units::{self, NOTHING};
use wasmbench_results::statistics::Range;
use wasmbench_results::summary::Summary;

use crate::table::{Align, Table};

/// The section of the report; empty where nothing was read.
pub fn inside(summary: &Summary) -> String {
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

/// The section of the report; empty where no shim was read.
pub fn outside(summary: &Summary) -> String {
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
