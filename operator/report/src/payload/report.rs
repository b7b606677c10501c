//! The section of `report.md` on payload.

use wasmbench_model::units;
use wasmbench_results::cells::payload::PayloadCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;

use crate::section::Section;
use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::{interval, median, valid};
use crate::validity::{VALIDITY, standing};

const INTRODUCTION: &str = "\
CPU time of the pod for a request whose body is sent back, as a line through all sizes: *per request* is what no byte costs, and \
*per MB* what 1,000,000 bytes of the body cost, in and out together. Each block has its own line, by relative distance; shown are \
the medians of the blocks with their intervals. *Off the line* is how far a size lies from it at most: where that is much, bytes \
do not cost the same at all sizes, and the table of sizes says more.";

const SIZES: &str = "\
Sizes, as medians over blocks. *In* is what the pod got of bodies, *out* what it sent back. The load generator copies the same \
bytes: rates are those of both together, CPU time is the pod's alone.";

/// The section; `None` for a run without payload.
pub fn section(summary: &Summary) -> Option<Section> {
    if summary.payload.is_empty() {
        return None;
    }
    let workloads = summary.compared.workloads.iter();
    let introduced = Section::new("What bytes cost").guide(INTRODUCTION);
    Some(workloads.fold(introduced, |section, workload| {
        let cells = under(&summary.payload, &workload.name);
        section
            .heading(&workload.name)
            .table(costs(&cells))
            .guide(SIZES)
            .table(sizes(&cells))
    }))
}

/// The tables of one workload, each with its title; a table without rows is empty.
pub fn tables(summary: &Summary, workload: &str) -> [(&'static str, Table); 2] {
    let cells = under(&summary.payload, workload);
    [
        ("Payload, CPU time per request and per MB", costs(&cells)),
        ("Payload, medians of the sizes", sizes(&cells)),
    ]
}

fn costs(cells: &[&PayloadCell]) -> Table {
    Sheet::new(cells)
        .counting(|cell| cell.ranked)
        .left("Variant", |cell| cell.variant.clone())
        .left(VALIDITY, |cell| standing(cell.any()))
        .right("Valid", |cell| valid(cell.counts))
        .measured("Per request", |cell| {
            median(cell.detail.fixed_cpu_microseconds, units::micros)
        })
        .measured("Interval", |cell| {
            let fixed = cell.detail.fixed_cpu_microseconds;
            interval(cell.counts.valid, fixed, units::micros)
        })
        .measured("Per MB", |cell| {
            median(cell.detail.cpu_microseconds_per_megabyte, units::micros)
        })
        .measured("Interval", |cell| {
            let slope = cell.detail.cpu_microseconds_per_megabyte;
            interval(cell.counts.valid, slope, units::micros)
        })
        .measured("Off the line", |cell| {
            cell.detail.off_line_share.map(units::percent)
        })
        .table()
}

fn sizes(cells: &[&PayloadCell]) -> Table {
    let sizes = cells
        .iter()
        .flat_map(|cell| cell.detail.sizes.iter().map(move |size| (cell, size)));
    Sheet::new(sizes)
        .counting(|(cell, _)| cell.ranked)
        .left("Variant", |(cell, _)| cell.variant.clone())
        .right("Body", |(_, size)| units::bytes(size.bytes.into()))
        .right("Blocks", |(_, size)| size.trials)
        .measured("Requests/s", |(_, size)| median(size.rps, units::rate))
        .measured("In, MB/s", |(_, size)| {
            median(size.received_megabytes_per_second, units::rate)
        })
        .measured("Out, MB/s", |(_, size)| {
            median(size.sent_megabytes_per_second, units::rate)
        })
        .measured("CPU/req", |(_, size)| {
            median(size.cpu_microseconds_per_request, units::micros)
        })
        .measured("Interval", |(_, size)| {
            interval(
                size.trials,
                size.cpu_microseconds_per_request,
                units::micros,
            )
        })
        .table()
}
