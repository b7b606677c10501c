//! The smallest parts of a plot: text, coordinates, points and intervals.

use maud::{Markup, html};
use wasmbench_model::units::truncate;

use crate::markup::empty_element;

/// How single trials are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Points {
    /// Each with a label that appears under the pointer.
    Labelled,
    /// Without labels, except for dots that do not count.
    Plain,
    /// Not at all: medians and intervals only.
    None,
}

/// The number of colours for variants; further variants reuse them with another shape.
const COLOURS: usize = 8;

/// The look of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    colour: Option<usize>,
    is_square: bool,
}

impl Look {
    /// The look of the variant at `index`.
    pub fn from_index(index: usize) -> Self {
        Self {
            colour: Some(index % COLOURS),
            is_square: index / COLOURS % 2 == 1,
        }
    }

    /// The look of the baseline's twin.
    pub fn twin() -> Self {
        Self {
            colour: None,
            is_square: false,
        }
    }

    /// Classes of an element that carries the look.
    pub fn classes(self) -> String {
        let colour = self
            .colour
            .map_or_else(|| "twin".to_owned(), |colour| format!("c{colour}"));
        let shape = if self.is_square { " square" } else { "" };
        format!("{colour}{shape}")
    }
}

/// A number in a plot: a trial, or a pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// The number.
    pub value: f64,
    /// The text that appears under the pointer.
    pub label: String,
    /// Whether it counts; a dot that does not is drawn hollow and crossed.
    pub counts: bool,
    /// Whether it does not count only because its whole point is invalid. There may be as many such
    /// dots as dots that count, and the median gives the reason too.
    pub is_out_with_its_point: bool,
}

