//! The section of `report.md` on cold starts.

use std::fmt::Write as _;

use super::terminal::tilde;
use strum::IntoEnumIterator as _;
use wasmbench_core::units::{self, NOTHING};
use wasmbench_core::wire::cold_start::{ColdStep, CompileCache};
use wasmbench_results::any_cell::AnyCell;
use wasmbench_results::coldstart::{ColdStartCell, ColdTime, HarnessFloor};
use wasmbench_results::invalid;
use wasmbench_results::measure::Metric;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;

use crate::table::{Align, Table, escape, lines};
use crate::versus;

const INTRODUCTION: &str = "\
From the request that creates a pod. p50 is the median over blocks of the block's median pod, with its 95 % \
interval (from the smallest to the largest block when there are fewer than 6); p90 is that of all pods together, with \
a tilde when they are fewer than 100. *Listening* is the log line by which the service says so; *answer* is the first correct one, which on the pod network cannot come before the \
API tells the pod's address. *Discarded* is the first sample of each block, which does not count. *Wrong \
class* counts the samples in which a pod found something else on the node than the sweep's class says; they were \
taken again. *Compiled before* counts the samples by whether the runtime kept a compiled form of the Wasm image from an \
earlier start (warm) or had to compile it (cold); only `meter.level: node` sees that. *Unverified* are samples that count without evidence of what their pods found. *First attempt* counts the \
pods that were answered at the first attempt: they may have been ready before. A point with a reason \
under *Invalid because* is not compared.\n";

const FLOOR: &str = "\
Harness floor: a pod that does nothing but listen, under the node's default runtime, started by the same \
probe in the baseline's trials. So long take cluster and harness before any service begins.\n";

const STEPS: &str = "\
Steps, as medians since the request that creates the pod. `watchArrival` is when the API's watch told the \
probe: an upper bound. `logStamp` is containerd's stamp of the log line, `containerdEvent` that of its own events. \
`kubeletDuration` is the end of a pull less the duration that the kubelet told. All read the node's clock.\n";

/// The section; empty for a run without cold starts.
pub fn section(summary: &Summary) -> String {
    if summary.cold_starts.is_empty() {
        return String::new();
    }
    let mut text = format!("## Cold start\n\n{INTRODUCTION}");
    if !summary.harness_floors.is_empty() {
        let floors = floors(&summary.harness_floors);
        let _ = write!(text, "\n{FLOOR}\n{}", floors.markdown());
    }
    for workload in &summary.compared.workloads {
        let of_workload = |cell: &&ColdStartCell| cell.workload == workload.name;
        let cells: Vec<&ColdStartCell> = summary.cold_starts.iter().filter(of_workload).collect();
        let name = escape(&workload.name);
        let _ = write!(text, "\n### {name}\n\n{}", times(&cells).markdown());
        text.push_str(&late_answers(&cells));
        let ratios = ratios(summary, &cells);
        if !ratios.is_empty() {
            let baseline = escape(&summary.baseline);
            let _ = write!(
                text,
                "\nAs multiples of {baseline}, each with its 95 % interval and its verdict:\n\n{}",
                ratios.markdown()
            );
        }
        let _ = write!(text, "\n{STEPS}");
        let mut points: Vec<u32> = cells.iter().map(|cell| cell.concurrency).collect();
        points.sort_unstable();
        points.dedup();
        for point in points {
            let at: Vec<&ColdStartCell> = cells
                .iter()
                .filter(|cell| cell.concurrency == point)
                .copied()
                .collect();
            let _ = write!(
                text,
                "\n{point} pod(s) at once:\n\n{}",
                steps(&at).markdown()
            );
        }
    }
    text
}

