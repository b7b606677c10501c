//! Ladders of rates: p99 against the rate, a point for every rung of every trial, one line per variant
//! through the medians of its rungs, and the target. Rates that were tried between two rungs are points,
//! too, each at its own place.

use maud::{Markup, html};
use wasmbench_model::units;

use crate::html::marks::{self, Dot, Look, Points, line, path, px, text, tick};
use crate::html::scale::Scale;
use crate::html::target::{self, Target};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 940.0;
const TOP: f64 = 6.0;
/// Height of the plot without the strip above it.
const TALL: f64 = 300.0;
/// Height of the area below the plot.
const FOOT: f64 = 40.0;
/// What the vertical axis shows.
const TIME: &str = "p99 from when a request was due to its answer (us, ms, s)";

/// What one variant did on the ladder.
#[derive(Clone, Debug)]
pub struct Ladder {
    /// Name of the variant.
    pub name: String,
    /// Its look.
    pub look: Look,
    /// Every rung of every trial: the rate in requests per second, and the p99 in microseconds. One
    /// without a p99 is endless, and drawn at the end of the axis.
    pub dots: Vec<(f64, Dot)>,
    /// The medians of rate and p99 of each rung, in ascending order.
    pub medians: Vec<(f64, f64)>,
}

/// A plot of these ladders.
pub fn plot(id: &str, title: &str, ladders: &[Ladder], target: &Target, detail: Points) -> Markup {
    let top = TOP + target.strip();
    let bottom = top + TALL;
    let dots = ladders.iter().flat_map(|ladder| &ladder.dots);
    let medians = ladders.iter().flat_map(|ladder| &ladder.medians);
    let points = dots
        .map(|(rate, dot)| (*rate, dot.value))
        .chain(medians.copied());
    let (rates, times): (Vec<f64>, Vec<f64>) = points.unzip();
    let across = Scale::fit(rates, 1000.0, (LEFT, RIGHT));
    let times = times.into_iter().chain([target.value]);
    let up = Scale::fit(times, 1000.0, (bottom, top));
    let body = html! {
        (frame(&across, &up, (top, bottom)))
        (target::drawn(target, (&across, &up), (LEFT, RIGHT), TOP))
        @for ladder in ladders { (drawn(ladder, &across, &up, detail)) "\n" }
    };
    let what = format!(
        "{title}, one line per variant, with the target and where each variant crosses it: {TIME}"
    );
    marks::svg(id, (WIDTH, bottom + FOOT), title, &what, &body)
}

/// The axes, with their numbers and names.
fn frame(across: &Scale, up: &Scale, (top, bottom): (f64, f64)) -> Markup {
    let caution = |scale: &Scale| {
        let caution = scale.caution();
        caution.map_or_else(String::new, |caution| format!(", {caution}"))
    };
    let name = format!(
        "requests per second{}; vertical: {TIME}{}",
        caution(across),
        caution(up)
    );
    let middle = f64::midpoint(LEFT, RIGHT);
    html! {
        @for time in &up.ticks {
            @let y = up.at(*time);
            (line("grid", (LEFT, y), (RIGHT, y)))
            (text("tick end", (LEFT - 6.0, y + 4.0), &number(*time, units::micros), 12))
        }
        @for rate in &across.ticks {
            @let x = across.at(*rate);
            (line("grid", (x, top), (x, bottom)))
            (text("tick middle", (x, bottom + 16.0), &number(*rate, units::rate), 12))
        }
        (text("axis middle", (middle, bottom + 34.0), &name, 160)) "\n"
    }
}

/// The number at a tick.
fn number(value: f64, label: fn(f64) -> String) -> String {
    if value > 0.0 {
        tick(&label(value))
    } else {
        "0".to_owned()
    }
}

/// A variant's points, and the line through its medians with a mark at each.
fn drawn(ladder: &Ladder, across: &Scale, up: &Scale, detail: Points) -> Markup {
    let dots = ladder.dots.iter();
    let places: Vec<_> = dots
        .map(|(rate, dot)| (across.at(*rate), up.at(dot.value), dot))
        .collect();
    let medians = ladder.medians.iter();
    let medians: Vec<(f64, f64)> = medians
        .map(|(rate, time)| (across.at(*rate), up.at(*time)))
        .collect();
    let corners: Vec<String> = medians
        .iter()
        .map(|(x, y)| format!("{} {}", px(*x), px(*y)))
        .collect();
    let spots = format!("M{}h0", corners.join("h0M"));
    html! {
        g.faint { (marks::points(&places, ladder.look, detail)) }
        @if !corners.is_empty() {
            g class=(ladder.look.classes()) {
                path class="curve" d={ "M" (corners.join("L")) } { title { (ladder.name) } }
                g.dots { (path("", &spots)) }
            }
        }
    }
}
