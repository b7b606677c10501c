//! The section of `report.md` on cold starts.

use std::collections::BTreeMap;

use super::terminal::{late_of, p90_of};
use strum::IntoEnumIterator as _;
use wasmbench_model::units;
use wasmbench_model::wire::cold_start::{ColdStep, CompileCache};
use wasmbench_results::cells::coldstart::{ColdStartCell, ColdTime, HarnessFloor, InTime};
use wasmbench_results::statistics::{self, Spread};
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::cell::under;

use crate::section::Section;
use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables;
use crate::tables::valid;
use crate::validity::{VALIDITY, standing};

const INTRODUCTION: &str = "\
From the request that creates a pod. p50 is the median over blocks of the block's median pod, with its 95 % \
interval (from the smallest to the largest block when there are fewer than 6); p90 is that of all pods together, with \
a tilde when they are fewer than 100. *Listening* is the log line by which the service reports it; *answer* is the first correct one, which on the pod network cannot come before the \
API reports the pod's address. *Discarded* is the first sample of each block, which does not count. *Wrong \
class* counts the samples in which a pod found something else on the node than the sweep's class requires; they were \
taken again. *Compiled before* counts the samples by whether the runtime kept a compiled form of the Wasm image from an \
earlier start (warm) or had to compile it (cold); only `meter.level: node` sees that. *Unverified* are samples that count without evidence of what their pods found. *First attempt* counts the \
pods that were answered at the first attempt: they may have been ready before. An invalid point \
is not compared; its numbers are in summary.csv.";

const FLOOR: &str = "\
Harness floor: a pod that does nothing but listen, under the node's default runtime, started by the same \
probe in the baseline's trials. This is what cluster and harness take before any service starts.";

const STEPS: &str = "\
Steps, as medians since the request that creates the pod. `watchArrival` is when the API's watch informed the \
probe: an upper bound. `logStamp` is containerd's stamp of the log line, `containerdEvent` that of its own events. \
`kubeletDuration` is the end of a pull less the duration that the kubelet reported. All read the node's clock.";

/// The section; `None` for a run without cold starts.
pub fn section(summary: &Summary) -> Option<Section> {
    if summary.cold_starts.is_empty() {
        return None;
    }
    let mut section = Section::new("Cold start").guide(INTRODUCTION);
    if !summary.harness_floors.is_empty() {
        section = section.guide(FLOOR).table(floors(&summary.harness_floors));
    }
    for workload in &summary.compared.workloads {
        let cells = under(&summary.cold_starts, &workload.name);
        section = section
            .heading(&workload.name)
            .table(times(&cells))
            .list(late_answers(&cells))
            .list(late_starts(&cells))
            .guide(STEPS);
        for (point, cells) in by_point(&cells) {
            section = section
                .paragraph(format!("{point} pod(s) at once:"))
                .table(steps(&cells));
        }
    }
    Some(section)
}

/// The tables of one workload, each with its title; none without cold starts.
pub fn tables(summary: &Summary, workload: &str) -> Vec<(&'static str, Table)> {
    let cells = under(&summary.cold_starts, workload);
    let mut tables = vec![("Cold start", times(&cells))];
    for cells in by_point(&cells).into_values() {
        tables.push(("Cold start, medians of the steps", steps(&cells)));
    }
    if !summary.harness_floors.is_empty() {
        let floors = floors(&summary.harness_floors);
        tables.push((
            "Cold start, harness floor (a pod that does nothing but listen)",
            floors,
        ));
    }
    tables
}

/// Groups the cells by the number of pods at once.
fn by_point<'a>(cells: &[&'a ColdStartCell]) -> BTreeMap<u32, Vec<&'a ColdStartCell>> {
    let mut points: BTreeMap<u32, Vec<&ColdStartCell>> = BTreeMap::new();
    for cell in cells {
        points
            .entry(cell.detail.concurrency)
            .or_default()
            .push(cell);
    }
    points
}

/// Points whose answers wait for the cluster, one line each.
fn late_answers(cells: &[&ColdStartCell]) -> impl Iterator<Item = String> {
    let late = cells
        .iter()
        .filter(|cell| cell.detail.answers_wait_for_the_cluster());
    late.map(|cell| {
        let (first, pods) = (cell.detail.first_attempt_answers, cell.detail.pods);
        format!(
            "{}, answer: {first} of {pods} pods were answered at the first attempt. That time is the \
             cluster's and is not compared: see listening",
            cell.place()
        )
    })
}

/// Points with pods that were given up, one line each with how long the others took.
fn late_starts(cells: &[&ColdStartCell]) -> impl Iterator<Item = String> {
    cells.iter().filter_map(|cell| {
        let late = cell.detail.late.as_ref()?;
        let observed = late.last_seen.as_deref().unwrap_or("nothing");
        Some(format!(
            "{}: {}, and count as longer than all others. Answers in time: {}. Seen of a late one: {}",
            cell.place(),
            late.message(cell.detail.pods),
            late.in_time.map_or_else(|| "none".to_owned(), in_time),
            observed,
        ))
    })
}

