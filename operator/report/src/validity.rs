//! Whether a cell counts, in a table and in a status: the same words for all sweeps.

use wasmbench_core::units::cut;
use wasmbench_results::any_cell::AnyCell;
use wasmbench_results::doubt::Reason;

/// The head of the column, which stands beside the name.
pub const VALIDITY: &str = "Validity";
/// Longest list of reasons in status.
const MAX_REASONS_CHARS: usize = 128;

/// `valid`, `INVALID: Throttled`, `not measured`. Of what is not valid a table shows no number.
pub fn standing(cell: &dyn AnyCell) -> String {
    match because(cell) {
        _ if cell.is_ranked() => "valid".to_owned(),
        Some(reasons) => format!("INVALID: {reasons}"),
        None => "not measured".to_owned(),
    }
}

/// What speaks against a cell, in words; `None` of nothing.
pub fn because(cell: &dyn AnyCell) -> Option<String> {
    words(cell.invalid_because())
}

/// The same as short as a status has it.
pub fn invalid(reasons: &[Reason]) -> Option<String> {
    Some(cut(&words(reasons)?, MAX_REASONS_CHARS))
}

fn words(reasons: &[Reason]) -> Option<String> {
    let words: Vec<&str> = reasons.iter().map(|reason| (*reason).into()).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
