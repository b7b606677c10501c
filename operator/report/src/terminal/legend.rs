//! Explanations that appear once below all tables: how to read them.

use wasmbench_api::status::SummaryRow;

use crate::comparisons::{PAIRED, PRIMARY, of_status};
use crate::table::lines;

const DECIDES: &str =
    "Primary: what the run was to decide. Other ratios are secondary, and adjusted separately.";
const TILDE: &str = "~ marks a percentile that rests on single requests or pods.";
const MICROSECONDS: &str = "us: microseconds.";

/// The explanations that these tables need; empty if they need none.
pub fn legend(tables: &str, rows: &[SummaryRow]) -> String {
    let primary = format!("{PRIMARY} {DECIDES}");
    let mut ratios = rows.iter().flat_map(of_status);
    let all = [
        (ratios.any(|ratio| ratio.is_primary), primary.as_str()),
        (tables.contains("VERSUS "), PAIRED),
        (tables.contains('~'), TILDE),
        (tables.contains(" us"), MICROSECONDS),
    ];
    let occurring = all.iter().filter(|(occurs, _)| *occurs);
    let explanations = lines("", occurring.map(|(_, line)| line));
    if explanations.is_empty() {
        explanations
    } else {
        format!("\n{explanations}")
    }
}
