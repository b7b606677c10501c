//! The page around the plots, and how it is fitted to a size.

use std::fmt::Write as _;

use wasmbench_results::doubt::Doubt;
use wasmbench_results::expectations::Decision;
use wasmbench_results::summary::Summary;
use wasmbench_results::{trust, words};

use crate::html::marks::escape;
use crate::html::{DETAILS, Detail, Points, banner, grid, sections};
use crate::sentences::{FINGERPRINTS, facts, node, repetition, sentences};
use crate::table::lines;
use crate::tables;

/// The style of the page, and of other pages that show parts of it.
pub const STYLE: &str = include_str!("style.css");
const HOW_TO_READ: &str = include_str!("how_to_read.html");
const END: &str = "</main>\n</body>\n</html>\n";
/// Room for the note on omitted parts.
const MAX_NOTE_BYTES: usize = 300;

/// The page in at most `room` bytes: with as much detail as fits, otherwise without the last
/// workloads. It says what is missing.
pub fn report_html(summary: &Summary, room: usize) -> String {
    let run = &summary.run;
    let name = escape(&format!("{}/{}", run.namespace, run.name));
    let begin = format!("{}{HATCH}<h1>{name}</h1>\n", begin(&name));
    let room = room.saturating_sub(begin.len() + END.len());
    format!("{begin}{}{END}", report_body(summary, room))
}

/// The page without its frame and title, as part of another page, which must contain [`HATCH`].
pub fn report_body(summary: &Summary, room: usize) -> String {
    let (head, foot) = (head(summary), foot(summary));
    let room = room.saturating_sub(head.len() + foot.len());
    head + &plots(summary, room) + &foot
}

/// The sections of the workloads in at most `room` bytes, with a note on what is missing.
pub fn plots(summary: &Summary, room: usize) -> String {
    let room = room.saturating_sub(MAX_NOTE_BYTES);
    let workloads = summary.compared.workloads.len();
    let least = DETAILS[DETAILS.len() - 1];
    for detail in DETAILS {
        let (html, shown) = workload_sections(summary, detail, room);
        if shown == workloads || detail == least {
            return note(detail, workloads - shown) + &html;
        }
    }
    String::new()
}

/// The sections of as many workloads as fit, and their number.
fn workload_sections(summary: &Summary, detail: Detail, room: usize) -> (String, usize) {
    let mut html = String::new();
    for index in 0..summary.compared.workloads.len() {
        let section = sections::workload(summary, index, detail);
        if html.len() + section.len() > room {
            return (html, index);
        }
        html.push_str(&section);
    }
    (html, summary.compared.workloads.len())
}

fn note(detail: Detail, left_out: usize) -> String {
    let points = match detail.points {
        Points::Labelled => "",
        Points::Plain => {
            "This run is large: points have no labels; report.md and summary.json have the numbers of \
             every trial. "
        }
        Points::None => {
            "This run is too large for a point per trial: the plots show medians and intervals, and \
             trials that are left out of their point; summary.json has the numbers of every trial. "
        }
    };
    let tables = if detail.tables {
        ""
    } else {
        "The tables are in report.md. "
    };
    let workloads = match left_out {
        0 => String::new(),
        more => format!("{more} more workload(s) are only in report.md. "),
    };
    let note = format!("{points}{tables}{workloads}");
    if note.is_empty() {
        note
    } else {
        format!("<p class=\"note\">{}</p>\n", note.trim_end())
    }
}

/// A page with this title around `body`.
pub fn document(title: &str, body: &str) -> String {
    begin(&escape(title)) + body + END
}

/// Everything before the contents. Nothing may be loaded from elsewhere, and no script runs.
fn begin(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n\
         <meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"/>\n<meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\"/>\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
}

fn head(summary: &Summary) -> String {
    let first_screen = banner::banner(summary) + &grid::grid(summary) + &banner::next(summary);
    let doubts = doubts(summary) + &banner::files(summary);
    let run = about(summary) + &compared(summary);
    let expectations = expectations(summary);
    format!("{first_screen}{expectations}{doubts}{run}")
}

