//! The section of `report.md` on capacity.

use wasmbench_model::units;
use wasmbench_results::cells::capacity::{CapacityCell, RungSummary};
use wasmbench_results::statistics::{BoundedSpread, OneSided};
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;

use crate::section::Section;
use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::{interval, median, valid};
use crate::validity::{VALIDITY, standing};

const INTRODUCTION: &str = "\
The highest rate at which the p99 from the schedule meets the target and no more requests fail than may: the median of the \
blocks with its interval. Each block climbs a ladder of rates in one pod, and the crossing is interpolated between the last \
rung that met the target and the next. *Above* and *below* are blocks in which even the last rung met the target, or the first \
one missed it: they show only a bound. *CPU/req* and *memory* are those of the highest rung that met the target. *Limits* is \
what limits did to the subject there.";

const RUNGS: &str = "\
Rungs, as medians over the blocks that reached them; what was tried between two of them is in summary.json alone. *Met* counts \
the blocks that met the target; rungs of a generator that was itself late are *invalid* and count as neither.";

/// The section; `None` for a run without a target.
pub fn section(summary: &Summary) -> Option<Section> {
    let first = summary.capacity.first()?;
    let target = units::micros(first.detail.target_p99_microseconds);
    let introduced = Section::new(format!("Capacity at a p99 of {target}")).guide(INTRODUCTION);
    let workloads = summary.compared.workloads.iter();
    Some(workloads.fold(introduced, |section, workload| {
        let cells = under(&summary.capacity, &workload.name);
        section
            .heading(&workload.name)
            .table(capacities(&cells))
            .guide(RUNGS)
            .table(rungs(&cells))
    }))
}

/// The tables of one workload, each with its title; a table without rows is empty.
pub fn tables(summary: &Summary, workload: &str) -> [(&'static str, Table); 2] {
    let cells = under(&summary.capacity, workload);
    [
        ("Capacity", capacities(&cells)),
        ("Capacity, medians of the rungs", rungs(&cells)),
    ]
}

fn capacities(cells: &[&CapacityCell]) -> Table {
    Sheet::new(cells)
        .counting(|cell| cell.ranked)
        .left("Variant", |cell| cell.variant.clone())
        .left(VALIDITY, |cell| standing(cell.any()))
        .right("Valid", |cell| valid(cell.counts))
        .measured("Capacity", |cell| cell.detail.text())
        .measured("Interval", |cell| ends(cell.detail.rps))
        .measured("Above", |cell| beyond(cell, OneSided::AtLeast))
        .measured("Below", |cell| beyond(cell, OneSided::AtMost))
        .measured("CPU/req", |cell| {
            median(cell.detail.cpu_microseconds_per_request, units::micros)
        })
        .measured("Memory", |cell| {
            median(cell.detail.memory_bytes, units::bytes)
        })
        .measured("Limits", |cell| cell.detail.limits.text())
        .table()
}

/// The interval of the median, as far as it is known.
fn ends(rps: BoundedSpread) -> Option<String> {
    let (low, high) = rps.low.zip(rps.high)?;
    Some(format!("{} to {}", units::rate(low), units::rate(high)))
}

fn beyond(cell: &CapacityCell, end: OneSided) -> Option<String> {
    let blocks = cell.detail.beyond(end);
    (blocks > 0).then(|| blocks.to_string())
}

fn rungs(cells: &[&CapacityCell]) -> Table {
    let rungs = cells
        .iter()
        .flat_map(|cell| cell.detail.rungs.iter().map(move |rung| (cell, rung)));
    Sheet::new(rungs)
        .counting(|(cell, _)| cell.ranked)
        .left("Variant", |(cell, _)| cell.variant.clone())
        .right("Requested/s", |(_, rung)| units::rate(rung.requested_rps))
        .right("Blocks", |(_, rung)| rung.trials)
        .measured("Met", |(_, rung)| met(rung))
        .measured("Sent/s", |(_, rung)| median(rung.sent_rps, units::rate))
        .measured("p50", |(_, rung)| {
            median(rung.p50_microseconds, units::micros)
        })
        .measured("p99", |(_, rung)| {
            median(rung.p99_microseconds, units::micros)
        })
        .measured("Interval", |(_, rung)| {
            let shown = rung.trials - rung.invalid;
            interval(shown, rung.p99_microseconds, units::micros)
        })
        .measured("Failed, at most", |(_, rung)| {
            let share = rung.failed_share_max.filter(|share| *share > 0.0)?;
            Some(format!("{} %", units::exact_percent(share)))
        })
        .measured("Periods stopped", |(_, rung)| {
            let share = rung.throttled_share_of_periods.filter(|share| *share > 0.0);
            share.map(units::percent)
        })
        .table()
}

/// `9 of 10`, and how many show nothing.
fn met(rung: &RungSummary) -> String {
    let shown = rung.trials - rung.invalid;
    match rung.invalid {
        0 => format!("{} of {shown}", rung.met),
        invalid => format!("{} of {shown}, {invalid} invalid", rung.met),
    }
}
