//! The section on mixes: each of their requests, beside what is compared of them together.

use wasmbench_model::units;
use wasmbench_results::cells::load::{LoadCell, PartSummary};
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;

use crate::section::Section;
use crate::sheet::Sheet;

/// A request of a mix in a cell.
struct Row<'a> {
    cell: &'a LoadCell,
    name: &'a str,
    part: &'a PartSummary,
}

/// The section; `None` without a mix.
pub fn section(summary: &Summary) -> Option<Section> {
    let rows: Vec<Row<'_>> = summary.cells.iter().flat_map(rows).collect();
    if rows.is_empty() {
        return None;
    }
    let median =
        |spread: Option<Spread>, unit: fn(f64) -> String| spread.map(|spread| unit(spread.median));
    let table = Sheet::new(rows)
        .left("Variant", |row| row.cell.variant.clone())
        .left("Workload", |row| row.cell.workload.clone())
        .left("Point", |row| row.cell.detail.point().to_string())
        .left("Request", |row| row.name.to_owned())
        .right("Connections", |row| row.part.connections)
        .right("Requests/s", |row| median(row.part.rps, units::rate))
        .right("p50", |row| {
            median(row.part.p50_microseconds, units::micros)
        })
        .right("p99", |row| {
            median(row.part.p99_microseconds, units::micros)
        })
        .right("Failed", |row| row.part.failed)
        .table();
    let section = Section::new("The requests of mixes")
        .guide(
            "All other numbers are of a mix as a whole, and the CPU time and the memory of one request are not known. Each \
             request has its share of the connections: in a closed loop its rate also depends on how fast it is answered, \
             while an open loop divides the rate as the connections. Medians over the trials of a point; latencies are of all \
             requests, failed ones included, and in an open loop service times.",
        )
        .table(table);
    Some(section)
}

fn rows(cell: &LoadCell) -> impl Iterator<Item = Row<'_>> {
    let parts = cell.detail.parts.iter();
    parts.map(move |(name, part)| Row { cell, name, part })
}
