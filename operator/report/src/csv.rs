//! Tables for spreadsheets: `summary.csv` has one row per variant, workload and sweep point, `comparisons.csv` one per
//! ratio to the baseline. Units are in the headers; a number that could not be measured is an empty field.

use wasmbench_core::wire::record::Point;
use wasmbench_results::any_cell::AnyCell;
use wasmbench_results::cell::CellSummary;
use wasmbench_results::cells::extremes;
use wasmbench_results::coldstart::ColdStartCell;
use wasmbench_results::comparison::Comparison;
use wasmbench_results::counts::TrialCounts;
use wasmbench_results::density::DensityCell;
use wasmbench_results::open_loop::OpenLoopSummary;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::trial::Metrics;

/// A column of rows of `T`: its name, and its field.
struct Column<T> {
    name: String,
    field: Box<dyn Fn(&T) -> String>,
}

fn column<T>(name: impl Into<String>, field: impl Fn(&T) -> String + 'static) -> Column<T> {
    Column {
        name: name.into(),
        field: Box::new(field),
    }
}

/// The table as RFC 4180 text with `\n` line ends.
fn csv<T>(columns: &[Column<T>], rows: impl Iterator<Item = T>) -> String {
    let header: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = header.join(",") + "\n";
    for row in rows {
        let fields: Vec<String> = columns.iter().map(|column| (column.field)(&row)).collect();
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

/// A cell of some sweep.
#[derive(Clone, Copy)]
enum Row<'a> {
    Load(&'a CellSummary),
    ColdStart(&'a ColdStartCell),
    Density(&'a DensityCell),
}

impl<'a> Row<'a> {
    fn cell(self) -> &'a dyn AnyCell {
        match self {
            Row::Load(cell) => cell,
            Row::ColdStart(cell) => cell,
            Row::Density(cell) => cell,
        }
    }

    fn load(self) -> Option<&'a CellSummary> {
        match self {
            Row::Load(cell) => Some(cell),
            Row::ColdStart(_) | Row::Density(_) => None,
        }
    }

    fn cold_start(self) -> Option<&'a ColdStartCell> {
        match self {
            Row::ColdStart(cell) => Some(cell),
            Row::Load(_) | Row::Density(_) => None,
        }
    }

    fn density(self) -> Option<&'a DensityCell> {
        match self {
            Row::Density(cell) => Some(cell),
            Row::Load(_) | Row::ColdStart(_) => None,
        }
    }
}

/// `summary.csv`.
pub fn summary_csv(summary: &Summary) -> String {
    let loads = summary.cells.iter().map(Row::Load);
    let cold_starts = summary.cold_starts.iter().map(Row::ColdStart);
    let density = summary.density.iter().map(Row::Density);
    csv(&of_cells(), loads.chain(cold_starts).chain(density))
}

/// `comparisons.csv`.
pub fn comparisons_csv(summary: &Summary) -> String {
    csv(&of_comparisons(), summary.comparisons.iter())
}

fn of_comparisons<'a>() -> Vec<Column<&'a Comparison>> {
    vec![
        column("variant", |one: &&Comparison| quoted(&one.variant)),
        column("workload", |one: &&Comparison| quoted(&one.workload)),
        column("measure", |one: &&Comparison| {
            <&str>::from(one.metric).to_owned()
        }),
        column("sweep", |one: &&Comparison| sweep(one.point).to_owned()),
        column("at", |one: &&Comparison| shown(at(one.point))),
        column("ratio", |one: &&Comparison| one.estimate.ratio.to_string()),
        column("low", |one: &&Comparison| shown(one.estimate.low)),
        column("high", |one: &&Comparison| shown(one.estimate.high)),
        column("blocks", |one: &&Comparison| {
            one.estimate.blocks.to_string()
        }),
        column("p_value", |one: &&Comparison| one.p_value.to_string()),
        column("adjusted_p_value", |one: &&Comparison| {
            one.adjusted_p_value.to_string()
        }),
        column("noise_floor", |one: &&Comparison| shown(one.noise_floor)),
        column("verdict", |one: &&Comparison| {
            <&str>::from(one.verdict).to_owned()
        }),
    ]
}

