//! Summary to the rows of a run's status. Numbers are those of the summary, digit by digit: rounded
//! again they would be shown otherwise here than in the report.

use wasmbench_api::status::{Knee, PointSummary, Ratio, SummaryRow, ThroughputSummary};
use wasmbench_core::units::cut;
use wasmbench_results::cell::CellSummary;
use wasmbench_results::comparison::Comparison;
use wasmbench_results::curve::{knee, peak};
use wasmbench_results::doubt::Reason;
use wasmbench_results::measure::Sweep;
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;
use wasmbench_results::trial::{Trial, TrialState};

use crate::open_loop;
use crate::tables::of_loads;

/// Longest list of reasons in status.
const MAX_REASONS_CHARS: usize = 128;

/// One row per variant and workload that was tried, by variant in the order of the spec.
///
/// A point without a measurement is left out: the failures are in the report.
pub fn status_rows(summary: &Summary) -> Vec<SummaryRow> {
    let mut rows = vec![];
    for variant in &summary.compared.variants {
        for workload in &summary.compared.workloads {
            let of_both = |v: &str, w: &str| v == variant.name && w == workload.name;
            let cells: Vec<&CellSummary> = summary
                .cells
                .iter()
                .filter(|c| of_both(&c.variant, &c.workload))
                .collect();
            if cells
                .iter()
                .all(|cell| cell.counts.missing == cell.counts.planned)
            {
                continue;
            }
            // Those of other sweeps stand at their points.
            let ratios = summary.comparisons.iter();
            let ratios =
                ratios.filter(|c| of_both(&c.variant, &c.workload) && of_loads().any(|metric| metric == c.metric));
            rows.push(SummaryRow {
                variant: variant.name.clone(),
                workload: workload.name.clone(),
                cold_start: vec![],
                open_loop: open_loop::rows(summary, &cells),
                density: None,
                warm_latency: cells
                    .iter()
                    .find(|cell| cell.sweep == Sweep::WarmLatency)
                    .and_then(|cell| point(cell)),
                throughput: throughput(summary, &cells),
                versus_baseline: ratios.map(ratio).collect(),
            });
        }
    }
    rows
}

fn throughput(summary: &Summary, cells: &[&CellSummary]) -> Option<ThroughputSummary> {
    let points = cells.iter().filter(|cell| cell.sweep == Sweep::Throughput);
    let points: Vec<PointSummary> = points.filter_map(|cell| point(cell)).collect();
    let first = cells.first()?;
    let (variant, workload) = (&first.variant, &first.workload);
    let best = peak(&summary.cells, variant, workload);
    (!points.is_empty()).then(|| ThroughputSummary {
        peak_rps: best.and_then(|best| Some(best.rps?.median)),
        at_connections: best.map(|best| best.connections),
        knee: knee(&summary.cells, variant, workload).and_then(|cell| {
            Some(Knee {
                connections: cell.connections,
                rps: cell.rps?.median,
            })
        }),
        points,
    })
}

fn point(cell: &CellSummary) -> Option<PointSummary> {
    let median = |spread: Option<Spread>| spread.map(|spread| spread.median);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "bytes of memory are below 2^53"
    )]
    let memory_bytes = median(cell.memory_bytes).map(|bytes| bytes as i64);
    Some(PointSummary {
        connections: cell.connections,
        trials: cell.counts.valid,
        failed_trials: unused(cell),
        invalid: invalid(&cell.invalid_because),
        rps: median(cell.rps)?,
        p50_microseconds: median(cell.p50_microseconds)?,
        p90_microseconds: median(cell.p90_microseconds)?,
        p99_microseconds: median(cell.p99_microseconds)?,
        cpu_microseconds_per_request: median(cell.cpu_microseconds_per_request),
        memory_bytes,
    })
}

/// Trials that are not part of a point's numbers.
pub fn unused(cell: &CellSummary) -> u32 {
    let unused = |trial: &&Trial| trial.state != TrialState::Valid;
    u32::try_from(cell.trials.iter().filter(unused).count()).unwrap_or(u32::MAX)
}

/// Why a point is invalid, in one text.
pub fn invalid(reasons: &[Reason]) -> Option<String> {
    let reasons = reasons.iter();
    let reasons: Vec<&str> = reasons.map(|reason| (*reason).into()).collect();
    (!reasons.is_empty()).then(|| cut(&reasons.join(", "), MAX_REASONS_CHARS))
}

fn ratio(comparison: &Comparison) -> Ratio {
    Ratio {
        metric: <&str>::from(comparison.metric).to_owned(),
        primary: comparison.primary,
        ratio: comparison.estimate.ratio,
        low: comparison.estimate.low,
        high: comparison.estimate.high,
        noise_floor: comparison.noise_floor,
        verdict: <&str>::from(comparison.verdict).to_owned(),
        untrusted: invalid(&comparison.untrusted),
        blocks: comparison.estimate.blocks,
    }
}
