//! The ratios of a summary.

use wasmbench_model::wire::record::Point;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::{Measured as _, Metric};

use crate::comparisons::row::Row;

/// The ratios of one workload.
pub fn of_summary<'a>(summary: &'a Summary, workload: &str) -> Vec<Row<'a>> {
    summary
        .comparisons
        .iter()
        .filter(|one| one.workload == workload)
        .map(row)
        .collect()
}

/// What the name of a metric at a point leaves out of the point.
pub fn place(metric: Metric, point: Point) -> String {
    match point {
        Point::Throughput { connections } => format!(" at {connections} connections"),
        Point::WarmLatency if metric != Metric::WarmP50 => " (warm)".to_owned(),
        Point::WarmLatency
        | Point::OpenLoop { .. }
        | Point::ColdStart { .. }
        | Point::Capacity
        | Point::Payload
        | Point::Density
        | Point::Scout => String::new(),
    }
}

fn row(found: &Comparison) -> Row<'_> {
    let unit = found.metric.measure().unit;
    Row {
        metric: found.metric,
        point: Some(found.point),
        measure: found.metric.at(found.point) + &place(found.metric, found.point),
        is_primary: found.primary,
        lead: found.lead(),
        variant: &found.variant,
        ratio: found.estimate.stated(),
        bound: found.estimate.bound,
        interval: found.estimate.ends(),
        difference: found
            .judged_difference()
            .map(|difference| difference.text(unit)),
        verdict: found.verdict.text(found.metric) + found.mark(),
        noise_floor: found.noise_floor,
        blocks: found.estimate.blocks,
        each_block: &found.estimate.per_block,
    }
}