fn of_cells<'a>() -> Vec<Column<Row<'a>>> {
    let mut columns = of_any_cell();
    columns.extend(of_load());
    columns.extend(SCHEDULED.into_iter().flat_map(|(name, of)| {
        spread(name, move |row: &Row<'a>| {
            of(row.load()?.open_loop.as_ref()?)
        })
    }));
    columns.push(column("all_requests_p999_microseconds", |row: &Row<'a>| {
        shown(row.load().and_then(|cell| cell.p999_microseconds))
    }));
    columns.extend(of_cold_start());
    columns.extend(spread("bytes_per_instance", |row: &Row<'a>| {
        row.density()?.bytes_per_instance
    }));
    columns
}

/// What every cell has.
fn of_any_cell<'a>() -> Vec<Column<Row<'a>>> {
    let count = |name: &str, of: fn(TrialCounts) -> u32| {
        column(format!("trials_{name}"), move |row: &Row<'a>| {
            of(row.cell().counts()).to_string()
        })
    };
    vec![
        column("variant", |row: &Row<'a>| quoted(row.cell().variant())),
        column("workload", |row: &Row<'a>| quoted(row.cell().workload())),
        column("sweep", |row: &Row<'a>| {
            sweep(row.cell().point()).to_owned()
        }),
        column("connections", |row: &Row<'a>| {
            shown(row.load().map(|cell| cell.connections))
        }),
        column("ranked", |row: &Row<'a>| row.cell().is_ranked().to_string()),
        column("invalid_because", |row: &Row<'a>| {
            let reasons = row.cell().invalid_because().iter();
            let reasons: Vec<&str> = reasons.map(|reason| (*reason).into()).collect();
            reasons.join(" ")
        }),
        count("planned", |counts| counts.planned),
        count("valid", |counts| counts.valid),
        count("invalid", |counts| counts.invalid),
        count("failed", |counts| counts.failed),
        count("skipped", |counts| counts.skipped),
        count("missing", |counts| counts.missing),
        count("repeated", |counts| counts.repeated),
    ]
}

fn of_load<'a>() -> Vec<Column<Row<'a>>> {
    let load = |name: &str, of: fn(&CellSummary) -> Option<String>| {
        column(name, move |row: &Row<'a>| {
            row.load().and_then(of).unwrap_or_default()
        })
    };
    let mut columns = vec![
        load("requests_failed", |cell| Some(cell.errors.to_string())),
        load("requests_per_trial_min", |cell| {
            Some(shown(cell.fewest_requests))
        }),
        load("p99_carried", |cell| Some(cell.p99_carried.to_string())),
        load("throttled_periods", |cell| {
            Some(shown(cell.throttled_periods))
        }),
        load("generator_cpu_share_of_node_max", |cell| {
            Some(shown(cell.generator_cpu_share_max))
        }),
    ];
    for (name, of_cell, of_trial) in NUMBERS {
        columns.extend(spread(name, move |row: &Row<'a>| of_cell(row.load()?)));
        let ends = move |row: &Row<'a>| extremes(&row.load()?.trials, of_trial);
        columns.push(column(format!("{name}_min"), move |row| {
            shown(ends(row).map(|(min, _)| min))
        }));
        columns.push(column(format!("{name}_max"), move |row| {
            shown(ends(row).map(|(_, max)| max))
        }));
    }
    columns.push(load("percent_of_peak", |cell| {
        Some(shown(cell.percent_of_peak))
    }));
    columns.push(load("achieved_share_min", |cell| {
        Some(cell.open_loop?.achieved_share_min.to_string())
    }));
    columns
}

fn of_cold_start<'a>() -> Vec<Column<Row<'a>>> {
    let pods = column("pods_at_once", |row: &Row<'a>| {
        shown(row.cold_start().map(|cell| cell.concurrency))
    });
    let listening = spread("listening_microseconds", |row: &Row<'a>| {
        let time = row.cold_start()?.create_to_listening.as_ref()?;
        Some(time.p50_microseconds)
    });
    let answer = spread("answer_microseconds", |row: &Row<'a>| {
        let time = row.cold_start()?.create_to_answer.as_ref()?;
        Some(time.p50_microseconds)
    });
    let makespan = spread("makespan_microseconds", |row: &Row<'a>| {
        row.cold_start()?.makespan_microseconds
    });
    let times = listening.into_iter().chain(answer).chain(makespan);
    std::iter::once(pods).chain(times).collect()
}

