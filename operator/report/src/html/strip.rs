//! Strip plots: one row per variant, with a point for every trial and the median and its interval
//! below.

use std::fmt::Write as _;

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
pub fn strip(id: &str, title: &str, axis: Axis, lanes: &[Lane], detail: Points) -> String {
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
    let mut body = grid(&scale, axis, bottom);
    for (index, lane) in lanes.iter().enumerate() {
        let middle = TOP + ROW * (index as f64 + 0.5);
        body.push_str(&row(lane, &scale, axis, middle, detail));
    }
    let what = format!("{title}, one row per variant: {}", axis.name);
    marks::svg(id, (WIDTH, bottom + FOOT), title, &what, &body)
}

/// Ticks with their numbers, and the name of the axis.
pub fn grid(scale: &Scale, axis: Axis, bottom: f64) -> String {
    let mut svg = String::new();
    for value in &scale.ticks {
        let x = scale.at(*value);
        svg.push_str(&line("grid", (x, TOP), (x, bottom)));
        let label = axis.tick(*value);
        svg.push_str(&text("tick middle", (x, bottom + 14.0), &label, 12));
    }
    let name = match scale.caution() {
        Some(caution) => format!("{}; {caution}", axis.name),
        None => axis.name.to_owned(),
    };
    svg + &text(
        "axis middle",
        (f64::midpoint(LEFT, RIGHT), bottom + 30.0),
        &name,
        90,
    ) + "\n"
}

fn row(lane: &Lane, scale: &Scale, axis: Axis, middle: f64, detail: Points) -> String {
    let mut svg = text("name", (LEFT - 8.0, middle + 4.0), &lane.name, NAME_CHARS);
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
    svg.push_str(&marks::points(&places, lane.look, detail));
    if let Some(spread) = lane.result() {
        let (low, high) = (scale.at(spread.low), scale.at(spread.high));
        let (median, y) = (scale.at(spread.median), middle + 9.5);
        let _ = write!(
            svg,
            "<g class=\"{}\">{}{}</g>",
            lane.look.classes(),
            line("range", (low, y), (high, y)),
            line(
                "median",
                (median, middle - ROW / 2.0 + 3.0),
                (median, y + 4.0)
            ),
        );
        let value = format!("{}{}", lane.mark, (axis.label)(spread.median));
        svg.push_str(&text("value", (RIGHT + 8.0, middle + 4.0), &value, 14));
    } else if lane.spread.is_some() {
        let invalid = text("none", (RIGHT + 8.0, middle + 4.0), "invalid", 14);
        svg.push_str(&marks::titled(invalid, lane.invalid.as_deref()));
    } else if lane.dots.is_empty() {
        svg.push_str(&text("none", (LEFT + 6.0, middle + 4.0), "no number", 48));
    } else {
        svg.push_str(&text("none", (RIGHT + 8.0, middle + 4.0), "none valid", 14));
    }
    svg + "\n"
}
