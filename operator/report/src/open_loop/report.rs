//! The section of `report.md` on loads on a schedule.

use wasmbench_model::units::{self, marked};
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::cells::open_loop::{OpenLoopSummary, achieved};
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::Sweep;

use crate::section::Section;
use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::{interval, median, throttled, valid};
use crate::validity::{VALIDITY, standing};

const INTRODUCTION: &str = "\
Requests at a fixed rate, the same for all variants, which does not wait for answers. *Of peak* is the rate in \
percent of the baseline's peak, which its scout measured, for a run that states no rates. *Service* counts from the \
sending of a request; *from schedule* from the moment at which it was due, so that a stall counts for every \
request that should have been sent in it. *Waited* is the share of requests that were due before the answer \
before them on their connection had come. *Generator late* is what the load generator itself was late by (p99); it is \
in neither latency. A point of which a trial kept less than 98 % of its rate is invalid.";

/// The section; `None` for a run without such a load.
pub fn section(summary: &Summary) -> Option<Section> {
    let of_sweep = |cell: &LoadCell| cell.detail.sweep == Sweep::OpenLoop;
    if !summary.cells.iter().any(of_sweep) {
        return None;
    }
    let introduced = Section::new("Open loop").guide(INTRODUCTION);
    let workloads = summary.compared.workloads.iter();
    Some(workloads.fold(introduced, |section, workload| {
        let points = points(summary, &workload.name);
        section.heading(&workload.name).table(points)
    }))
}

fn cells<'a>(summary: &'a Summary, workload: &'a str) -> impl Iterator<Item = &'a LoadCell> {
    let cells = summary.cells.iter();
    cells.filter(move |cell| cell.detail.sweep == Sweep::OpenLoop && cell.workload == workload)
}

/// The points of one workload.
pub fn points(summary: &Summary, workload: &str) -> Table {
    let service = |time: Option<Spread>| median(time, units::micros);
    let scheduled = |cell: &LoadCell, spread: fn(&OpenLoopSummary) -> Spread| {
        median(cell.detail.open_loop.as_ref().map(spread), units::micros)
    };
    let interval = |cell: &LoadCell, spread: fn(&OpenLoopSummary) -> Spread| {
        let found = cell.detail.open_loop.as_ref().map(spread);
        interval(cell.counts.valid, found, units::micros)
    };
    Sheet::new(cells(summary, workload))
        .counting(|cell| cell.ranked)
        .left("Variant", |cell| cell.variant.clone())
        .left(VALIDITY, |cell| validity(cell))
        .right("Of peak", |cell| {
            Some(format!("{} %", cell.detail.rate?.percent_of_peak()?))
        })
        .right("Requested/s", |cell| requested(cell).map(units::rate))
        .right("Valid", |cell| valid(cell.counts))
        .measured("Achieved", |cell| {
            Some(achieved(cell.detail.open_loop?.achieved_share_min))
        })
        .measured("Service p50", |cell| service(cell.detail.p50_microseconds))
        .measured("p99", |cell| {
            Some(marked(
                service(cell.detail.p99_microseconds)?,
                cell.detail.p99_carried,
            ))
        })
        .measured("From schedule p50", |cell| {
            scheduled(cell, |found| found.p50_microseconds)
        })
        .measured("Interval", |cell| {
            interval(cell, |found| found.p50_microseconds)
        })
        .measured("p90", |cell| {
            let p90 = scheduled(cell, |found| found.p90_microseconds)?;
            Some(marked(p90, cell.detail.p90_carried()))
        })
        .measured("p99", |cell| {
            let p99 = scheduled(cell, |found| found.p99_microseconds)?;
            Some(marked(p99, cell.detail.p99_carried))
        })
        .measured("Interval", |cell| {
            interval(cell, |found| found.p99_microseconds)
        })
        .measured("p99.9", |cell| {
            Some(units::micros(
                cell.detail.open_loop?.p999_microseconds?.median,
            ))
        })
        .measured("Waited", |cell| {
            Some(units::percent(cell.detail.open_loop?.waited_share.median))
        })
        .measured("Throttled", |cell| throttled(cell))
        .measured("Generator late", |cell| {
            scheduled(cell, |found| found.generator_p99_microseconds)
        })
        .table()
}

/// The scheduled rate, in requests per second. A share of the peak is known only by its trials.
fn requested(cell: &LoadCell) -> Option<f64> {
    match cell.detail.rate? {
        Rate::Rps(rps) => Some(f64::from(rps)),
        Rate::PercentOfPeak(_) => Some(cell.detail.open_loop?.requested_rps.median),
    }
}

fn validity(cell: &LoadCell) -> String {
    let found = cell.detail.open_loop.filter(|_| cell.ranked);
    if found.is_some_and(|found| found.may_be_the_generators()) {
        "valid, generator later than the latency".to_owned()
    } else {
        standing(cell.any())
    }
}
