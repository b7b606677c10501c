//! The section of `report.md` on density.

use wasmbench_model::units;
use wasmbench_results::cells::density::{DensityCell, disturbed_steps, ended};
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;
use wasmbench_results::vocabulary::doubt::Reason;

use crate::section::Section;
use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::{interval, median, valid};
use crate::validity::{VALIDITY, standing};

const INTRODUCTION: &str = "\
Instances of one variant at once; all idle but the first. *Per instance* is the slope of their memory over \
their number, block by block, as median over blocks with its interval: pods, and what their shims have \
for themselves. *By the node* is how much less memory the node had available per instance, which holds what \
the kernel keeps for a pod, and whatever else happened on the node. An invalid variant is not compared; its numbers are in \
summary.csv.";

const STEPS: &str = "\
Steps, as medians over the blocks that reached them. *All answered* is the time from the first creation of \
those that the step added to the last first correct answer; *first p50* the latency of the first instance \
while the others idle.";

/// The section; `None` for a run without density.
pub fn section(summary: &Summary) -> Option<Section> {
    if summary.density.is_empty() {
        return None;
    }
    let mut section = Section::new("Density").guide(INTRODUCTION);
    for workload in &summary.compared.workloads {
        let cells = under(&summary.density, &workload.name);
        let ends = cells.iter().flat_map(|cell| ended(cell));
        let disturbed = cells.iter().flat_map(|cell| lines(cell));
        section = section
            .heading(&workload.name)
            .table(slopes(&cells))
            .guide(STEPS)
            .table(steps(&cells))
            .list(ends.chain(disturbed));
    }
    Some(section)
}

/// Steps that reflect something other than the variant's cost, one sentence per reason.
fn lines(cell: &DensityCell) -> Vec<String> {
    let all = [
        (
            Reason::ErrorsInLoad,
            "requests to the first instance failed",
        ),
        (Reason::NodeNoisy, "the node was noisy"),
        (Reason::Throttled, "a CPU limit stopped the first instance"),
    ];
    let found = all
        .map(|(reason, what)| (what, disturbed_steps::text(cell, reason)))
        .into_iter()
        .filter(|(_, steps)| !steps.is_empty());
    let variant = &cell.variant;
    found
        .map(|(what, steps)| format!("{variant}: {what} {steps}"))
        .collect()
}

/// The tables of one workload, each with its title; a table without rows is empty.
pub fn tables(summary: &Summary, workload: &str) -> [(&'static str, Table); 2] {
    let cells = under(&summary.density, workload);
    [
        ("Density, memory of one more instance", slopes(&cells)),
        ("Density, medians of the steps", steps(&cells)),
    ]
}

fn slopes(cells: &[&DensityCell]) -> Table {
    Sheet::new(cells)
        .counting(|cell| cell.ranked)
        .left("Variant", |cell| cell.variant.clone())
        .left(VALIDITY, |cell| standing(cell.any()))
        .right("Valid", |cell| valid(cell.counts))
        .measured("Per instance", |cell| {
            median(cell.detail.bytes_per_instance, units::bytes)
        })
        .measured("Interval", |cell| {
            interval(
                cell.counts.valid,
                cell.detail.bytes_per_instance,
                units::bytes,
            )
        })
        .measured("By the node", |cell| {
            median(cell.detail.node_bytes_per_instance, units::bytes)
        })
        .table()
}

fn steps(cells: &[&DensityCell]) -> Table {
    let steps = cells
        .iter()
        .flat_map(|cell| cell.detail.steps.iter().map(move |step| (cell, step)));
    Sheet::new(steps)
        .counting(|(cell, _)| cell.ranked)
        .left("Variant", |(cell, _)| cell.variant.clone())
        .right("Instances", |(_, step)| step.instances)
        .right("Blocks", |(_, step)| step.trials)
        .measured("All answered", |(_, step)| {
            units::micros(step.all_answered_microseconds.median)
        })
        .measured("Memory", |(_, step)| {
            median(step.sandboxes_bytes, units::bytes)
        })
        .measured("Interval", |(_, step)| {
            interval(step.trials, step.sandboxes_bytes, units::bytes)
        })
        .measured("Pods alone", |(_, step)| {
            median(step.pods_bytes, units::bytes)
        })
        .measured("First p50", |(_, step)| {
            median(step.first_p50_microseconds, units::micros)
        })
        .measured("Interval", |(_, step)| {
            interval(step.trials, step.first_p50_microseconds, units::micros)
        })
        .table()
}
