//! What was compared, and how it was measured.

use wasmbench_results::summary::Summary;

use crate::overview::repetition;
use crate::section::Section;
use crate::sheet::Sheet;
use crate::tables;

const TITLE: &str = "What was compared";

/// All of it.
pub fn compared(summary: &Summary) -> Section {
    let workloads = Sheet::new(&summary.compared.workloads)
        .left("Workload", |workload| workload.name.clone())
        .left("Request", |workload| workload.what.clone())
        .table();
    let sweeps = summary
        .compared
        .sweeps
        .iter()
        .cloned()
        .chain([repetition(summary)]);
    Section::new(TITLE)
        .table(tables::variants(summary))
        .table(workloads)
        .list(sweeps.chain(summary.compared.twin.clone()))
}

/// The same on a page, where each workload has a section of its own.
pub fn in_short(summary: &Summary) -> Section {
    let sweeps = summary
        .compared
        .sweeps
        .iter()
        .cloned()
        .chain(summary.compared.twin.clone());
    Section::new(TITLE)
        .captioned("Variants", tables::variants(summary))
        .list(sweeps.chain([repetition(summary)]))
}
