//! Turns a summary into the rows of a run's status. Numbers are those of the summary, digit by
//! digit: if they were rounded again, they would differ from those in the report.

use wasmbench_api::status::{Knee, PointSummary, Ratio, SummaryRow, ThroughputSummary};
use wasmbench_model::wire::record::Point;
use wasmbench_report::validity::invalid;
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::cells::coldstart::ColdStartCell;
use wasmbench_results::cells::curve::{knee, peak};
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::counts::TrialCounts;
use wasmbench_results::vocabulary::measure::Sweep;

use crate::status::judged::judged;
use crate::status::{capacity, cold_start, density, open_loop, payload};

/// One row per variant and workload that was tried, by variant in the order of the spec.
///
/// A point without a measurement is left out: the failures are in the report.
pub fn status_rows(summary: &Summary) -> Vec<SummaryRow> {
    let mut rows = vec![];
    for variant in &summary.compared.variants {
        for workload in &summary.compared.workloads {
            rows.extend(row(summary, &variant.name, &workload.name));
        }
    }
    rows
}

fn row(summary: &Summary, variant: &str, workload: &str) -> Option<SummaryRow> {
    let is_tried = |cell: AnyCell<'_>| {
        let TrialCounts {
            missing, planned, ..
        } = cell.counts;
        cell.is_of(variant, workload) && missing < planned
    };
    let loads = summary.cells.iter().filter(|cell| is_tried(cell.any()));
    let loads: Vec<&LoadCell> = loads.collect();
    let starts = summary
        .cold_starts
        .iter()
        .filter(|cell| is_tried(cell.any()));
    let starts: Vec<&ColdStartCell> = starts.collect();
    let mut climbs = summary.density.iter().filter(|cell| is_tried(cell.any()));
    let density = climbs.find_map(|cell| density::status(summary, cell));
    let mut ladders = summary.capacity.iter().filter(|cell| is_tried(cell.any()));
    let capacity = ladders.find_map(|cell| capacity::status(summary, cell));
    let mut bodies = summary.payload.iter().filter(|cell| is_tried(cell.any()));
    let payload = bodies.find_map(payload::status);
    let has_no_other = density.is_none() && capacity.is_none() && payload.is_none();
    if loads.is_empty() && starts.is_empty() && has_no_other {
        return None;
    }
    let mut warm = loads
        .iter()
        .filter(|cell| cell.detail.sweep == Sweep::WarmLatency);
    // Ratios of other sweeps stand at their points.
    let ratios = summary.comparisons.iter().filter(|one| {
        let is_of_row = matches!(
            one.point,
            Point::WarmLatency | Point::Throughput { .. } | Point::Payload
        );
        is_of_row && one.variant == variant && one.workload == workload
    });
    Some(SummaryRow {
        variant: variant.to_owned(),
        workload: workload.to_owned(),
        cold_start: cold_start::points(summary, &starts),
        open_loop: open_loop::points_of_row(summary, &loads),
        capacity,
        payload,
        density,
        warm_latency: warm.next().and_then(|cell| point(cell)),
        throughput: throughput(summary, &loads),
        versus_baseline: ratios.map(ratio).collect(),
    })
}

/// The peak, the knee, the point at which variants are compared, and invalid points. The report has
/// the whole curve.
fn throughput(summary: &Summary, cells: &[&LoadCell]) -> Option<ThroughputSummary> {
    let first = cells.first()?;
    let (variant, workload) = (&first.variant, &first.workload);
    let best = peak(&summary.cells, variant, workload);
    let bend = knee(&summary.cells, variant, workload);
    let compared = knee(&summary.cells, &summary.baseline, workload);
    let kept = [best, bend, compared].map(|cell| Some(cell?.detail.connections));
    let points = cells
        .iter()
        .filter(|cell| cell.detail.sweep == Sweep::Throughput)
        .filter(|cell| !cell.ranked || kept.contains(&Some(cell.detail.connections)));
    let points: Vec<PointSummary> = points.filter_map(|cell| point(cell)).collect();
    (!points.is_empty()).then(|| ThroughputSummary {
        peak_rps: best.and_then(|best| Some(best.detail.rps?.median)),
        at_connections: best.map(|best| best.detail.connections),
        knee: bend.and_then(|cell| {
            Some(Knee {
                connections: cell.detail.connections,
                rps: cell.detail.rps?.median,
            })
        }),
        points,
    })
}

fn point(cell: &LoadCell) -> Option<PointSummary> {
    let median = |spread: Option<Spread>| spread.map(|spread| spread.median);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "bytes of memory are below 2^53"
    )]
    let memory_bytes = median(cell.detail.memory_bytes).map(|bytes| bytes as i64);
    Some(PointSummary {
        connections: cell.detail.connections,
        trials: cell.counts.valid,
        failed_trials: cell.counts.unused(),
        invalid: invalid(&cell.invalid_because),
        rps: median(cell.detail.rps)?,
        p50_microseconds: median(cell.detail.p50_microseconds)?,
        p90_microseconds: median(cell.detail.p90_microseconds)?,
        p99_microseconds: median(cell.detail.p99_microseconds)?,
        cpu_microseconds_per_request: median(cell.detail.cpu_microseconds_per_request),
        memory_bytes,
        requests_per_connection: cell
            .detail
            .traffic
            .as_ref()
            .and_then(|traffic| median(traffic.requests_per_connection)),
    })
}

fn ratio(found: &Comparison) -> Ratio {
    Ratio {
        metric: <&str>::from(found.metric).to_owned(),
        judged: judged(found),
    }
}
