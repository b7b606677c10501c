//! The page around the plots, and how it is fitted to a size.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use wasmbench_results::summary::Summary;

use crate::html::writer::{foldable, section};
use crate::html::{DETAILS, Detail, Points, banner, grid, workload};
use crate::markup::printable;
use crate::overview::{FINGERPRINTS, node};
use crate::sections;

/// The style of the page, and of other pages that show parts of it.
pub const STYLE: &str = include_str!("style.css");
/// How to read the page: our own text.
const HOW_TO_READ: PreEscaped<&str> = PreEscaped(include_str!("how_to_read.html"));
/// Nothing may be loaded from elsewhere, and no script runs. These elements are empty in XML's way.
const META: PreEscaped<&str> = PreEscaped(
    "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
     <meta name=\"color-scheme\" content=\"light dark\"/>\n<meta http-equiv=\"Content-Security-Policy\" \
     content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n",
);
/// The pattern for how far the baseline differs from its twin. A page with plots contains it once.
pub const HATCH: PreEscaped<&str> = PreEscaped(
    "<svg class=\"defs\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs><pattern id=\"hatch\" width=\"6\" height=\"6\" \
     patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><path class=\"hatching\" d=\"M0 0V6\"/></pattern></defs>\
     </svg>\n",
);
/// Room for the note on omitted parts.
const MAX_NOTE_BYTES: usize = 300;

/// The page in at most `room` bytes: with as much detail as fits, otherwise without the last
/// workloads. A note lists what is missing.
pub fn report_html(summary: &Summary, room: usize) -> String {
    let run = &summary.run;
    let name = format!("{}/{}", run.namespace, run.name);
    let page = |body: &Markup| {
        let head = html! { (HATCH) h1 { (name) } "\n" };
        document(&name, &html! { (printable(&head)) (body) })
    };
    let room = room.saturating_sub(page(&html! {}).0.len());
    page(&report_body(summary, room)).into_string()
}

/// The page without its frame and title.
fn report_body(summary: &Summary, room: usize) -> Markup {
    let head = report_head(summary);
    let rest = report_rest(summary, room.saturating_sub(head.0.len()), true);
    html! { (head) (rest) }
}

/// What was decided, and how far to trust it, as part of another page.
pub fn report_head(summary: &Summary) -> Markup {
    printable(&head(summary))
}

/// The rest in at most `room` bytes, as part of another page, which must contain [`HATCH`]. What is long
/// is folded unless `is_open`.
pub fn report_rest(summary: &Summary, room: usize, is_open: bool) -> Markup {
    let foot = printable(&foot(summary));
    let room = room.saturating_sub(foot.0.len());
    html! { (plots(summary, room, is_open)) (foot) }
}

/// The sections of the workloads in at most `room` bytes, with a note on what is missing.
pub fn plots(summary: &Summary, room: usize, is_open: bool) -> Markup {
    let room = room.saturating_sub(MAX_NOTE_BYTES);
    let workloads = summary.compared.workloads.len();
    let least = DETAILS[DETAILS.len() - 1];
    for detail in DETAILS {
        let shown = workload_sections(summary, detail, room, is_open);
        if shown.len() == workloads || detail == least {
            return html! {
                (note(detail, workloads - shown.len()))
                @for section in shown { (section) }
            };
        }
    }
    html! {}
}

/// The sections of as many workloads as fit.
fn workload_sections(summary: &Summary, detail: Detail, room: usize, is_open: bool) -> Vec<Markup> {
    let (mut shown, mut used) = (vec![], 0);
    for index in 0..summary.compared.workloads.len() {
        let section = printable(&workload::workload(summary, index, detail, is_open));
        used += section.0.len();
        if used > room {
            break;
        }
        shown.push(section);
    }
    shown
}

fn note(detail: Detail, left_out: usize) -> Markup {
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
    html! {
        @if !note.is_empty() { p.note { (note.trim_end()) } "\n" }
    }
}

/// A page with this title around `body`.
pub fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE) "\n"
        html xmlns="http://www.w3.org/1999/xhtml" lang="en" {
            "\n"
            head {
                "\n"
                (META)
                (printable(&html! { title { (title) } })) "\n"
                style { "\n" (PreEscaped(STYLE)) } "\n"
            } "\n"
            body { "\n" main { "\n" (body) } "\n" } "\n"
        } "\n"
    }
}

fn head(summary: &Summary) -> Markup {
    html! {
        (banner::banner(summary))
        (grid::grid(summary))
        (banner::next(summary))
        @if let Some(expectations) = sections::expectations(summary) { (section(&expectations)) }
        @if let Some(doubts) = sections::doubts_together(summary) { (foldable(&doubts, false)) }
        (banner::files(summary))
        (foldable(&sections::in_words(summary), false))
        (foldable(&sections::in_short(summary), false))
    }
}

fn foot(summary: &Summary) -> Markup {
    let missing = [
        sections::mixes(summary),
        sections::not_applicable(summary),
        sections::not_measured(summary),
    ];
    html! {
        @for missing in missing.iter().flatten() { section { "\n" (section(missing)) } "\n" }
        (HOW_TO_READ)
        p { "Node " (node(summary)) ": environment.json has its facts. " (FINGERPRINTS) } "\n"
    }
}
