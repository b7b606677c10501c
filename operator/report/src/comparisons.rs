//! Ratios to the baseline as one table, the same for all sweeps. The report takes them from a
//! summary, a terminal from a status.

mod of_status;
mod of_summary;

use wasmbench_api::status::SummaryRow;
use wasmbench_core::units;
use wasmbench_core::wire::record::Point;
use wasmbench_results::measure::Metric;
use wasmbench_results::summary::Summary;

use crate::sheet::Sheet;
use crate::table::Table;

pub use of_status::of_status;
use of_summary::of_summary;
pub use of_summary::place;

/// Why a ratio differs from the quotient of the medians in other tables.
pub const PAIRED: &str =
    "Ratios are paired within blocks: they need not be the quotients of the medians.";

/// The mark of a measure that the run was to decide.
pub const PRIMARY: &str = "*";

/// A ratio to the baseline, and what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// The metric; `None` for one of another version.
    pub metric: Option<Metric>,
    /// The point of the sweep; `None` where a status does not say.
    pub point: Option<Point>,
    /// Both in words.
    pub measure: String,
    /// Whether the run was to decide it.
    pub is_primary: bool,
    /// Name of the variant.
    pub variant: &'a str,
    /// The ratio.
    pub ratio: f64,
    /// The ends of its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// The difference with its interval, for a metric that is judged by it.
    pub difference: Option<String>,
    /// The verdict in words.
    pub verdict: String,
    /// The factor above 1 by which the baseline's twin may differ from it.
    pub noise_floor: Option<f64>,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// The ratio of each block; empty where they are not known.
    pub each_block: &'a [f64],
}

/// The ratios of one workload in a report.
pub fn report(summary: &Summary, workload: &str) -> Table {
    let rows = of_summary(summary, workload);
    table(rows, &summary.baseline, str::to_owned)
}

/// The ratios of one workload for a terminal.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> Table {
    let rows = rows.iter().flat_map(|row| of_status(row)).collect();
    table(rows, baseline, str::to_uppercase)
}

/// The table of `rows`, with each title as `title` writes it: first what the run was to decide, then
/// by metric and point.
fn table(mut rows: Vec<Row<'_>>, baseline: &str, title: fn(&str) -> String) -> Table {
    rows.sort_by_key(|row| (!row.is_primary, row.metric, row.point));
    let decides = |row: &Row<'_>| if row.is_primary { PRIMARY } else { "" };
    Sheet::of(rows)
        .left(title("Versus ") + baseline, move |row| {
            row.measure.clone() + decides(row)
        })
        .left(title("Variant"), |row| row.variant)
        .right(title("Ratio"), |row| units::ratio(row.ratio))
        .right(title("Interval"), |row| {
            let (low, high) = row.interval?;
            let (low, high) = (units::ratio_number(low), units::ratio_number(high));
            Some(format!("{low}-{high}"))
        })
        .right(title("Difference"), |row| row.difference.clone())
        .left(title("Verdict"), |row| row.verdict.clone())
        .right(title("Noise floor"), |row| {
            row.noise_floor.map(units::excess)
        })
        .right(title("Blocks"), |row| {
            (row.blocks > 0).then_some(row.blocks)
        })
        .right(title("Each block"), |row| {
            let each = row.each_block.iter();
            let each: Vec<String> = each.map(|ratio| units::ratio_number(*ratio)).collect();
            (!each.is_empty()).then(|| each.join(" "))
        })
        .table()
}
