//! `docs/when-wasm.md`: what a service as Wasm costs compared with a container, by runtime, from all that the studies measured.

use std::collections::BTreeMap;

use wasmbench_report::table::{Align, Table, lines as prefixed};

use crate::Ours;
use crate::compared::{Value, ratio_with_run};
use crate::figure::Figure;
use crate::terminal::{NOTHING, value};
use crate::values::FromRun;

/// The page but for its numbers.
const TEXT: &str = include_str!("../when-wasm.md");
/// What all are compared with: the gateway as a container under runc.
const BASE: &str = "native-docker";

/// Where a number is looked for.
#[derive(Debug)]
struct Place {
    study: &'static str,
    /// CPU time per request is shown as requests per CPU time.
    figure: Figure,
    workload: &'static str,
    at: u32,
}

/// What is compared.
struct Column {
    title: &'static str,
    /// The first place where a variant has a number counts.
    places: &'static [Place],
}

const fn place(study: &'static str, figure: Figure, workload: &'static str, at: u32) -> Place {
    Place {
        study,
        figure,
        workload,
        at,
    }
}

/// Numbers of connections are as near to one another as the runs have them.
const COLUMNS: [Column; 5] = [
    Column {
        title: "COLD START",
        places: &[
            place("openwhisk", Figure::Ready, "blake3", 1),
            place("wasmcloud-study", Figure::Ready, "hello", 1),
            place("gateway-report", Figure::Ready, "hello", 1),
            place("openwhisk", Figure::Ready, "start", 1),
        ],
    },
    Column {
        title: "PER CORE, HELLO",
        places: &[
            place("docker-wasmedge", Figure::CpuPerRequest, "hello", 8),
            place("wasmcloud-study", Figure::CpuPerRequest, "hello", 10),
            place("gateway-report", Figure::CpuPerRequest, "hello", 10),
            place("gateway-report", Figure::CpuPerRequest, "hello", 100),
        ],
    },
    Column {
        title: "PER CORE, FIBONACCI",
        places: &[
            place("docker-wasmedge", Figure::CpuPerRequest, "heavy", 8),
            place("docker-wasmedge", Figure::CpuPerRequest, "heavy-short", 8),
        ],
    },
    Column {
        title: "SHA-256, P50",
        places: &[place("wasmcloud-study", Figure::WarmP50, "cpu-hash", 1)],
    },
    Column {
        title: "MEMORY",
        places: &[
            place("docker-wasmedge", Figure::Memory, "hello", 8),
            place("wasmcloud-study", Figure::Memory, "hello", 10),
            place("gateway-report", Figure::Memory, "hello", 10),
            place("gateway-report", Figure::Memory, "hello", 100),
        ],
    },
];

/// A runtime, and what its variants are called in the manifests of the studies. It has a row for each mode in which they
/// were measured.
const ROWS: [(&str, &[&str]); 9] = [
    (
        "Wasmtime in the process",
        &["embedded-pooling", "embedded-on-demand"],
    ),
    ("wasmtime shim, guest listens", &["wasmtime-shim"]),
    ("wasmtime shim, shim listens", &["wasmtime-shim-http"]),
    ("wasmtime serve", &["wasmtime-serve"]),
    ("wasmCloud host", &["wasmcloud"]),
    (
        "WasmEdge shim",
        &["wasmedge-aot", "wasmedge-shim", "wasmedge-interpreter"],
    ),
    ("a wasmtime for each answer", &["wasmtime-cli"]),
    ("Wasmtime, one of many functions", &["wasmtime"]),
    ("Wasmer, one of many functions", &["wasmer"]),
];

/// What was measured of a variant at a place.
#[derive(Clone, Debug)]
struct Cell<'a> {
    place: &'static Place,
    found: FromRun<'a>,
    /// By the spec of the run.
    mode: String,
}

/// A row of the table.
struct Line<'a> {
    runtime: &'static str,
    mode: String,
    /// For each column.
    cells: Vec<Option<Cell<'a>>>,
}

