//! Forest plots: ratios to the baseline with their intervals, and the differences that do not
//! matter (the minimum effect) and those that the node cannot resolve (the noise floor).

use maud::{Markup, html};
use wasmbench_model::units;

use crate::html::axis;
use crate::html::marks::{self, Dot, Look, Points, jitter, line, px, text};
use crate::html::scale::Scale;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 632.0;
const TOP: f64 = 6.0;
const ROW: f64 = 26.0;
const HEAD: f64 = 24.0;
const FOOT: f64 = 38.0;
/// Intervals may have any width; an axis beyond these ends would show nothing else.
const ENDS: (f64, f64) = (1e-3, 1e3);

/// Ratios of one metric.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Name of the metric, and the point at which it is compared.
    pub name: String,
    /// The factor above 1 by which the baseline may differ from its twin.
    pub noise_floor: Option<f64>,
    /// One per variant, the twin last.
    pub ratios: Vec<Ratio>,
}

/// A ratio with its interval.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// Name of the variant.
    pub name: String,
    /// Its look.
    pub look: Look,
    /// The ratio.
    pub estimate: f64,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
    /// The ratio of each block.
    pub blocks: Vec<f64>,
    /// Ratio, interval and verdict in words.
    pub words: String,
}

impl Ratio {
    fn values(&self) -> impl Iterator<Item = f64> {
        let ends = self
            .interval
            .into_iter()
            .flat_map(|(low, high)| [low, high]);
        let all = self
            .blocks
            .iter()
            .copied()
            .chain(ends)
            .chain([self.estimate]);
        all.map(|ratio| ratio.clamp(ENDS.0, ENDS.1))
    }
}

/// A forest plot of these groups. Differences matter from `minimum_effect` on, a factor above 1.
pub fn forest(
    id: &str,
    title: &str,
    baseline: &str,
    groups: &[Group],
    minimum_effect: Option<f64>,
    detail: Points,
) -> Markup {
    let effect = minimum_effect.map(|factor| (1.0 / factor, factor));
    let values = groups
        .iter()
        .flat_map(|group| &group.ratios)
        .flat_map(Ratio::values)
        .chain(effect.into_iter().flat_map(|(low, high)| [low, high]));
    let scale = Scale::ratios(values, (LEFT, RIGHT));
    let rows: f64 = groups.iter().map(height).sum();
    let bottom = TOP + rows;
    let tops = groups.iter().scan(TOP, |next, group| {
        let top = *next;
        *next += height(group);
        Some(top)
    });
    let placed: Vec<(f64, &Group)> = tops.zip(groups).collect();
    let body = html! {
        @if let Some(ends) = effect { (zone("effect", &scale, ends, (TOP, rows), "minimum effect")) }
        @for (top, group) in &placed {
            @if let Some(factor) = group.noise_floor {
                @let place = (top + HEAD, height(group) - HEAD);
                (zone("floor", &scale, (1.0 / factor, factor), place, "noise floor"))
            }
        }
        (axis::of_ratios(&scale, (TOP, bottom), baseline))
        @for (top, group) in &placed { (rows_of(group, &scale, *top, detail)) }
    };
    let what = format!("{title}: ratios to {baseline} with their 95 % intervals and verdicts");
    marks::svg(id, (WIDTH, bottom + FOOT), title, &what, &body)
}

fn height(group: &Group) -> f64 {
    HEAD + ROW * group.ratios.len() as f64
}

fn zone(
    class: &str,
    scale: &Scale,
    (low, high): (f64, f64),
    (y, tall): (f64, f64),
    name: &str,
) -> Markup {
    let (from, to) = (scale.at(low), scale.at(high));
    html! {
        rect class=(class) x=(px(from)) y=(px(y)) width=(px(to - from)) height=(px(tall)) {
            title { (name) ": " (units::ratio(low)) " to " (units::ratio(high)) }
        }
    }
}

fn rows_of(group: &Group, scale: &Scale, top: f64, detail: Points) -> Markup {
    html! {
        (text("group", (8.0, top + 17.0), &group.name, 100)) "\n"
        @for (index, ratio) in group.ratios.iter().enumerate() {
            @let middle = top + HEAD + ROW * (index as f64 + 0.5);
            (row(ratio, scale, middle, detail))
        }
    }
}

fn row(ratio: &Ratio, scale: &Scale, middle: f64, detail: Points) -> Markup {
    let dots: Vec<Dot> = ratio
        .blocks
        .iter()
        .map(|value| Dot {
            value: *value,
            label: format!("{}, one block: {}", ratio.name, units::ratio(*value)),
            counts: true,
            is_out_with_its_point: false,
        })
        .collect();
    let places: Vec<_> = dots
        .iter()
        .enumerate()
        .map(|(index, dot)| (scale.at(dot.value), middle + 14.0 * jitter(index), dot))
        .collect();
    let at = scale.at(ratio.estimate);
    html! {
        (text("name", (LEFT - 10.0, middle + 4.0), &ratio.name, 28))
        g.faint { (marks::points(&places, ratio.look, detail)) }
        g class=(ratio.look.classes()) {
            @if let Some((low, high)) = ratio.interval {
                (line("range", (scale.at(low), middle), (scale.at(high), middle)))
            }
            (line("median", (at, middle - 8.0), (at, middle + 8.0)))
        }
        (text("words", (RIGHT + 12.0, middle + 4.0), &ratio.words, 48)) "\n"
    }
}
