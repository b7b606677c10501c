//! Ratios to the baseline as one table, the same for all sweeps. The report takes them from a
//! summary, a terminal from a status.

mod columns;
mod of_status;
mod of_summary;
mod row;

use wasmbench_api::status::SummaryRow;
use wasmbench_results::summary::Summary;

use self::columns::table;
pub use self::columns::{PRIMARY, each_block};
pub use self::of_status::of_status;
use self::of_summary::of_summary;
pub use self::of_summary::place;
use crate::table::Table;

/// Why a ratio differs from the quotient of the medians in other tables.
pub const PAIRED: &str =
    "Ratios are paired within blocks: they need not be the quotients of the medians.";

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
