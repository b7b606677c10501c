//! What was expected of the run, and what speaks against its numbers.

use wasmbench_results::judge::expectations::Decision;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::trust;
use wasmbench_results::vocabulary::doubt::Doubt;

use crate::section::{Section, Text};

/// The expectations, and whether they are met.
pub fn expectations(summary: &Summary) -> Option<Section> {
    let item = |decision: &Decision| {
        let text = format!(": {}: {}", decision.name, decision.message);
        Text::default().strong(decision.outcome.text()).plain(text)
    };
    if summary.expectations.is_empty() {
        return None;
    }
    let section = Section::new("Expectations")
        .guide("Decided from the ends of the intervals.")
        .list(summary.expectations.iter().map(item));
    Some(section)
}

/// The doubts, then the notes.
pub fn doubts(summary: &Summary) -> Section {
    let list = |breaks_trust: bool| {
        let doubts = of_kind(summary, breaks_trust);
        doubts.map(|doubt| item("", doubt)).collect()
    };
    let (doubts, notes): (Vec<Text>, Vec<Text>) = (list(true), list(false));
    let empty = Section::new("Doubts");
    let section = match (doubts.is_empty(), summary.trustworthy) {
        (true, None) => empty.paragraph("There are no numbers to judge."),
        (true, Some(_)) => empty.paragraph(format!("{}.", trust::headline(summary))),
        (false, _) => empty.list(doubts),
    };
    if notes.is_empty() {
        return section;
    }
    section
        .paragraph("Notes, which limit single numbers only:")
        .list(notes)
}

/// Doubts and notes as one list under their number.
pub fn doubts_together(summary: &Summary) -> Option<Section> {
    let doubts = of_kind(summary, true).map(|doubt| item("", doubt));
    let notes = of_kind(summary, false).map(|note| item("Note, ", note));
    Section::new(trust::headline(summary))
        .list(doubts.chain(notes))
        .if_any()
}

fn of_kind(summary: &Summary, breaks_trust: bool) -> impl Iterator<Item = &Doubt> {
    let doubts = summary.doubts.iter();
    doubts.filter(move |doubt| doubt.breaks_trust == breaks_trust)
}

fn item(kind: &str, doubt: &Doubt) -> Text {
    let reason: &str = doubt.reason.into();
    let text = format!(": {}", doubt.text());
    Text::from(kind).strong(reason).plain(text)
}
