//! The table of all trials.

use wasmbench_results::summary::Summary;

use crate::section::Section;
use crate::tables;

/// The first `rows` of `all` trials, and how many that leaves out.
pub fn trials(summary: &Summary, rows: usize, all: usize) -> Section {
    let mut section = Section::new("Every trial");
    if rows > 0 {
        section = section.table(tables::trials(summary, rows));
    }
    if rows < all {
        section = section.paragraph(format!(
            "{} of {all} trials are left out here: summary.json has the numbers of all, and the records have everything \
             that was measured.",
            all - rows
        ));
    }
    section
}
