//! Words that the tables of all sweeps share.

use wasmbench_results::judge::Verdict;
use wasmbench_results::measure::Metric;

use crate::table::ascii;

/// The mark of a measure that the run was to decide.
pub const PRIMARY: &str = "*";

/// The title of a column of ratios, with a mark if any of them is primary.
pub fn versus(baseline: &str, is_primary: bool) -> String {
    let mark = if is_primary { PRIMARY } else { "" };
    format!("VERSUS {baseline}{mark}")
}

/// A verdict of a status on `metric` in words, with a note if it is untrusted.
pub fn verdict(verdict: &str, metric: Metric, untrusted: Option<&str>) -> String {
    let words = words(verdict, metric);
    if untrusted.is_some() {
        words + ", untrusted"
    } else {
        words
    }
}

/// A verdict in words. An unknown one, from another version, is spelled out from its name:
/// `NotResolvable` as `not resolvable`.
fn words(verdict: &str, metric: Metric) -> String {
    if let Ok(verdict) = verdict.parse::<Verdict>() {
        return verdict.words(metric);
    }
    let mut words = String::new();
    for (index, letter) in verdict.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    ascii(&words)
}
