//! Whether a cell counts, in a table: the same words for all sweeps.

use wasmbench_results::any_cell::AnyCell;
use wasmbench_results::doubt::Reason;

/// The head of the column, which stands beside the name.
pub const VALIDITY: &str = "Validity";

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
    let reasons = cell.invalid_because().iter();
    let reasons: Vec<&str> = reasons.map(|reason: &Reason| (*reason).into()).collect();
    (!reasons.is_empty()).then(|| reasons.join(", "))
}
