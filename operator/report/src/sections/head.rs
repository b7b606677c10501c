//! The run in words: what it found, whether to trust it, and how it was measured.

use wasmbench_results::summary::Summary;
use wasmbench_results::summary::{trust, words};

use crate::overview::{facts, overview};
use crate::section::{Section, Text};

/// The head of `report.md`.
pub fn head(summary: &Summary) -> Section {
    let tally = trust::tally_text(summary).map_or_else(String::new, |tally| format!("{tally} "));
    let (trust, more) = trustworthy(summary);
    let label = Text::from("Trustworthy: ");
    let answer = match summary.trustworthy {
        Some(false) => label.strong(trust),
        Some(true) | None => label.plain(trust),
    };
    let text = answer.plain(format!("{more}. {tally}{}", words::trials(summary.trials)));
    Section::new(format!("{}/{}", summary.run.namespace, summary.run.name))
        .verdict(&summary.verdict)
        .list(overview(summary))
        .paragraph(text)
        .paragraphs(facts(summary))
}

/// The same below the first screen of a page, which has the rest.
pub fn in_words(summary: &Summary) -> Section {
    let (trust, more) = trustworthy(summary);
    let trials = words::trials(summary.trials);
    let baseline = &summary.baseline;
    Section::new("In words")
        .verdict(&summary.verdict)
        .paragraph(format!(
            "Trustworthy: {trust}{more}. {trials} Baseline: {baseline}."
        ))
        .list(overview(summary))
        .paragraphs(trust::tally_text(summary))
        .paragraphs(facts(summary))
}

/// Whether the run is trustworthy, and where to read on.
fn trustworthy(summary: &Summary) -> (&'static str, &'static str) {
    match summary.trustworthy {
        None => ("no numbers to judge", ""),
        Some(true) => ("yes", ""),
        Some(false) => ("no", ", see Doubts"),
    }
}