/// The page. `ours` gives what there is of a study here.
pub fn markdown<'a>(ours: impl Fn(&str) -> Ours<'a>) -> String {
    let header: Vec<_> = [("RUNTIME", Align::Left), ("MODE", Align::Left)]
        .into_iter()
        .chain(COLUMNS.iter().map(|column| (column.title, Align::Right)))
        .collect();
    let lines: Vec<Line<'a>> = ROWS
        .iter()
        .flat_map(|(runtime, variants)| of_runtime(runtime, variants, &ours))
        .collect();
    let usual = usual_machine(&lines);
    let mut table = Table::new(&header);
    for line in &lines {
        let cells = line.cells.iter().zip(&COLUMNS);
        let cells = cells.map(|(cell, column)| match cell {
            Some(cell) => shown(cell, column, usual),
            None => NOTHING.into(),
        });
        let names = [line.runtime.to_owned(), line.mode.clone()];
        let row: Vec<String> = names.into_iter().chain(cells).collect();
        table.row(&row);
    }
    let sources = prefixed("- ", COLUMNS.iter().map(source));
    TEXT.replace("SOURCES\n", &sources)
        .replace("MACHINE", usual)
        .replace("TABLE\n", &table.markdown())
}

/// A row for each mode in which a runtime was measured.
fn of_runtime<'a>(
    runtime: &'static str,
    variants: &[&str],
    ours: &impl Fn(&str) -> Ours<'a>,
) -> Vec<Line<'a>> {
    let found = |column: &Column| {
        let places = column.places.iter();
        let cells = places.flat_map(|place| {
            let ours = ours(place.study);
            variants
                .iter()
                .filter_map(move |variant| cell(place, variant, ours))
        });
        cells.collect::<Vec<Cell<'a>>>()
    };
    let columns: Vec<Vec<Cell<'a>>> = COLUMNS.iter().map(found).collect();
    let mut modes: Vec<String> = vec![];
    for cell in columns.iter().flatten() {
        if !modes.contains(&cell.mode) {
            modes.push(cell.mode.clone());
        }
    }
    let line = |mode: String| {
        let first = |cells: &Vec<Cell<'a>>| cells.iter().find(|cell| cell.mode == mode).cloned();
        Line {
            runtime,
            cells: columns.iter().map(first).collect(),
            mode,
        }
    };
    modes.into_iter().map(line).collect()
}

fn cell<'a>(place: &'static Place, variant: &str, ours: Ours<'a>) -> Option<Cell<'a>> {
    // The less CPU time, the more requests.
    let (over, under) = if place.figure == Figure::CpuPerRequest {
        (BASE, variant)
    } else {
        (variant, BASE)
    };
    let workloads = [place.workload];
    let figure = (place.figure, &workloads[..]);
    let found = ratio_with_run(ours.measured?, figure, (over, place.at), (under, place.at))?;
    let run = ours.manifest.run(found.name);
    let mode = run.and_then(|run| run.mode(variant));
    Some(Cell {
        place,
        found,
        mode: mode.unwrap_or_else(|| NOTHING.into()),
    })
}

/// The machine on which most cells were measured.
fn usual_machine<'a>(lines: &[Line<'a>]) -> &'a str {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in lines.iter().flat_map(|line| &line.cells).flatten() {
        *counts.entry(machine(cell)).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or("?", |(name, _)| name)
}

fn machine<'a>(cell: &Cell<'a>) -> &'a str {
    let model = cell.found.run.node.get("cpuModel");
    model.map_or("?", String::as_str)
}

/// The ratio and both values, with what is not the same in all cells: the number of connections, and the machine.
fn shown(cell: &Cell<'_>, column: &Column, usual: &str) -> String {
    let (figure, at) = (cell.place.figure, cell.place.at);
    let has_values = figure != Figure::CpuPerRequest;
    let sides = cell.found.sides.filter(|_| has_values);
    let sides = sides.map(|(own, base)| format!("{} v {}", figure.shown(own), figure.shown(base)));
    let differs = column.places.iter().any(|place| place.at != at);
    let other = Some(machine(cell)).filter(|machine| *machine != usual);
    let parts: Vec<String> = std::iter::once(value(&Value::Ratio(cell.found.ratio)))
        .chain(sides)
        .chain(differs.then(|| figure.at(at)))
        .chain(other.map(str::to_owned))
        .collect();
    parts.join(", ")
}

/// Where a column's numbers are from, in the order in which they are looked for.
fn source(column: &Column) -> String {
    let places = column.places.iter().map(|place| {
        let Place {
            study,
            figure,
            workload,
            at,
        } = place;
        let (noun, at) = (figure.noun(), figure.at(*at));
        format!("[{study}](studies/{study}.md), {noun} of `{workload}` at {at}")
    });
    let places: Vec<String> = places.collect();
    format!("{}: {}", column.title, places.join("; else "))
}