/// A coordinate with at most one decimal place.
pub fn px(coordinate: f64) -> String {
    let text = format!("{coordinate:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    let zero = short == "-0";
    if zero { "0" } else { short }.to_owned()
}

/// The number at a tick, without trailing zeros, which only show how precisely a measured number is
/// known.
pub fn tick(label: &str) -> String {
    let end = label
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(label.len());
    let (number, unit) = label.split_at(end);
    if !number.contains('.') {
        return label.to_owned();
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{unit}")
}

/// The dots at these coordinates, in the requested detail.
pub fn points(dots: &[(f64, f64, &Dot)], look: Look, detail: Points) -> Markup {
    let (counting, others): (Vec<_>, Vec<_>) =
        dots.iter().copied().partition(|(.., dot)| dot.counts);
    let (with_their_point, others): (Vec<_>, Vec<_>) = others
        .into_iter()
        .partition(|(.., dot)| dot.is_out_with_its_point);
    let counting = drawn(&counting, "", spot, detail);
    let out = format!("out {}", look.classes());
    html! {
        @if !counting.0.is_empty() { g class={ "dots " (look.classes()) } { (counting) } }
        (drawn(&with_their_point, &out, crossed, detail))
        // Dots that do not count on their own are never thinned out: they are few, and each has its
        // own reason.
        (drawn(&others, &out, crossed, Points::Labelled))
    }
}

/// Dots as paths of this class: one for each with its label, or one for all of them.
fn drawn(
    dots: &[(f64, f64, &Dot)],
    class: &str,
    shape: fn(f64, f64) -> String,
    detail: Points,
) -> Markup {
    match detail {
        Points::Labelled => {
            let class = Some(class).filter(|class| !class.is_empty());
            html! {
                @for (x, y, dot) in dots {
                    path class=[class] d=(shape(*x, *y)) { title { (dot.label) } }
                }
            }
        }
        Points::Plain if !dots.is_empty() => {
            let all: String = dots.iter().map(|(x, y, _)| shape(*x, *y)).collect();
            path(class, &all)
        }
        Points::Plain | Points::None => html! {},
    }
}

/// A line of zero length, whose round or square caps form the point.
fn spot(x: f64, y: f64) -> String {
    format!("M{} {}h0", px(x), px(y))
}

/// A hollow circle with a cross.
fn crossed(x: f64, y: f64) -> String {
    format!(
        "M{} {}a4 4 0 1 0 8 0a4 4 0 1 0-8 0m1.2-2.8l5.6 5.6m0-5.6l-5.6 5.6",
        px(x - 4.0),
        px(y)
    )
}

/// A line.
pub fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    path(
        class,
        &format!("M{} {}L{} {}", px(x1), px(y1), px(x2), px(y2)),
    )
}

/// A path, without a class if that is empty.
pub fn path(class: &str, d: &str) -> Markup {
    if class.is_empty() {
        return empty_element("path", &[("d", d)]);
    }
    empty_element("path", &[("class", class), ("d", d)])
}

/// Adds text that appears under the pointer; returns `svg` itself without a title.
pub fn titled(svg: Markup, title: Option<&str>) -> Markup {
    match title {
        Some(title) => html! { g { title { (title) } (svg) } },
        None => svg,
    }
}

/// A line of text, cut to `limit` characters; the whole text appears under the pointer if it was
/// cut.
pub fn text(class: &str, (x, y): (f64, f64), whole: &str, limit: usize) -> Markup {
    let shown = truncate(whole, limit);
    html! {
        text class=(class) x=(px(x)) y=(px(y)) {
            @if shown != whole { title { (whole) } }
            (shown)
        }
    }
}

/// A whole plot, with a name and a description for readers who cannot see it.
pub fn svg(
    id: &str,
    (width, height): (f64, f64),
    title: &str,
    what: &str,
    body: &Markup,
) -> Markup {
    html! {
        svg viewBox={ "0 0 " (px(width)) " " (px(height)) } role="img" aria-labelledby={ (id) "-t " (id) "-d" } {
            title id={ (id) "-t" } { (title) }
            desc id={ (id) "-d" } { (what) } "\n"
            (body)
        } "\n"
    }
}

/// An offset between -0.5 and 0.5 that spreads points which would overlap, evenly by the golden
/// ratio.
pub fn jitter(index: usize) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    let turns = index as f64 * GOLDEN;
    turns - turns.floor() - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!([12.0, 12.34, -0.01, 0.96].map(px), ["12", "12.3", "0", "1"]);
    }

    #[test]
    fn ticks_lose_zeros_only_after_the_decimal_point() {
        let shown = ["5.00 MiB", "12.0k", "100", "0.50 us", "1.05x", "20.0k"].map(tick);
        assert_eq!(shown, ["5 MiB", "12k", "100", "0.5 us", "1.05x", "20k"]);
    }

    #[test]
    fn trials_that_do_not_count_are_drawn_with_their_reason_at_every_detail() {
        let dot = |counts| Dot {
            value: 1.0,
            label: "b1: invalid".to_owned(),
            counts,
            is_out_with_its_point: false,
        };
        let (good, bad) = (dot(true), dot(false));
        for detail in [Points::Labelled, Points::Plain, Points::None] {
            let dots = [(1.0, 2.0, &good), (3.0, 4.0, &bad)];
            let svg = points(&dots, Look::from_index(0), detail).0;
            assert_eq!(svg.matches("class=\"out").count(), 1, "{svg}");
            assert_eq!(svg.contains("dots"), detail != Points::None);
        }
    }

    #[test]
    fn trials_of_invalid_points_are_crossed_as_long_as_points_are_drawn() {
        let dot = Dot {
            value: 1.0,
            label: "b1, point invalid: Throttled".to_owned(),
            counts: false,
            is_out_with_its_point: true,
        };
        let dots = [(1.0, 2.0, &dot), (3.0, 4.0, &dot)];
        let drawn = |detail| points(&dots, Look::from_index(0), detail).0;
        let [labelled, plain, none] = [Points::Labelled, Points::Plain, Points::None].map(drawn);
        assert_eq!(labelled.matches("point invalid: Throttled").count(), 2);
        assert_eq!(plain.matches("class=\"out").count(), 1, "{plain}");
        assert!(!plain.contains("dots") && plain.len() < labelled.len());
        assert_eq!(none, "");
    }
}
