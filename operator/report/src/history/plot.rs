//! The history as a page: one plot per series, with a point and its interval for every run and a
//! line for every change.

use maud::{Markup, html};
use wasmbench_results::runs::history::History;
use wasmbench_results::runs::history::lasting_change::LastingChange;
use wasmbench_results::runs::history::line::{Ends, Line, Series};
use wasmbench_results::statistics;

use super::{CHANGES, Followed, NO_CHANGES, changes, followed, kept};
use crate::html::marks::{self, line, text};
use crate::html::page::document;
use crate::html::scale::Scale;
use crate::markup::printable;

const WIDTH: f64 = 1040.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 1024.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 190.0;
const HEIGHT: f64 = 230.0;
/// The number of latest runs that a plot shows: more would overlap.
const SHOWN: usize = 240;

/// The page.
pub fn history_html(name: &str, history: &History) -> String {
    let title = printable(&html! { h1 { (name) } "\n" });
    let body = html! { (title) (history_body(history)) };
    document(name, &body).into_string()
}

/// The page without its frame and title, as part of another page.
pub fn history_body(history: &History) -> Markup {
    printable(&html! {
        p { (kept(history)) "." } "\n"
        (changes_list(history))
        p.note {
            "Every point is a run: the ratio to the baseline, or for starts the difference, with its 95 % interval. Faint points are not trusted, and no change \
             is looked for in them. A dashed line is the first run after a lasting change."
        } "\n"
        @for followed in followed(history) {
            figure.wide {
                figcaption { (followed.series.text()) } "\n"
                (plot(history, &followed))
            } "\n"
        }
    })
}

fn changes_list(history: &History) -> Markup {
    if history.changes.is_empty() {
        return html! { p.verdict { (NO_CHANGES) } "\n" };
    }
    html! {
        h2 { (CHANGES) } "\n"
        ul {
            "\n"
            @for (worth, message) in changes(history) { li { b class=(worth) { (worth) } ": " (message) } "\n" }
        } "\n"
    }
}

fn plot(history: &History, followed: &Followed<'_>) -> Markup {
    let lines = &history.runs[history.runs.len().saturating_sub(SHOWN)..];
    let observed: Vec<(usize, &Line, Ends, bool)> = lines
        .iter()
        .enumerate()
        .filter_map(|(place, line)| {
            let number = line.number(followed.place)?;
            Some((place, line, number.versus_baseline?, number.trusted))
        })
        .collect();
    let ends = observed
        .iter()
        .flat_map(|(_, _, ends, _)| [ends.0, ends.1, ends.2]);
    // Larger numbers are higher up.
    let series = followed.series;
    let scale = match series.scale() {
        statistics::Scale::Ratio => Scale::ratios(ends, (BOTTOM, TOP)),
        statistics::Scale::Difference => Scale::differences(ends, (BOTTOM, TOP)),
    };
    let x = |place: usize| {
        let step = (RIGHT - LEFT - 20.0) / lines.len().saturating_sub(1).max(1) as f64;
        LEFT + 10.0 + place as f64 * step
    };
    let changed_at = |line: &Line| {
        let mut found = history.changes.iter();
        found.find(|found| found.series == followed.place && found.run == line.name)
    };
    let body = html! {
        (grid(series, &scale))
        @for (place, line) in lines.iter().enumerate() {
            @if let Some(found) = changed_at(line) { (change(series, found, x(place))) }
        }
        @for (place, run, ends, trusted) in &observed { (point(series, run, *ends, *trusted, x(*place), &scale)) }
        (dates(series, lines, x(lines.len().saturating_sub(1))))
    };
    let id = format!("h{}", followed.place);
    let title = followed.series.text();
    let what = format!(
        "the {} to the baseline of {} runs, over time",
        compared(series),
        observed.len()
    );
    marks::svg(&id, (WIDTH, HEIGHT), &title, &what, &body)
}

/// What is judged of a series.
fn compared(series: &Series) -> &'static str {
    match series.scale() {
        statistics::Scale::Ratio => "ratio",
        statistics::Scale::Difference => "difference",
    }
}

fn grid(series: &Series, scale: &Scale) -> Markup {
    // Where the variant equals the baseline.
    let equal = series.scale().inverse(0.0);
    html! {
        @for tick in &scale.ticks {
            @let y = scale.at(*tick);
            @let class = if (*tick - equal).abs() < 1e-9 { "one" } else { "grid" };
            (line(class, (LEFT, y), (RIGHT, y)))
            (text("tick end", (LEFT - 6.0, y + 4.0), &series.number_text(*tick, None), 10))
        }
        "\n"
    }
}

fn change(series: &Series, found: &LastingChange, x: f64) -> Markup {
    let size = series.number_text(found.size.0, None);
    let label = format!("{size} since {}", found.run);
    // At the right end there is room only on the left.
    let (class, at) = if x > f64::midpoint(LEFT, RIGHT) {
        ("end", x - 5.0)
    } else {
        ("words", x + 5.0)
    };
    let mark = line("knee", (x, TOP), (x, BOTTOM));
    html! {
        (marks::titled(mark, Some(&label)))
        (text(class, (at, TOP + 10.0), &label, 60)) "\n"
    }
}

fn point(series: &Series, run: &Line, ends: Ends, trusted: bool, x: f64, scale: &Scale) -> Markup {
    let Ends(number, low, high) = ends;
    let y = scale.at(number);
    let mark = html! {
        g class={ "c0" @if !trusted { " faint" } } {
            (line("bar", (x, scale.at(low)), (x, scale.at(high))))
            g.dots { (line("", (x, y), (x, y))) }
        }
    };
    let trust = if trusted { "" } else { ", not trusted" };
    let found = series.number_text(number, Some((low, high)));
    let label = format!("{}, {}: {found}{trust}", run.name, run.ended);
    html! { (marks::titled(mark, Some(&label))) "\n" }
}

/// The end times of the first and last runs shown.
fn dates(series: &Series, lines: &[Line], right: f64) -> Markup {
    let day = |line: Option<&Line>| line.map(|line| super::day(line.ended)).unwrap_or_default();
    let y = BOTTOM + 18.0;
    let axis = match series.scale() {
        statistics::Scale::Ratio => "; logarithmic axis",
        statistics::Scale::Difference => "",
    };
    let what = compared(series);
    let name = format!("{what} to the baseline, by the time at which runs ended (UTC){axis}");
    let middle = f64::midpoint(LEFT, RIGHT);
    html! {
        (text("tick", (LEFT, y), &day(lines.first()), 20))
        @if lines.len() > 1 {
            (text("tick end", (right.max(LEFT + 200.0), y), &day(lines.last()), 20))
        }
        (text("axis middle", (middle, y + 18.0), &name, 90)) "\n"
    }
}
