//! Strip plots: one row per variant, with a point for every trial and the median and its interval
//! below.

use maud::{Markup, html};
use wasmbench_results::statistics::Spread;

use crate::html::lane::{Axis, Lane};
use crate::html::marks::{self, Points, jitter, line, text};
use crate::html::outliers::limit;
use crate::html::scale::Scale;

/// Width of a plot.
pub const WIDTH: f64 = 520.0;
/// Where the axis begins; names are to its left.
pub const LEFT: f64 = 130.0;
/// Where the axis ends; numbers are to its right.
pub const RIGHT: f64 = 430.0;
/// Where the rows begin.
pub const TOP: f64 = 6.0;
/// Height of a row.
pub const ROW: f64 = 34.0;
/// Height of the cloud of points within a row.
const CLOUD: f64 = 16.0;
/// Height of the area below the rows.
pub const FOOT: f64 = 36.0;
/// The number of characters of a variant's name that fit.
pub const NAME_CHARS: usize = 19;

/// A strip plot of these lanes.
pub fn strip(id: &str, title: &str, axis: Axis, lanes: &[Lane], detail: Points) -> Markup {
    let limit = limit(lanes.iter());
    let scale = Scale::fit(
        lanes
            .iter()
            .flat_map(Lane::values)
            .map(|value| value.min(limit)),
        axis.base,
        (LEFT, RIGHT),
    );
    let bottom = TOP + ROW * lanes.len() as f64;
    let body = html! {
        (grid(&scale, axis, bottom))
        @for (index, lane) in lanes.iter().enumerate() {
            @let middle = TOP + ROW * (index as f64 + 0.5);
            (row(lane, &scale, axis, middle, detail))
        }
    };
    let what = format!("{title}, one row per variant: {}", axis.name);
    marks::svg(id, (WIDTH, bottom + FOOT), title, &what, &body)
}

/// Ticks with their numbers, and the name of the axis.
pub fn grid(scale: &Scale, axis: Axis, bottom: f64) -> Markup {
    let name = match scale.caution() {
        Some(caution) => format!("{}; {caution}", axis.name),
        None => axis.name.to_owned(),
    };
    let middle = f64::midpoint(LEFT, RIGHT);
    html! {
        @for value in &scale.ticks {
            @let x = scale.at(*value);
            (line("grid", (x, TOP), (x, bottom)))
            (text("tick middle", (x, bottom + 14.0), &axis.tick(*value), 12))
        }
        (text("axis middle", (middle, bottom + 30.0), &name, 90)) "\n"
    }
}

fn row(lane: &Lane, scale: &Scale, axis: Axis, middle: f64, detail: Points) -> Markup {
    let places: Vec<_> = lane
        .dots
        .iter()
        .enumerate()
        .map(|(index, dot)| {
            (
                scale.at(dot.value),
                middle - 4.0 + CLOUD * jitter(index),
                dot,
            )
        })
        .collect();
    let right = (RIGHT + 8.0, middle + 4.0);
    html! {
        (text("name", (LEFT - 8.0, middle + 4.0), &lane.name, NAME_CHARS))
        (marks::points(&places, lane.look, detail))
        @if let Some(spread) = lane.result() {
            (result(lane, spread, scale, middle))
            (text("value", right, &format!("{}{}", lane.mark, (axis.label)(spread.median)), 14))
        } @else if lane.spread.is_some() {
            (marks::titled(text("none", right, "invalid", 14), lane.invalid.as_deref()))
        } @else if lane.dots.is_empty() {
            (text("none", (LEFT + 6.0, middle + 4.0), "no number", 48))
        } @else {
            (text("none", right, "none valid", 14))
        }
        "\n"
    }
}

/// The median and its interval.
fn result(lane: &Lane, spread: Spread, scale: &Scale, middle: f64) -> Markup {
    let (low, high) = (scale.at(spread.low), scale.at(spread.high));
    let (median, y) = (scale.at(spread.median), middle + 9.5);
    let top = middle - ROW / 2.0 + 3.0;
    html! {
        g class=(lane.look.classes()) {
            (line("range", (low, y), (high, y)))
            (line("median", (median, top), (median, y + 4.0)))
        }
    }
}