/// The tables of one workload, each with its title; none without cold starts.
pub fn tables(summary: &Summary, workload: &str) -> Vec<(&'static str, Table)> {
    let of_workload = |cell: &&ColdStartCell| cell.workload == workload;
    let cells: Vec<&ColdStartCell> = summary.cold_starts.iter().filter(of_workload).collect();
    let mut points: Vec<u32> = cells.iter().map(|cell| cell.concurrency).collect();
    points.sort_unstable();
    points.dedup();
    let mut tables = vec![
        ("Cold start", times(&cells)),
        (
            "Cold start, ratios to the baseline",
            ratios(summary, &cells),
        ),
    ];
    for point in points {
        let at = cells.iter().filter(|cell| cell.concurrency == point);
        let at: Vec<&ColdStartCell> = at.copied().collect();
        tables.push(("Cold start, medians of the steps", steps(&at)));
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

/// Points whose answers are the cluster's, one line each; empty without any.
fn late_answers(cells: &[&ColdStartCell]) -> String {
    let late = cells
        .iter()
        .filter(|cell| cell.answers_wait_for_the_cluster());
    let line = |cell: &&ColdStartCell| {
        let (first, pods) = (cell.first_attempt_answers, cell.pods);
        escape(&format!(
            "{}, answer: {first} of {pods} pods were answered at the first attempt. That time is the \
             cluster's and is not compared: see listening",
            cell.place()
        ))
    };
    let lines = lines("- ", late.map(line));
    if lines.is_empty() {
        lines
    } else {
        format!("\n{lines}")
    }
}

fn floors(floors: &[HarnessFloor]) -> Table {
    let mut table = Table::new(&[
        ("At once", Align::Right),
        ("Pods", Align::Right),
        ("Listening p50", Align::Right),
        ("Interval", Align::Right),
        ("Answer p50", Align::Right),
        ("Interval", Align::Right),
    ]);
    let time = |spread: Option<Spread>| {
        spread.map_or([(); 2].map(|()| NOTHING.to_owned()), |spread| {
            let (low, high) = (units::micros(spread.low), units::micros(spread.high));
            [units::micros(spread.median), format!("{low} - {high}")]
        })
    };
    for floor in floors {
        let [listening, listening_interval] = time(floor.listening_microseconds);
        let [answer, answer_interval] = time(floor.answer_microseconds);
        table.row(&[
            floor.concurrency.to_string(),
            floor.pods.to_string(),
            listening,
            listening_interval,
            answer,
            answer_interval,
        ]);
    }
    table
}

fn times(cells: &[&ColdStartCell]) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("At once", Align::Right),
        ("Valid", Align::Right),
        ("Pods", Align::Right),
        ("First attempt", Align::Right),
        ("Listening p50", Align::Right),
        ("Interval", Align::Right),
        ("p90", Align::Right),
        ("Answer p50", Align::Right),
        ("Interval", Align::Right),
        ("p90", Align::Right),
        ("Makespan", Align::Right),
        ("Discarded listening", Align::Right),
        ("Wrong class", Align::Right),
        ("Compiled before", Align::Left),
        ("Unverified", Align::Right),
        ("Invalid because", Align::Left),
    ]);
    let count = |number: u32| match number {
        0 => NOTHING.to_owned(),
        some => some.to_string(),
    };
    for cell in cells {
        let [listening, listening_interval, listening_p90] =
            time(cell.create_to_listening.as_ref());
        let [answer, answer_interval, answer_p90] = time(cell.create_to_answer.as_ref());
        let discarded = cell
            .blocks
            .iter()
            .filter_map(|block| block.discarded_listening);
        table.row(&[
            cell.variant.clone(),
            cell.concurrency.to_string(),
            format!("{}/{}", cell.counts.valid, cell.counts.planned),
            cell.pods.to_string(),
            count(cell.first_attempt_answers),
            listening,
            listening_interval,
            listening_p90,
            answer,
            answer_interval,
            answer_p90,
            cell.makespan_microseconds
                .map_or_else(|| NOTHING.to_owned(), |m| units::micros(m.median)),
            wasmbench_results::statistics::median(discarded)
                .map_or_else(|| NOTHING.to_owned(), units::micros),
            count(cell.wrong_class_samples),
            compiled_before(cell),
            count(cell.unverified_samples),
            invalid::words(&cell.invalid_because),
        ]);
    }
    table.drop_columns_of(NOTHING);
    table
}

/// `6 warm`, `1 cold, 5 warm`, `6 unknown`; nothing for what is never compiled.
fn compiled_before(cell: &ColdStartCell) -> String {
    let told = cell.compiled_before.iter();
    let told = told.filter(|(found, _)| **found != CompileCache::NothingToCompile);
    let told = told.map(|(found, samples)| format!("{samples} {}", <&str>::from(found)));
    let unknown = cell.compile_cache_unknown;
    let unknown = (unknown > 0).then(|| format!("{unknown} unknown"));
    let all: Vec<String> = told.chain(unknown).collect();
    if all.is_empty() {
        NOTHING.to_owned()
    } else {
        all.join(", ")
    }
}

fn time(time: Option<&ColdTime>) -> [String; 3] {
    let Some(time) = time else {
        return [(); 3].map(|()| NOTHING.to_owned());
    };
    let spread = time.p50_microseconds;
    [
        units::micros(spread.median),
        format!(
            "{} - {}",
            units::micros(spread.low),
            units::micros(spread.high)
        ),
        tilde(time),
    ]
}

fn ratios(summary: &Summary, cells: &[&ColdStartCell]) -> Table {
    let metrics = [Metric::ColdStartListening, Metric::ColdStartAnswer];
    let mut header = vec![("Variant", Align::Left), ("At once", Align::Right)];
    for metric in metrics {
        header.push((metric.measure().title, Align::Right));
        header.push(("Each block", Align::Left));
    }
    let mut table = Table::new(&header);
    for cell in cells {
        let found = metrics.map(|metric| {
            let ratio = versus::words(summary, *cell, metric);
            [ratio, versus::each_block(summary, *cell, metric)]
        });
        let found: Vec<String> = found.into_iter().flatten().collect();
        if found.iter().any(|text| text != NOTHING) {
            let mut row = vec![cell.variant.clone(), cell.concurrency.to_string()];
            row.extend(found);
            table.row(&row);
        }
    }
    table.drop_columns_of(NOTHING);
    table
}

/// One row per step, one column per variant.
fn steps(cells: &[&ColdStartCell]) -> Table {
    let mut header = vec![("Step", Align::Left), ("Clock", Align::Left)];
    header.extend(
        cells
            .iter()
            .map(|cell| (cell.variant.as_str(), Align::Right)),
    );
    let mut table = Table::new(&header);
    for step in ColdStep::iter() {
        let times: Vec<_> = cells
            .iter()
            .map(|cell| cell.steps.iter().find(|found| found.step == step))
            .collect();
        let Some(clock) = times.iter().flatten().next().map(|time| time.clock) else {
            continue;
        };
        let mut row = vec![
            <&str>::from(step).to_owned(),
            <&str>::from(clock).to_owned(),
        ];
        row.extend(times.iter().map(|time| {
            time.map_or_else(
                || NOTHING.to_owned(),
                |time| units::micros(time.p50_microseconds),
            )
        }));
        table.row(&row);
    }
    table
}
