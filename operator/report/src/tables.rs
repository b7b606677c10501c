//! The tables of a report: ratios, points and trials.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use wasmbench_api::status::NotApplicable;
use wasmbench_core::units::{self, NOTHING, cut, marked};
use wasmbench_core::wire::record::Point;
use wasmbench_results::cell::CellSummary;
use wasmbench_results::comparison::Comparison;
use wasmbench_results::curve::knee;
use wasmbench_results::measure::{Metric, Sweep};
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::trial::{Discarded, Trial, TrialState};

use crate::table::{Align, Table};

/// Longest message in a report; `summary.json` has more of it.
const MAX_SHOWN_CHARS: usize = 256;

/// What variants cannot do by their definition.
pub fn not_applicable(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("What", Align::Left),
        ("Because", Align::Left),
    ]);
    for left_out in &summary.not_applicable {
        let NotApplicable {
            variant,
            what,
            reason,
        } = left_out.clone();
        table.row(&[variant, what, reason]);
    }
    table
}

/// The variants with what ran as each.
pub fn variants(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("What", Align::Left),
        ("RuntimeClass", Align::Left),
        ("Image", Align::Left),
    ]);
    let joined = |set: Option<&BTreeSet<String>>| {
        let all: Vec<&str> = set.into_iter().flatten().map(String::as_str).collect();
        if all.is_empty() {
            NOTHING.to_owned()
        } else {
            all.join(", ")
        }
    };
    for variant in &summary.compared.variants {
        let images = summary
            .environment
            .variants
            .iter()
            .find(|i| i.variant == variant.name);
        let ids = images.map(|i| {
            if i.image_ids.is_empty() {
                &i.images
            } else {
                &i.image_ids
            }
        });
        table.row(&[
            with_mark(&variant.name, &summary.baseline),
            variant.what.clone(),
            joined(images.map(|i| &i.runtime_classes)),
            joined(ids),
        ]);
    }
    table.drop_columns_of(NOTHING);
    table
}

/// What loads are compared by, in the order of the columns.
pub const OF_LOADS: [Metric; 4] = [
    Metric::ThroughputRps,
    Metric::WarmP50,
    Metric::CpuPerRequest,
    Metric::Memory,
];

/// Ratios of loads to the baseline under one workload, one row per variant that could be compared.
pub fn ratios(summary: &Summary, workload: &str) -> Table {
    let mut header = vec![("Variant", Align::Left)];
    header.extend(OF_LOADS.map(|metric| (metric.measure().title, Align::Right)));
    header.extend([("Connections", Align::Right), ("Blocks", Align::Right)]);
    let mut table = Table::new(&header);
    for variant in &summary.compared.variants {
        let found = |metric: Metric| {
            summary
                .comparisons
                .iter()
                .find(|c| c.metric == metric && c.variant == variant.name && c.workload == workload)
        };
        let found = OF_LOADS.map(found);
        let Some(fewest) = found.iter().flatten().map(|c| c.estimate.blocks).min() else {
            continue;
        };
        let connections = found.iter().flatten().find_map(|c| match c.point {
            Point::Throughput { connections } => Some(connections.to_string()),
            Point::WarmLatency
            | Point::OpenLoop { .. }
            | Point::ColdStart { .. }
            | Point::Density => None,
        });
        let mut row = vec![variant.name.clone()];
        row.extend(found.map(|one| one.map_or_else(|| NOTHING.to_owned(), Comparison::words)));
        row.push(connections.unwrap_or_else(|| NOTHING.to_owned()));
        row.push(fewest.to_string());
        table.row(&row);
    }
    table.drop_columns_of(NOTHING);
    table
}

/// The baseline against its twin under one workload, one row per measure.
pub fn noise_floor(summary: &Summary, workload: &str) -> Table {
    let mut table = Table::new(&[
        ("Metric", Align::Left),
        ("Twin", Align::Right),
        ("Interval", Align::Right),
        ("Floor", Align::Right),
    ]);
    let floors = summary.noise_floors.iter();
    for floor in floors.filter(|floor| floor.workload == workload) {
        let interval = floor.estimate.interval_words();
        table.row(&[
            floor.metric.at(floor.point),
            units::ratio(floor.estimate.ratio),
            interval.unwrap_or_else(|| NOTHING.to_owned()),
            floor
                .factor
                .map_or_else(|| NOTHING.to_owned(), units::excess),
        ]);
    }
    table
}

