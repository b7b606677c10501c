//! The numbers of loads.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::status::{PointSummary, SummaryRow};
use wasmbench_model::units::{self, marked, truncate};
use wasmbench_model::wire::request::{DEFAULT_REQUESTS, LEAST_SECONDS, MOST_SECONDS};
use wasmbench_results::read::trial;

use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::with_mark;

/// Longest list of the invalid points of a row.
const MAX_INVALID_CHARS: usize = 160;

/// The number of requests in a warm trial, as far as the status shows: those requested (by default
/// `DEFAULT_REQUESTS`, or fewer if the rate gives fewer in the longest window), but at least as
/// many as the rate gives in the shortest window.
fn warm_requests(spec: &BenchmarkRunSpec, point: Option<&PointSummary>) -> u64 {
    let in_seconds = |seconds| requests_in(seconds, point);
    let requested = spec.sweeps.warm_latency.and_then(|warm| warm.requests);
    let default = || in_seconds(MOST_SECONDS).min(DEFAULT_REQUESTS.into());
    requested
        .map_or_else(default, u64::from)
        .max(in_seconds(LEAST_SECONDS))
}

/// The number of requests in a trial at `point`, as far as the status shows: its rate over the
/// planned time.
fn loaded_requests(spec: &BenchmarkRunSpec, point: Option<&PointSummary>) -> u64 {
    let throughput = spec.sweeps.throughput.as_ref();
    requests_in(throughput.map_or(0, |sweep| sweep.duration_seconds), point)
}

fn requests_in(seconds: u32, point: Option<&PointSummary>) -> u64 {
    let requests = point.map_or(0.0, |point| point.rps * f64::from(seconds));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rates are positive, and the cast saturates"
    )]
    let requests = requests as u64;
    requests
}

/// The loads of one workload for a terminal; empty without any. Invalid points have no numbers.
pub fn terminal(rows: &[&SummaryRow], baseline: &str, spec: &BenchmarkRunSpec) -> Table {
    let warm = |row: &SummaryRow| warm(row).cloned();
    let p50 = |point: Option<PointSummary>| Some(units::micros(point?.p50_microseconds));
    let p99 = |point: Option<PointSummary>, requests: u64| {
        let p99 = units::micros(point?.p99_microseconds);
        Some(marked(p99, trial::carries(requests, 100)))
    };
    let has_loads = |row: &&SummaryRow| row.warm_latency.is_some() || row.throughput.is_some();
    let rows = if rows.iter().any(has_loads) {
        rows
    } else {
        &[]
    };
    Sheet::new(rows)
        .left("VARIANT", |row| with_mark(&row.variant, baseline))
        .right("WARM P50", |row| p50(warm(row)))
        .right("WARM P99", |row| {
            let point = warm(row);
            p99(point.clone(), warm_requests(spec, point.as_ref()))
        })
        .right("PEAK REQ/S", |row| {
            row.throughput.as_ref()?.peak_rps.map(units::rate)
        })
        .right("CONNS", |row| {
            let connections = row.throughput.as_ref()?.at_connections?;
            Some(connections.to_string())
        })
        .right("P50", |row| p50(peak(row)))
        .right("P99", |row| {
            p99(peak(row), loaded_requests(spec, peak(row).as_ref()))
        })
        .right("CPU/REQ", |row| {
            let used = resources(row)?.cpu_microseconds_per_request;
            used.map(units::micros)
        })
        .right("PER CORE", |row| {
            let used = peak(row)?.cpu_microseconds_per_request?;
            (used > 0.0).then(|| units::rate(1e6 / used))
        })
        .right("MEMORY", |row| {
            let bytes = resources(row)?.memory_bytes;
            bytes.map(|bytes| units::bytes(bytes as f64))
        })
        .right("REQ/CONN", |row| {
            let carried = peak(row)?.requests_per_connection;
            carried.map(units::amount)
        })
        .left("INVALID", |row| invalid(row))
        .table()
}

fn peak(row: &SummaryRow) -> Option<PointSummary> {
    let throughput = row.throughput.as_ref()?;
    let mut points = throughput.points.iter();
    let at = throughput.at_connections;
    points.find(|point| Some(point.connections) == at).cloned()
}

/// The resources of the loaded subject, or of the warm one only if there was no load: where no load
/// is valid, the warm one must not stand in for it.
fn resources(row: &SummaryRow) -> Option<PointSummary> {
    if row.throughput.is_some() {
        peak(row)
    } else {
        warm(row).cloned()
    }
}

fn warm(row: &SummaryRow) -> Option<&PointSummary> {
    let point = row.warm_latency.as_ref();
    point.filter(|point| point.invalid.is_none())
}

/// Which points of a row are invalid, and why: `warm: NodeNoisy; at 10, 50 connections: Throttled`.
fn invalid(row: &SummaryRow) -> Option<String> {
    let warm = row
        .warm_latency
        .iter()
        .filter_map(|point| Some(format!("warm: {}", point.invalid.as_ref()?)));
    let mut loaded: Vec<(&str, Vec<String>)> = vec![];
    for point in row.throughput.iter().flat_map(|load| &load.points) {
        let Some(reason) = point.invalid.as_deref() else {
            continue;
        };
        let connections = point.connections.to_string();
        match loaded.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, all)) => all.push(connections),
            None => loaded.push((reason, vec![connections])),
        }
    }
    let loaded = loaded.into_iter().map(|(reason, connections)| {
        format!("at {} connections: {reason}", connections.join(", "))
    });
    let all: Vec<String> = warm.chain(loaded).collect();
    (!all.is_empty()).then(|| truncate(&all.join("; "), MAX_INVALID_CHARS))
}