/// The run in sentences, collapsed: the results for every measure, and how it was measured.
fn about(summary: &Summary) -> String {
    let trust = match summary.trustworthy {
        None => "no numbers to judge",
        Some(true) => "yes",
        Some(false) => "no, see Doubts",
    };
    let mut html = format!(
        "<details><summary>In words</summary>\n<p class=\"verdict\">{}</p>\n<p>Trustworthy: {trust}. {} Baseline: {}.</p>\n",
        escape(&summary.verdict),
        words::trials(summary.trials),
        escape(&summary.baseline),
    );
    let said = sentences(summary);
    if !said.is_empty() {
        let items = said.iter().map(|one| format!("<li>{}</li>", escape(one)));
        let list = lines("", items);
        let _ = write!(html, "<ul class=\"sentences\">\n{list}</ul>\n");
    }
    let tally = trust::tally_words(summary);
    for sentence in tally.into_iter().chain(facts(summary)) {
        let _ = writeln!(html, "<p>{}</p>", escape(&sentence));
    }
    html + "</details>\n"
}

/// The pattern for how far the baseline differs from its twin. A page with plots contains it once.
pub const HATCH: &str = "<svg class=\"defs\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs><pattern \
                     id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
                     patternTransform=\"rotate(45)\"><path class=\"hatching\" d=\"M0 \
                     0V6\"/></pattern></defs></svg>\n";

fn expectations(summary: &Summary) -> String {
    let item = |decision: &Decision| {
        format!(
            "<li><b>{}</b>: {}: {}</li>\n",
            escape(decision.outcome.words()),
            escape(&decision.name),
            escape(&decision.message)
        )
    };
    let items: String = summary.expectations.iter().map(item).collect();
    if items.is_empty() {
        return items;
    }
    format!("<h2>Expectations</h2>\n<ul>\n{items}</ul>\n")
}

fn doubts(summary: &Summary) -> String {
    let item = |doubt: &Doubt| {
        let reason: &str = doubt.reason.into();
        let kind = if doubt.breaks_trust { "" } else { "Note, " };
        format!(
            "<li>{kind}<b>{reason}</b>: {}</li>\n",
            escape(&doubt.words())
        )
    };
    let mut sorted: Vec<&Doubt> = summary.doubts.iter().collect();
    sorted.sort_by_key(|doubt| !doubt.breaks_trust);
    let items: String = sorted.into_iter().map(item).collect();
    if items.is_empty() {
        return items;
    }
    format!(
        "<details><summary>{}</summary>\n<ul>\n{items}</ul>\n</details>\n",
        trust::headline(summary)
    )
}

fn compared(summary: &Summary) -> String {
    let sweeps = summary.compared.sweeps.iter().chain(&summary.compared.twin);
    let sweeps: String = sweeps.fold(String::new(), |mut items, sweep| {
        let _ = writeln!(items, "<li>{}</li>", escape(sweep));
        items
    });
    format!(
        "<details><summary>What was compared</summary>\n{}<ul>\n{sweeps}<li>{}</li>\n</ul>\n\
         </details>\n",
        tables::variants(summary).html("Variants"),
        repetition(summary)
    )
}

fn foot(summary: &Summary) -> String {
    format!(
        "{}{HOW_TO_READ}<p>Node {}: environment.json has its facts. {FINGERPRINTS}</p>\n",
        not_applicable(summary) + &not_measured(summary),
        escape(&node(summary)),
    )
}

fn not_applicable(summary: &Summary) -> String {
    let table = tables::not_applicable(summary);
    if table.is_empty() {
        return String::new();
    }
    let table = table.html("What variants cannot do by definition");
    format!("<section>\n<h2>Not applicable</h2>\n{table}</section>\n")
}

fn not_measured(summary: &Summary) -> String {
    if summary.failures.is_empty() {
        return String::new();
    }
    let rest = tables::failures_not_listed(summary);
    let rest = rest.map_or_else(String::new, |rest| format!("<p>{rest}</p>\n"));
    let table = tables::failures(summary).html("Trials without a measurement");
    format!("<section>\n<h2>Trials without a measurement</h2>\n{table}{rest}</section>\n")
}
