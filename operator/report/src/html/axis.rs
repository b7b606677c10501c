//! Axes that several plots share.

use maud::{Markup, html};
use wasmbench_model::units;

use crate::html::marks::{line, text, tick};
use crate::html::scale::Scale;

/// A horizontal axis of ratios to `base` below a plot, with lines through the plot, of which the
/// one at 1 stands out.
pub fn of_ratios(scale: &Scale, (top, bottom): (f64, f64), base: &str) -> Markup {
    let one = scale.at(1.0);
    let name = format!("multiple of {base}; logarithmic axis");
    html! {
        @for value in &scale.ticks {
            @let x = scale.at(*value);
            (line("grid", (x, top), (x, bottom)))
            (text("tick middle", (x, bottom + 14.0), &tick(&units::ratio(*value)), 12))
        }
        (line("one", (one, top), (one, bottom)))
        (text("axis middle", (scale.middle(), bottom + 30.0), &name, 90)) "\n"
    }
}