/// `min 321 ms, p25 324 ms, p50 330 ms, p75 340 ms, p90 352 ms, max 2.10 s`.
fn in_time(times: InTime) -> String {
    let InTime {
        min,
        p25,
        p50,
        p75,
        p90,
        max,
    } = times;
    [
        ("min", min),
        ("p25", p25),
        ("p50", p50),
        ("p75", p75),
        ("p90", p90),
        ("max", max),
    ]
    .map(|(name, time)| format!("{name} {}", units::micros(time)))
    .join(", ")
}

fn floors(floors: &[HarnessFloor]) -> Table {
    Sheet::new(floors)
        .right("At once", |floor| floor.concurrency)
        .right("Pods", |floor| floor.pods)
        .right("Listening p50", |floor| {
            median(floor.listening_microseconds)
        })
        .right("Interval", |floor| interval(floor.listening_microseconds))
        .right("Answer p50", |floor| median(floor.answer_microseconds))
        .right("Interval", |floor| interval(floor.answer_microseconds))
        .table()
}

fn median(spread: Option<Spread>) -> Option<String> {
    tables::median(spread, units::micros)
}

fn interval(spread: Option<Spread>) -> Option<String> {
    let Spread { low, high, .. } = spread?;
    Some(format!("{} - {}", units::micros(low), units::micros(high)))
}

fn times(cells: &[&ColdStartCell]) -> Table {
    let count = |number: u32| (number > 0).then(|| number.to_string());
    let p50 = |time: &Option<ColdTime>| time.as_ref().map(|time| time.p50_microseconds);
    let p90 = |cell: &ColdStartCell, time: &Option<ColdTime>| {
        let time = time.as_ref()?;
        let limit = cell.detail.late.as_ref().map(|late| late.limit_seconds);
        p90_of(time.p90_microseconds, time.p90_carried, limit)
    };
    Sheet::new(cells)
        .counting(|cell| cell.ranked)
        .left("Variant", |cell| cell.variant.clone())
        .left(VALIDITY, |cell| standing(cell.any()))
        .right("At once", |cell| cell.detail.concurrency)
        .right("Valid", |cell| valid(cell.counts))
        .right("Pods", |cell| cell.detail.pods)
        .right("First attempt", |cell| {
            count(cell.detail.first_attempt_answers)
        })
        .measured("Listening p50", |cell| {
            median(p50(&cell.detail.create_to_listening))
        })
        .measured("Interval", |cell| {
            interval(p50(&cell.detail.create_to_listening))
        })
        .measured("p90", move |cell| {
            p90(cell, &cell.detail.create_to_listening)
        })
        .measured("Answer p50", |cell| {
            median(p50(&cell.detail.create_to_answer))
        })
        .measured("Interval", |cell| {
            interval(p50(&cell.detail.create_to_answer))
        })
        .measured("p90", move |cell| p90(cell, &cell.detail.create_to_answer))
        .measured("Makespan", |cell| median(cell.detail.makespan_microseconds))
        .measured("Discarded listening", |cell| {
            let blocks = cell.detail.blocks.iter();
            let discarded = blocks.filter_map(|block| block.discarded_listening);
            statistics::median(discarded).map(units::micros)
        })
        .right("Late", |cell| {
            let late = cell.detail.late.as_ref()?;
            Some(late_of(late.starts, cell.detail.pods, late.limit_seconds))
        })
        .right("Wrong class", |cell| count(cell.detail.wrong_class_samples))
        .left("Compiled before", |cell| compiled_before(cell))
        .right("Unverified", |cell| count(cell.detail.unverified_samples))
        .table()
}

/// `6 warm`, `1 cold, 5 warm`, `6 unknown`; `None` where nothing is ever compiled.
fn compiled_before(cell: &ColdStartCell) -> Option<String> {
    let known = cell
        .detail
        .compiled_before
        .iter()
        .filter(|(found, _)| **found != CompileCache::NothingToCompile)
        .map(|(found, samples)| format!("{samples} {}", <&str>::from(found)));
    let samples = cell.detail.compile_cache_unknown;
    let unknown = (samples > 0).then(|| format!("{samples} unknown"));
    let all: Vec<String> = known.chain(unknown).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// One row per step, one column per variant.
fn steps(cells: &[&ColdStartCell]) -> Table {
    let timing = |cell: &ColdStartCell, step: ColdStep| {
        let mut steps = cell.detail.steps.iter();
        steps.find(|found| found.step == step).cloned()
    };
    let clock = |step: ColdStep| {
        let mut found = cells.iter().filter_map(|cell| timing(cell, step));
        found.next().map(|time| time.clock)
    };
    let observed = ColdStep::iter().filter(|step| clock(*step).is_some());
    Sheet::new(observed)
        .left("Step", |step| <&str>::from(*step))
        .left("Clock", |step| {
            clock(*step).map(|clock| <&str>::from(clock).to_owned())
        })
        .for_each(cells, |sheet, cell| {
            sheet.right(cell.variant.as_str(), move |step| {
                let time = timing(cell, *step).filter(|_| cell.ranked);
                time.map(|time| units::micros(time.p50_microseconds))
            })
        })
        .table()
}