/// The name of a variant, marked when it is the baseline.
pub fn with_mark(variant: &str, baseline: &str) -> String {
    let mark = if variant == baseline {
        " (baseline)"
    } else {
        ""
    };
    format!("{variant}{mark}")
}

/// The points of one workload, one row per variant and sweep point.
pub fn points(summary: &Summary, workload: &str) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Sweep", Align::Left),
        ("Connections", Align::Right),
        ("Valid", Align::Right),
        ("Requests/s", Align::Right),
        ("Interval", Align::Right),
        ("p50", Align::Right),
        ("Interval", Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("p99.9", Align::Right),
        ("CPU/request", Align::Right),
        ("Memory", Align::Right),
        ("Generator CPU", Align::Right),
        ("Of ceiling", Align::Right),
        ("Point", Align::Left),
    ]);
    for cell in summary
        .cells
        .iter()
        .filter(|cell| cell.workload == workload && cell.sweep != Sweep::OpenLoop)
    {
        let knee = knee(&summary.cells, &cell.variant, workload);
        table.row(&point(cell, knee));
    }
    table.drop_columns_of(NOTHING);
    table
}

fn point(cell: &CellSummary, knee: Option<&CellSummary>) -> Vec<String> {
    let median = |spread: Option<Spread>, unit: fn(f64) -> String| {
        spread.map_or_else(|| NOTHING.to_owned(), |spread| unit(spread.median))
    };
    let interval = |spread: Option<Spread>, unit: fn(f64) -> String| match spread {
        Some(spread) if cell.counts.valid > 1 => {
            format!("{} to {}", unit(spread.low), unit(spread.high))
        }
        _ => NOTHING.to_owned(),
    };
    let p90 = median(cell.p90_microseconds, units::micros);
    let p99 = median(cell.p99_microseconds, units::micros);
    vec![
        cell.variant.clone(),
        sweep_name(cell.sweep).to_owned(),
        cell.connections.to_string(),
        format!("{}/{}", cell.counts.valid, cell.counts.planned),
        median(cell.rps, units::rate),
        interval(cell.rps, units::rate),
        median(cell.p50_microseconds, units::micros),
        interval(cell.p50_microseconds, units::micros),
        marked(p90, cell.p90_carried()),
        marked(p99, cell.p99_carried),
        cell.p999_microseconds
            .map_or_else(|| NOTHING.to_owned(), units::micros),
        median(cell.cpu_microseconds_per_request, units::micros),
        median(cell.memory_bytes, units::bytes),
        cell.generator_cpu_share_max
            .map_or_else(|| NOTHING.to_owned(), units::percent),
        of_ceiling(cell).map_or_else(|| NOTHING.to_owned(), units::percent),
        standing(cell, knee),
    ]
}

/// Little's law at the knee: connections = rate x mean latency.
fn at_knee(cell: &CellSummary) -> String {
    let busy = cell.connections_busy.map(units::percent);
    busy.map_or_else(
        || "valid, knee".to_owned(),
        |busy| format!("valid, knee ({busy} of the connections busy)"),
    )
}

/// The rate as a share of what the load generator reaches when answers cost nothing.
fn of_ceiling(cell: &CellSummary) -> Option<f64> {
    Some(cell.rps?.median / cell.generator_ceiling_rps?)
}

/// Where the point stands on the curve. Beyond the knee the queue grows and the rate hardly does:
/// these points are shown, and nothing is compared there.
fn standing(cell: &CellSummary, knee: Option<&CellSummary>) -> String {
    let knee = knee.filter(|knee| knee.sweep == cell.sweep);
    let from_knee = knee.map(|knee| cell.connections.cmp(&knee.connections));
    let reasons: Vec<&str> = cell
        .invalid_because
        .iter()
        .map(|reason| (*reason).into())
        .collect();
    match (cell.ranked, cell.counts.valid, reasons.is_empty()) {
        (true, ..) if from_knee == Some(Ordering::Equal) => at_knee(cell),
        (true, ..) if from_knee == Some(Ordering::Greater) => "valid, beyond the knee".to_owned(),
        (true, ..) => "valid".to_owned(),
        (false, _, false) => format!("INVALID: {}", reasons.join(", ")),
        (false, ..) => "not measured".to_owned(),
    }
}

