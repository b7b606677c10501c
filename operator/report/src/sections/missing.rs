//! What was not measured, and why.

use wasmbench_results::summary::Summary;

use crate::section::Section;
use crate::tables;

/// What variants cannot do by definition.
pub fn not_applicable(summary: &Summary) -> Option<Section> {
    let table = tables::not_applicable(summary);
    if table.is_empty() {
        return None;
    }
    let section = Section::new("Not applicable")
        .guide("Left out by definition: not tried, not a failure.")
        .captioned("What variants cannot do by definition", table);
    Some(section)
}

/// The trials that failed or were skipped.
pub fn not_measured(summary: &Summary) -> Option<Section> {
    const TITLE: &str = "Trials without a measurement";
    if summary.failures.is_empty() {
        return None;
    }
    let section = Section::new(TITLE)
        .captioned(TITLE, tables::failures(summary))
        .paragraphs(tables::failures_not_listed(summary));
    Some(section)
}