/// The three columns of a median and its interval.
fn spread<T>(name: &str, of: impl Fn(&T) -> Option<Spread> + Copy + 'static) -> [Column<T>; 3] {
    let part = |which: &str, part: fn(Spread) -> f64| {
        column(format!("{name}_{which}"), move |row: &T| {
            shown(of(row).map(part))
        })
    };
    [
        part("median", |spread| spread.median),
        part("low", |spread| spread.low),
        part("high", |spread| spread.high),
    ]
}

/// A number of a load: its name, its spread, and where trials have it.
type OfLoad = (
    &'static str,
    fn(&CellSummary) -> Option<Spread>,
    fn(&Metrics) -> Option<f64>,
);

const NUMBERS: [OfLoad; 6] = [
    ("requests_per_second", |cell| cell.rps, |trial| trial.rps),
    (
        "p50_microseconds",
        |cell| cell.p50_microseconds,
        |trial| trial.p50,
    ),
    (
        "p90_microseconds",
        |cell| cell.p90_microseconds,
        |trial| trial.p90,
    ),
    (
        "p99_microseconds",
        |cell| cell.p99_microseconds,
        |trial| trial.p99,
    ),
    (
        "cpu_microseconds_per_request",
        |cell| cell.cpu_microseconds_per_request,
        |trial| trial.cpu,
    ),
    (
        "memory_bytes",
        |cell| cell.memory_bytes,
        |trial| trial.memory.map(|bytes| bytes as f64),
    ),
];

/// A number of a load on a schedule: its name, and where it stands.
type Scheduled = (&'static str, fn(&OpenLoopSummary) -> Option<Spread>);

const SCHEDULED: [Scheduled; 6] = [
    ("peak_requests_per_second", |found| Some(found.peak_rps)),
    ("requested_requests_per_second", |found| {
        Some(found.requested_rps)
    }),
    ("schedule_p50_microseconds", |found| {
        Some(found.p50_microseconds)
    }),
    ("schedule_p99_microseconds", |found| {
        Some(found.p99_microseconds)
    }),
    ("schedule_p999_microseconds", |found| {
        found.p999_microseconds
    }),
    ("generator_late_p99_microseconds", |found| {
        Some(found.generator_p99_microseconds)
    }),
];

fn shown(number: Option<impl ToString>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

const fn sweep(point: Point) -> &'static str {
    match point {
        Point::ColdStart { .. } => "coldStart",
        Point::WarmLatency => "warmLatency",
        Point::Throughput { .. } => "throughput",
        Point::OpenLoop { .. } => "openLoop",
        Point::Density => "density",
    }
}

/// The point within its sweep: connections, pods at once or percent of the peak.
const fn at(point: Point) -> Option<u32> {
    match point {
        Point::ColdStart { concurrency } => Some(concurrency),
        Point::Throughput { connections } => Some(connections),
        Point::OpenLoop { percent_of_peak } => Some(percent_of_peak),
        Point::WarmLatency | Point::Density => None,
    }
}

/// The API allows no comma or quote in names, but a record is read from outside.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
