//! Curves over the number of connections or another amount of load: one line per variant through
//! its medians, with the band of the medians' intervals, and a point for every trial.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::html::lane::{Axis, Lane};
use crate::html::marks::{self, Look, Points, line, path, px, text};
use crate::html::outliers::limit;
use crate::html::scale::Scale;

const WIDTH: f64 = 520.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 508.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 236.0;
const HEIGHT: f64 = 276.0;
/// Space left of the first and right of the last number of connections.
const MARGIN: f64 = 26.0;
/// Half the length of a median.
const DASH: f64 = 5.0;
/// Room for a number on the axis of connections.
const TICK_ROOM: f64 = 30.0;

/// What one variant does at each amount of load.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Name of the variant.
    pub name: String,
    /// Its look.
    pub look: Look,
    /// Amounts of load, and what was measured at each.
    pub points: Vec<(u32, Lane)>,
}

/// A plot of these curves over an amount of load that is called `load`; `knee` is an amount to
/// mark, with the reason.
pub fn plot(
    id: &str,
    title: &str,
    axis: Axis,
    load: &str,
    curves: &[Curve],
    knee: Option<(u32, String)>,
    detail: Points,
) -> Markup {
    let lanes = curves.iter().flat_map(|curve| &curve.points);
    let limit = limit(lanes.clone().map(|(_, lane)| lane));
    let values = lanes
        .clone()
        .flat_map(|(_, lane)| lane.values())
        .map(|value| value.min(limit));
    let up = Scale::fit(values, axis.base, (BOTTOM, TOP));
    let counts: Vec<u32> = lanes.map(|(connections, _)| *connections).collect();
    let across = Scale::connections(&counts, (LEFT + MARGIN, RIGHT - MARGIN));
    let step = dodge(&across, curves.len());
    let body = html! {
        (frame(&across, &up, axis, load))
        @if let Some((connections, why)) = knee {
            (marked(across.at(f64::from(connections)), &why)) "\n"
        }
        @for (index, curve) in curves.iter().enumerate() {
            @let shift = step * (index as f64 - (curves.len() as f64 - 1.0) / 2.0);
            @let x = |connections: u32| across.at(f64::from(connections)) + shift;
            (drawn(curve, x, &up, detail))
        }
    };
    let what = format!("{title} by {load}, one line per variant: {}", axis.name);
    marks::svg(id, (WIDTH, HEIGHT), title, &what, &body)
}

/// A line at `x`, with the reason on the side that has more room.
fn marked(x: f64, why: &str) -> Markup {
    let side = if x > f64::midpoint(LEFT, RIGHT) {
        "tick end"
    } else {
        "tick"
    };
    html! {
        (line("knee", (x, TOP), (x, BOTTOM)))
        (text(side, (x, TOP - 6.0), why, 40))
    }
}

/// Distance between neighbouring variants at the same number of connections, so that their points
/// do not cover each other and stay clear of those at the next number.
fn dodge(across: &Scale, curves: usize) -> f64 {
    let places: Vec<f64> = across.ticks.iter().map(|tick| across.at(*tick)).collect();
    let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
    let room = gaps.fold(2.0 * MARGIN, f64::min) * 0.7;
    (room / curves.max(1) as f64).min(9.0)
}

fn frame(across: &Scale, up: &Scale, axis: Axis, load: &str) -> Markup {
    let caution = up
        .caution()
        .map_or_else(String::new, |caution| format!("; {caution}"));
    let name = format!("{load}; vertical: {}{caution}", axis.name);
    let middle = f64::midpoint(LEFT, RIGHT);
    html! {
        @for value in &up.ticks {
            @let y = up.at(*value);
            (line("grid", (LEFT, y), (RIGHT, y)))
            (text("tick end", (LEFT - 6.0, y + 4.0), &axis.tick(*value), 12))
        }
        @for (x, label) in ticks(across) {
            (line("grid", (x, BOTTOM), (x, BOTTOM + 4.0)))
            @if let Some(label) = label { (text("tick middle", (x, BOTTOM + 16.0), &label, 12)) }
        }
        (text("axis middle", (middle, BOTTOM + 34.0), &name, 90)) "\n"
    }
}

/// Where the numbers of connections are, each with its number if there is room for it.
fn ticks(across: &Scale) -> Vec<(f64, Option<String>)> {
    let mut free_from = f64::MIN;
    let tick = |connections: &f64| {
        let x = across.at(*connections);
        let label = (x >= free_from).then(|| format!("{connections:.0}"));
        if label.is_some() {
            free_from = x + TICK_ROOM;
        }
        (x, label)
    };
    across.ticks.iter().map(tick).collect()
}

/// A curve with its points.
fn drawn(curve: &Curve, x: impl Fn(u32) -> f64, up: &Scale, detail: Points) -> Markup {
    html! {
        (through_medians(curve, &x, up))
        @for (connections, lane) in &curve.points {
            @let at = x(*connections);
            @let places: Vec<_> = lane.dots.iter().map(|dot| (at, up.at(dot.value), dot)).collect();
            (marks::points(&places, lane.look, detail))
            @if let Some(spread) = lane.result() {
                @let y = up.at(spread.median);
                g class=(lane.look.classes()) { (line("median", (at - DASH, y), (at + DASH, y))) }
            }
        }
        "\n"
    }
}

/// Lines and bands connect only ranked points; the others stay single.
fn through_medians(curve: &Curve, x: impl Fn(u32) -> f64, up: &Scale) -> Markup {
    let ranked = curve.points.iter().filter(|(_, lane)| lane.is_ranked);
    let known: Vec<_> = ranked
        .filter_map(|(connections, lane)| Some((x(*connections), lane.spread?)))
        .collect();
    if known.is_empty() {
        return html! {};
    }
    let at = |x: f64, value: f64| format!("{} {}", px(x), px(up.at(value)));
    let medians: Vec<String> = known.iter().map(|(x, s)| at(*x, s.median)).collect();
    let upper = known.iter().map(|(x, s)| at(*x, s.high));
    let lower = known.iter().rev().map(|(x, s)| at(*x, s.low));
    let band: Vec<String> = upper.chain(lower).collect();
    let bars = known.iter().fold(String::new(), |mut bars, (x, spread)| {
        let _ = write!(bars, "M{}V{}", at(*x, spread.low), px(up.at(spread.high)));
        bars
    });
    html! {
        g class=(curve.look.classes()) {
            (path("band", &format!("M{}z", band.join("L"))))
            (path("bar", &bars))
            path class="curve" d={ "M" (medians.join("L")) } { title { (curve.name) } }
        }
    }
}
