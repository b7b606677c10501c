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
const BESIDE: f64 = 8.0;
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
    html! {
        (line("target", (ends.0, y), (ends.1, y)))
        (text("tick", (ends.0 + 4.0, y - 4.0), &target.words, 40)) "\n"
        @for (index, crossing) in target.crossings.iter().enumerate() {
            @let middle = top + ROW * (index as f64 + 0.5);
            (row(crossing, across, ends, (middle, y)))
        }
    }
}

/// A crossing: its interval, its load with a line down to the target, and its words on the side
/// that has more room. An arrow stands for an end that is not known.
fn row(
    crossing: &Crossing,
    across: &Scale,
    (left, right): (f64, f64),
    (middle, target): (f64, f64),
) -> Markup {
    let at = |load: f64| across.at(load);
    let from = crossing.low.map_or(left, at);
    let to = crossing.high.map_or(right, at);
    let has_room_behind = right - to > from - left;
    let (side, x) = if has_room_behind {
        ("words", to + BESIDE)
    } else {
        ("words end", from - BESIDE)
    };
    html! {
        g class=(crossing.look.classes()) {
            (line("range", (from, middle), (to, middle)))
            @if crossing.low.is_none() { (arrow(left, middle, TICK)) }
            @if crossing.high.is_none() { (arrow(right, middle, -TICK)) }
            @if let Some(load) = crossing.at {
                (line("drop", (at(load), middle), (at(load), target)))
                (line("median", (at(load), middle - TICK), (at(load), middle + TICK)))
            }
        }
        (text(side, (x, middle + 4.0), &crossing.words, WORDS)) "\n"
    }
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