/// The sweep in a table.
pub fn sweep_name(sweep: Sweep) -> &'static str {
    match sweep {
        Sweep::WarmLatency => "warm",
        Sweep::Throughput => "throughput",
        Sweep::OpenLoop => "open loop",
    }
}

/// The first `limit` trials with their numbers, by cell and block.
pub fn trials(summary: &Summary, limit: usize) -> Table {
    let mut table = Table::new(&[
        ("Trial", Align::Left),
        ("Order", Align::Right),
        ("State", Align::Left),
        ("Requests", Align::Right),
        ("Failed", Align::Right),
        ("Requests/s", Align::Right),
        ("p50", Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("From schedule", Align::Right),
        ("CPU/request", Align::Right),
        ("Memory", Align::Right),
        ("Generator CPU", Align::Right),
        ("Others' CPU", Align::Right),
        ("Thrown away", Align::Left),
    ]);
    let all = summary
        .cells
        .iter()
        .flat_map(|cell| cell.trials.iter().map(move |t| (cell, t)));
    for (cell, trial) in all.take(limit) {
        table.row(&trial_row(cell, trial));
    }
    table.drop_columns_of(NOTHING);
    table
}

fn trial_row(cell: &CellSummary, trial: &Trial) -> Vec<String> {
    let m = &trial.metrics;
    let number = |value: Option<f64>, unit: fn(f64) -> String| {
        value.map_or_else(|| NOTHING.to_owned(), unit)
    };
    // Nobody counted the requests of a trial without a measurement.
    let is_measured = matches!(trial.state, TrialState::Valid | TrialState::Invalid);
    let is_counted = is_measured || m.requests + m.errors > 0;
    let count = |requests: u64| {
        let counted = is_counted.then(|| requests.to_string());
        counted.unwrap_or_else(|| NOTHING.to_owned())
    };
    let point = match cell.sweep {
        Sweep::WarmLatency => "warm".to_owned(),
        Sweep::Throughput => format!("c{}", cell.connections),
        Sweep::OpenLoop => format!("open-p{}", cell.percent_of_peak.unwrap_or_default()),
    };
    let state = match (&trial.reason, trial.state) {
        (_, TrialState::Valid) | (None, _) => <&str>::from(trial.state).to_owned(),
        (Some(reason), state) => format!("{}: {reason}", <&str>::from(state)),
    };
    vec![
        format!(
            "{}/{}/{point}/b{}",
            cell.variant, cell.workload, trial.block
        ),
        (trial.position + 1).to_string(),
        state,
        count(m.requests),
        count(m.errors),
        number(m.rps, units::rate),
        number(m.p50, units::micros),
        number(m.p90, units::micros),
        number(m.p99, units::micros),
        number(
            m.open_loop.map(|times| times.p99_microseconds),
            units::micros,
        ),
        number(m.cpu, units::micros),
        number(m.memory.map(|bytes| bytes as f64), units::bytes),
        number(m.generator_cpu_share, units::percent),
        number(m.others_cpu_share, units::percent),
        m.discarded
            .map_or_else(|| NOTHING.to_owned(), |window| thrown_away(&window)),
    ]
}

/// `39.2k/s: 28 % used by others`.
fn thrown_away(window: &Discarded) -> String {
    let rate = window.rps.map_or_else(|| NOTHING.to_owned(), units::rate);
    format!("{rate}/s: {}", window.noise.words())
}

/// Distinct reasons for trials without a measurement, the most frequent first.
pub fn failures(summary: &Summary) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Reason", Align::Left),
        ("Failed", Align::Right),
        ("Skipped", Align::Right),
        ("First trial", Align::Left),
        ("Message", Align::Left),
    ]);
    for group in &summary.failures {
        table.row(&[
            group.variant.clone(),
            group.reason.clone(),
            group.failed.to_string(),
            group.skipped.to_string(),
            group.first.clone(),
            cut(&group.message, MAX_SHOWN_CHARS),
        ]);
    }
    table
}

/// What the table leaves out, in a sentence; `None` when it leaves out nothing.
pub fn failures_not_listed(summary: &Summary) -> Option<String> {
    let more = summary.failures_not_listed;
    (more > 0).then(|| format!("{more} more trials for other reasons: see the records."))
}
