//! A target in a plot: a line at the value to stay below, and a strip above the plot with one row per
//! variant, which shows the load at which it crosses the target, with the interval.

use maud::{Markup, html};

use crate::html::marks::{Look, line, path, px, text};
use crate::html::scale::Scale;

/// Height of a row of the strip.
const ROW: f64 = 17.0;
/// Space between the strip and the plot.
const GAP: f64 = 8.0;
/// Half the height of a crossing.
const TICK: f64 = 5.0;
/// Space between an interval and its words.
const LABEL_GAP: f64 = 8.0;
/// The number of characters of a crossing's words that fit.
const WORDS: usize = 40;

/// A value to stay below.
#[derive(Clone, Debug)]
pub struct Target {
    /// The value, in the unit of the vertical axis.
    pub value: f64,
    /// The target in words: `target: p99 of 50 ms`.
    pub words: String,
    /// Where variants cross it, in the order of the legend.
    pub crossings: Vec<Crossing>,
}

/// The load at which a variant crosses the target, in the unit of the horizontal axis.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// Its look.
    pub look: Look,
    /// The load; `None` where only a bound is known.
    pub at: Option<f64>,
    /// Lower end of the interval; `None` where it is not known.
    pub low: Option<f64>,
    /// Upper end of the interval; `None` where it is not known.
    pub high: Option<f64>,
    /// Name and crossing in words: `native: 812 (790 to 835)`, `native: at least 1200`.
    pub words: String,
}

impl Target {
    /// Height of the strip above the plot.
    pub fn strip(&self) -> f64 {
        let rows = self.crossings.len() as f64;
        if rows > 0.0 { rows * ROW + GAP } else { 0.0 }
    }
}

/// The line in a plot between these `ends`, and the strip below `top`.
pub(super) fn drawn(
    target: &Target,
    (across, up): (&Scale, &Scale),
    ends: (f64, f64),
    top: f64,
) -> Markup {
    let y = up.at(target.value);
    let rows = target.crossings.iter().enumerate();
    let placed: Vec<(f64, &Crossing)> = rows
        .map(|(index, crossing)| (top + ROW * (index as f64 + 0.5), crossing))
        .collect();
    html! {
        (line("target", (ends.0, y), (ends.1, y)))
        (text("tick", (ends.0 + 4.0, y - 4.0), &target.words, 40)) "\n"
        @for (middle, crossing) in &placed { (interval(crossing, across, ends, (*middle, y))) }
        // Above the lines that other rows have through this one.
        @for (middle, crossing) in &placed { (words(crossing, across, ends, *middle)) "\n" }
    }
}

/// The coordinates of a crossing's ends. One that is not known is the end of the plot.
fn place(crossing: &Crossing, across: &Scale, (left, right): (f64, f64)) -> (f64, f64) {
    let at = |load: f64| across.at(load);
    (
        crossing.low.map_or(left, at),
        crossing.high.map_or(right, at),
    )
}

/// A crossing's interval, with an arrow at an end that is not known, and its load with a line down to
/// the target.
fn interval(
    crossing: &Crossing,
    across: &Scale,
    ends: (f64, f64),
    (middle, target): (f64, f64),
) -> Markup {
    let (from, to) = place(crossing, across, ends);
    html! {
        g class=(crossing.look.classes()) {
            (line("range", (from, middle), (to, middle)))
            @if crossing.low.is_none() { (arrow(from, middle, TICK)) }
            @if crossing.high.is_none() { (arrow(to, middle, -TICK)) }
            @if let Some(load) = crossing.at {
                @let x = across.at(load);
                (line("drop", (x, middle), (x, target)))
                (line("median", (x, middle - TICK), (x, middle + TICK)))
            }
        } "\n"
    }
}

/// A crossing's words, on the side of the interval that has more room.
fn words(crossing: &Crossing, across: &Scale, ends: (f64, f64), middle: f64) -> Markup {
    let (from, to) = place(crossing, across, ends);
    let (class, x) = if ends.1 - to > from - ends.0 {
        ("crossing", to + LABEL_GAP)
    } else {
        ("crossing end", from - LABEL_GAP)
    };
    text(class, (x, middle + 4.0), &crossing.words, WORDS)
}

/// The head of an arrow whose point is at `x`; `back` is how far its ends lie behind the point.
fn arrow(x: f64, y: f64, back: f64) -> Markup {
    let (behind, above, below) = (px(x + back), px(y - TICK), px(y + TICK));
    let (x, y) = (px(x), px(y));
    path(
        "median",
        &format!("M{behind} {above}L{x} {y}L{behind} {below}"),
    )
}
