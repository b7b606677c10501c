//! A study's ratios as a picture: what the document has, and what was found here with its interval.

use maud::{Markup, PreEscaped, html};
use wasmbench_report::html::axis;
use wasmbench_report::html::marks::{line, path, px, text};
use wasmbench_report::html::scale::Scale;

use crate::compared::{Row, Value};
use crate::published::Study;
use crate::terminal::{NOTHING, place, value};
use crate::values::Ratio;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 230.0;
const RIGHT: f64 = 660.0;
/// Where the published ratios stand, and those from here.
const COLUMNS: (f64, f64) = (676.0, 766.0);
const TOP: f64 = 34.0;
const ROW: f64 = 20.0;
const HEAD: f64 = 24.0;
const FOOT: f64 = 40.0;
/// Half of what marks a published ratio.
const DIAMOND: f64 = 5.0;
/// Wider intervals end at the edge of the plot.
const ENDS: (f64, f64) = (1e-4, 1e4);

/// A file of its own has no style but this one. The page behind it may be light or dark.
const STYLE: &str = "svg { background: #fff; font: 12px system-ui, 'DejaVu Sans', sans-serif; --ink: #1b1f24; --soft: #59636e; --grid: #e3e6ea; \
--here: #0067a8; --there: #c8500a; } @media (prefers-color-scheme: dark) { svg { background: #16191d; --ink: #e8eaed; --soft: #a0a8b2; \
--grid: #2c3138; --here: #5db2f0; --there: #ff9452; } } text { fill: var(--ink); } path { fill: none; } .tick, .axis { fill: var(--soft); \
font-size: 11px; } .group { font-weight: 600; } .middle { text-anchor: middle; } .name { text-anchor: end; } .grid { stroke: var(--grid); } \
.one { stroke: var(--ink); } .range { stroke: var(--here); stroke-width: 4; stroke-opacity: .5; } .span { stroke: var(--there); \
stroke-width: 4; stroke-opacity: .5; } .here { stroke: var(--here); stroke-width: 3; } .there { fill: var(--there); } \
text.here { fill: var(--here); stroke: none; } .here, .there { font-variant-numeric: tabular-nums; }";

/// The rows of a figure at a point, one below the other.
struct Group<'a> {
    name: String,
    rows: Vec<&'a Row<'a>>,
}

/// The picture; `None` where nothing was measured.
pub fn svg(study: &Study, rows: &[Row<'_>]) -> Option<String> {
    rows.iter().find_map(Row::factor)?;
    let groups = groups(rows);
    let scale = Scale::ratios(rows.iter().flat_map(ends), (LEFT, RIGHT));
    let height: f64 = groups.iter().map(height).sum();
    let bottom = TOP + height;
    let tops = groups.iter().scan(TOP, |next, group| {
        let top = *next;
        *next += self::height(group);
        Some(top)
    });
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (px(WIDTH)) " " (px(bottom + FOOT)) } role="img" {
            "\n"
            title { (study.name) ": published and measured here" } "\n"
            style { (PreEscaped(STYLE)) } "\n"
            (heads())
            (axis::of_ratios(&scale, (TOP, bottom), "the base"))
            @for (top, group) in tops.zip(&groups) { (drawn(group, &scale, top)) }
        } "\n"
    };
    Some(picture.into_string())
}

/// Rows with a ratio, below the base that they are multiples of.
fn groups<'a>(rows: &'a [Row<'a>]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = vec![];
    for row in rows {
        if matches!(row.published, Value::Base(_)) {
            groups.push(Group {
                name: group_name(row),
                rows: vec![],
            });
        } else if let Some(group) = groups.last_mut() {
            group.rows.push(row);
        }
    }
    groups.retain(|group| !group.rows.is_empty());
    groups
}

/// What is compared, and with what: of the row of the base.
fn group_name(base: &Row<'_>) -> String {
    let (noun, place) = (base.figure.noun(), place(base));
    let name = base.here.or(base.there).unwrap_or(NOTHING);
    format!("{noun} of {}, {place}; {name} is 1x", base.workload())
}

fn ratio(value: &Value) -> Option<Ratio> {
    match value {
        Value::Ratio(ratio) => Some(*ratio),
        Value::Base(_) | Value::Range(..) | Value::None => None,
    }
}

/// The two ends of a published range.
fn span(published: &Value) -> Option<(f64, f64)> {
    match published {
        Value::Range(low, high) => Some((*low, *high)),
        Value::Base(_) | Value::Ratio(_) | Value::None => None,
    }
}

/// All that the axis has to hold of a row.
fn ends(row: &Row<'_>) -> Vec<f64> {
    let both = [&row.published, &row.measured].into_iter();
    let found = both.filter_map(ratio).flat_map(|found| {
        let (low, high) = found.interval.unwrap_or((found.ratio, found.ratio));
        [low, found.ratio, high]
    });
    let of_range = span(&row.published).into_iter().flat_map(<[f64; 2]>::from);
    found
        .chain(of_range)
        .map(|end| end.clamp(ENDS.0, ENDS.1))
        .collect()
}

fn height(group: &Group<'_>) -> f64 {
    HEAD + ROW * group.rows.len() as f64
}

fn heads() -> Markup {
    let (there, here) = COLUMNS;
    html! {
        (text("there", (there, TOP - 14.0), "PUBLISHED", 12))
        (text("here", (here, TOP - 14.0), "HERE (95 %)", 12)) "\n"
    }
}

fn drawn(group: &Group<'_>, scale: &Scale, top: f64) -> Markup {
    html! {
        (text("group", (8.0, top + 17.0), &group.name, 60)) "\n"
        @for (index, row) in group.rows.iter().enumerate() {
            @let middle = top + HEAD + ROW * (index as f64 + 0.5);
            (drawn_row(row, scale, middle))
        }
    }
}

fn drawn_row(row: &Row<'_>, scale: &Scale, middle: f64) -> Markup {
    let name = row.here.or(row.there).unwrap_or(NOTHING);
    let (there, here) = COLUMNS;
    let baseline = middle + 4.0;
    html! {
        (text("name", (LEFT - 10.0, baseline), name, 34))
        @if let Some(found) = ratio(&row.measured) {
            @let at = scale.at(found.ratio);
            @if let Some((low, high)) = found.interval {
                (line("range", (scale.at(low), middle), (scale.at(high), middle)))
            }
            (line("here", (at, middle - 7.0), (at, middle + 7.0)))
        }
        @if let Some((low, high)) = span(&row.published) {
            (line("span", (scale.at(low), middle), (scale.at(high), middle)))
        }
        @if let Some(published) = ratio(&row.published) {
            (path("there", &diamond(scale.at(published.ratio), middle)))
        }
        (text("there", (there, baseline), &value(&row.published), 12))
        (text("here", (here, baseline), &value(&row.measured), 28)) "\n"
    }
}

/// What marks a published ratio.
fn diamond(x: f64, middle: f64) -> String {
    format!(
        "M{} {}l{DIAMOND} {DIAMOND}l-{DIAMOND} {DIAMOND}l-{DIAMOND} -{DIAMOND}z",
        px(x),
        px(middle - DIAMOND),
    )
}
