//! Explanations that appear once below all tables: how to read them.

use wasmbench_api::status::SummaryRow;

use super::words::PRIMARY;
use crate::table::lines;
use crate::versus_baseline::PAIRED;

const DECIDES: &str =
    "Primary: what the run was to decide. Other ratios are secondary, and corrected apart.";
const TILDE: &str = "~ marks a percentile that rests on single requests or pods.";
const MICROSECONDS: &str = "us: microseconds.";

/// The explanations that these tables need; empty if they need none.
pub fn legend(tables: &str, rows: &[SummaryRow]) -> String {
    let primary = format!("{PRIMARY} {DECIDES}");
    let all = [
        (rows.iter().any(decides), primary.as_str()),
        (tables.contains("VERSUS "), PAIRED),
        (tables.contains('~'), TILDE),
        (tables.contains(" us"), MICROSECONDS),
    ];
    let said = all.iter().filter(|(occurs, _)| *occurs);
    let said = lines("", said.map(|(_, line)| line));
    if said.is_empty() {
        said
    } else {
        format!("\n{said}")
    }
}

/// Whether any ratio of a row is primary.
fn decides(row: &SummaryRow) -> bool {
    let starts = row.cold_start.iter();
    let starts = starts.flat_map(|point| [&point.listening, &point.answer]);
    let mut starts = starts.filter_map(|time| time.as_ref()?.versus_baseline.as_ref());
    row.versus_baseline.iter().any(|ratio| ratio.primary)
        || starts.any(|ratio| ratio.primary)
        || row.open_loop.iter().any(|point| point.primary)
        || row.density.as_ref().is_some_and(|found| found.primary)
}
