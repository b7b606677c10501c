//! `docs/when-wasm.md`: what a service as Wasm costs compared with a container, by runtime, from all that the studies measured.

use wasmbench_report::table::{Align, Table, lines};

use crate::compared::{Value, ratio};
use crate::figure::Figure;
use crate::measured::Measured;
use crate::terminal;

/// The page but for its numbers.
const TEXT: &str = include_str!("../when-wasm.md");
/// What all are compared with: the gateway as a container under runc.
const BASE: &str = "native-docker";

/// Where a number is looked for.
struct Place {
    study: &'static str,
    /// CPU time per request is shown as requests per core.
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
            place("gateway-report", Figure::Memory, "hello", 100),
        ],
    },
];

/// What a row is, and what it is called in the manifests of the studies.
const ROWS: [(&str, &[&str]); 10] = [
    (
        "Wasmtime in the process, pooled",
        &["embedded-pooling", "wasmtime-embedded"],
    ),
    ("wasmtime shim, guest listens", &["wasmtime-shim"]),
    ("wasmtime shim, shim listens", &["wasmtime-shim-http"]),
    ("wasmtime serve", &["wasmtime-serve"]),
    ("wasmCloud host", &["wasmcloud"]),
    (
        "WasmEdge shim, compiled",
        &["wasmedge-aot", "wasmedge-shim"],
    ),
    ("WasmEdge shim, interpreted", &["wasmedge-interpreter"]),
    ("a wasmtime for each answer", &["wasmtime-cli"]),
    ("Wasmtime, one of many functions", &["wasmtime"]),
    ("Wasmer, one of many functions", &["wasmer"]),
];

/// The page. `measured` gives what was measured of a study.
pub fn markdown<'a>(measured: impl Fn(&str) -> Option<&'a Measured>) -> String {
    let header: Vec<_> = std::iter::once(("RUNTIME", Align::Left))
        .chain(COLUMNS.iter().map(|column| (column.title, Align::Right)))
        .collect();
    let mut table = Table::new(&header);
    for (label, variants) in ROWS {
        let cells: Vec<Value> = COLUMNS
            .iter()
            .map(|column| of_places(column, variants, &measured))
            .collect();
        if cells.iter().any(|cell| *cell != Value::None) {
            let row: Vec<String> = std::iter::once(label.to_owned())
                .chain(cells.iter().map(terminal::value))
                .collect();
            table.row(&row);
        }
    }
    let sources = lines("- ", COLUMNS.iter().map(source));
    TEXT.replace("SOURCES\n", &sources)
        .replace("TABLE\n", &table.markdown())
}

fn of_places<'a>(
    column: &Column,
    variants: &[&str],
    measured: impl Fn(&str) -> Option<&'a Measured>,
) -> Value {
    let at = |place: &Place, variant: &str| {
        let measured = measured(place.study)?;
        // Requests per core: the less CPU time, the more of them.
        let (over, under) = if place.figure == Figure::CpuPerRequest {
            (BASE, variant)
        } else {
            (variant, BASE)
        };
        let figure = (place.figure, place.workload);
        ratio(measured, figure, (over, place.at), (under, place.at))
    };
    column
        .places
        .iter()
        .flat_map(|place| variants.iter().filter_map(move |name| at(place, name)))
        .next()
        .map_or(Value::None, Value::Ratio)
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
