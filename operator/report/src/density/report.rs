//! The section of `report.md` on density.

use std::fmt::Write as _;

use wasmbench_core::units::{self, NOTHING};
use wasmbench_results::density::{DensityCell, DensityStepSummary, disturbed_steps, ended};
use wasmbench_results::doubt::Reason;
use wasmbench_results::invalid;
use wasmbench_results::measure::Metric;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;

use crate::table::{Align, Table, escape};
use crate::versus;

const INTRODUCTION: &str = "\
Instances of one variant at once; all idle but the first. *Per instance* is the slope of their memory over \
their number, block by block, as median over blocks with its interval: pods, and what their shims have \
for themselves. *By the node* is how much less memory the node had available per instance, which holds what \
the kernel keeps for a pod, and whatever else happened on the node. A variant with a reason under *Invalid because* \
is not compared.\n";

const STEPS: &str = "\
Steps, as medians over the blocks that reached them. *All answered* is the time from the first creation of \
those that the step added to the last first correct answer; *first p50* the latency of the first instance \
while the others idle.\n";

/// The section; empty for a run without density.
pub fn section(summary: &Summary) -> String {
    if summary.density.is_empty() {
        return String::new();
    }
    let mut text = format!("## Density\n\n{INTRODUCTION}");
    for workload in &summary.compared.workloads {
        let of_workload = |cell: &&DensityCell| cell.workload == workload.name;
        let cells: Vec<&DensityCell> = summary.density.iter().filter(of_workload).collect();
        let name = escape(&workload.name);
        let _ = write!(
            text,
            "\n### {name}\n\n{}\n{STEPS}\n{}",
            slopes(summary, &cells).markdown(),
            steps(&cells).markdown()
        );
        let ends = cells.iter().flat_map(|cell| ended(cell));
        let spoilt = cells.iter().flat_map(|cell| spoilt_steps(cell));
        let ends: Vec<String> = ends.chain(spoilt).collect();
        if !ends.is_empty() {
            text.push('\n');
        }
        for end in ends {
            let _ = writeln!(text, "- {}", escape(&end));
        }
    }
    text
}

/// Steps that say something else than the variant's cost, one sentence per reason.
fn spoilt_steps(cell: &DensityCell) -> Vec<String> {
    let all = [
        (
            Reason::ErrorsInLoad,
            "requests to the first instance failed",
        ),
        (Reason::NodeNoisy, "the node was noisy"),
        (Reason::Throttled, "a CPU limit stopped the first instance"),
    ];
    let found = all.map(|(reason, what)| (what, disturbed_steps::words(cell, reason)));
    let found = found.into_iter().filter(|(_, steps)| !steps.is_empty());
    let variant = &cell.variant;
    found
        .map(|(what, steps)| format!("{variant}: {what} {steps}"))
        .collect()
}

/// The tables of one workload, each with its title; those without a row are empty.
pub fn tables(summary: &Summary, workload: &str) -> [(&'static str, Table); 2] {
    let of_workload = |cell: &&DensityCell| cell.workload == workload;
    let cells: Vec<&DensityCell> = summary.density.iter().filter(of_workload).collect();
    [
        (
            "Density, memory of one more instance",
            slopes(summary, &cells),
        ),
        ("Density, medians of the steps", steps(&cells)),
    ]
}

fn slopes(summary: &Summary, cells: &[&DensityCell]) -> Table {
    let versus_baseline = format!("Versus {}", summary.baseline);
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Valid", Align::Right),
        ("Per instance", Align::Right),
        ("Interval", Align::Right),
        ("By the node", Align::Right),
        (&versus_baseline, Align::Right),
        ("Invalid because", Align::Left),
    ]);
    for cell in cells {
        let interval = |spread: Spread| {
            let (low, high) = (units::bytes(spread.low), units::bytes(spread.high));
            format!("{low} to {high}")
        };
        let many = cell.bytes_per_instance.filter(|_| cell.counts.valid > 1);
        table.row(&[
            cell.variant.clone(),
            format!("{}/{}", cell.counts.valid, cell.counts.planned),
            median(cell.bytes_per_instance, units::bytes),
            many.map_or_else(|| NOTHING.to_owned(), interval),
            median(cell.node_bytes_per_instance, units::bytes),
            versus::words(summary, *cell, Metric::MemoryPerInstance),
            invalid::words(&cell.invalid_because),
        ]);
    }
    table.drop_columns_of(NOTHING);
    table
}

fn steps(cells: &[&DensityCell]) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Instances", Align::Right),
        ("Blocks", Align::Right),
        ("All answered", Align::Right),
        ("Memory", Align::Right),
        ("Interval", Align::Right),
        ("Pods alone", Align::Right),
        ("First p50", Align::Right),
        ("Interval", Align::Right),
    ]);
    for cell in cells {
        for step in &cell.steps {
            table.row(&step_row(cell, step));
        }
    }
    table.drop_columns_of(NOTHING);
    table
}

fn step_row(cell: &DensityCell, step: &DensityStepSummary) -> [String; 9] {
    let interval = |spread: Option<Spread>, unit: fn(f64) -> String| match spread {
        Some(spread) if step.trials > 1 => format!("{} to {}", unit(spread.low), unit(spread.high)),
        _ => NOTHING.to_owned(),
    };
    [
        cell.variant.clone(),
        step.instances.to_string(),
        step.trials.to_string(),
        units::micros(step.all_answered_microseconds.median),
        median(step.sandboxes_bytes, units::bytes),
        interval(step.sandboxes_bytes, units::bytes),
        median(step.pods_bytes, units::bytes),
        median(step.first_p50_microseconds, units::micros),
        interval(step.first_p50_microseconds, units::micros),
    ]
}

fn median(spread: Option<Spread>, unit: fn(f64) -> String) -> String {
    spread.map_or_else(|| NOTHING.to_owned(), |spread| unit(spread.median))
}
