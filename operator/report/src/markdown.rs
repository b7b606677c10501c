//! `report.md`: the report for someone who was not there. Takes a summary and writes its sections in
//! Markdown. Tables align as plain text too, and all external text is escaped.

use wasmbench_results::summary::Summary;

use crate::section::{Block, Section, Span, Text};
use crate::table::{escape, lines};
use crate::{sections, tables};

/// Longest note on omitted trials, in bytes.
const MAX_NOTE_BYTES: usize = 200;

/// The whole report in at most `room` bytes, as far as omitting rows from the table of all trials
/// can achieve that.
pub fn report_md(summary: &Summary, room: usize) -> String {
    let mut before = vec![written("#", &sections::head(summary))];
    let sections = sections::before_trials(summary);
    before.extend(sections.iter().map(|section| written("##", section)));
    let after = sections::after_trials(summary).map(|section| written("##", &section));
    let used: usize = before
        .iter()
        .chain(&after)
        .map(|section| section.len() + 1)
        .sum();
    before.extend(trials(summary, room.saturating_sub(used)));
    before.extend(after);
    before.join("\n")
}

/// As many rows of the table of all trials as `room` bytes can hold; `None` without trials.
fn trials(summary: &Summary, room: usize) -> Option<String> {
    let all = tables::trials(summary, usize::MAX).len();
    if all == 0 {
        return None;
    }
    let whole = written("##", &sections::trials(summary, all, all));
    if whole.len() <= room {
        return Some(whole);
    }
    // All lines of a table have the same length, and the header takes two of them.
    let line = whole.lines().last().map_or(0, str::len) + 1;
    let title = whole.len() - (all + 2) * line;
    let lines = room.saturating_sub(title + MAX_NOTE_BYTES) / line;
    let rows = lines.saturating_sub(2).min(all);
    Some(written("##", &sections::trials(summary, rows, all)))
}

/// A section with its title at this level.
fn written(level: &str, section: &Section) -> String {
    let title = format!("{level} {}\n", escape(&section.title));
    let blocks = section.blocks.iter().map(block);
    let all: Vec<String> = std::iter::once(title).chain(blocks).collect();
    all.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Verdict(verdict) => format!("**{}**\n", escape(verdict)),
        Block::Paragraph(paragraph) => text(paragraph) + "\n",
        Block::List(items) => lines("- ", items.iter().map(text)),
        Block::Table { table, .. } => table.markdown(),
        Block::Heading(name) => format!("### {}\n", escape(name)),
        Block::Guide(markdown) => format!("{}\n", markdown.trim_end()),
        Block::Yaml(yaml) => {
            let fence = fence_for(yaml);
            format!("{fence}yaml\n{yaml}{fence}\n")
        }
    }
}

fn text(text: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) => escape(text),
        Span::Strong(text) => format!("**{}**", escape(text)),
    };
    text.spans.iter().map(span).collect()
}

/// A fence that nothing in `text` can close.
fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_means_only_itself() {
        let hostile = Section::new("# *a*")
            .verdict("**b**")
            .paragraph(Text::from("[c](d) ").strong("<b>"))
            .list(["- e\n- f", "g"])
            .heading("`h`")
            .guide("*ours*")
            .yaml("a: ```\n".to_owned());
        assert_eq!(
            written("##", &hostile),
            "## \\# \\*a\\*\n\n**\\*\\*b\\*\\***\n\n\\[c\\](d) **&lt;b&gt;**\n\n- - e - f\n- g\n\n### \\`h\\`\n\n\
             *ours*\n\n````yaml\na: ```\n````\n"
        );
    }
}
