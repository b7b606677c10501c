//! Whether a cell counts, for tables and statuses: the same words for all sweeps.

use wasmbench_model::units::truncate;
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::vocabulary::doubt::Reason;

/// The title of the column, which is next to the name.
pub const VALIDITY: &str = "Validity";
/// Longest list of reasons in a status.
const MAX_REASONS_CHARS: usize = 128;

/// `valid`, `INVALID: Throttled`, `not measured`. A table shows no numbers for an invalid cell.
pub fn standing(cell: AnyCell<'_>) -> String {
    match because(cell) {
        _ if cell.ranked => "valid".to_owned(),
        Some(reasons) => format!("INVALID: {reasons}"),
        None => "not measured".to_owned(),
    }
}

/// Why a cell is invalid, in words; `None` if there is no reason.
pub fn because(cell: AnyCell<'_>) -> Option<String> {
    text(cell.invalid_because)
}

/// The reasons, shortened for a status.
pub fn invalid(reasons: &[Reason]) -> Option<String> {
    Some(truncate(&text(reasons)?, MAX_REASONS_CHARS))
}

fn text(reasons: &[Reason]) -> Option<String> {
    let names: Vec<&str> = reasons.iter().map(|reason| (*reason).into()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
