//! Axes that several plots share.

use wasmbench_model::units;

use crate::html::marks::{line, text, tick};
use crate::html::scale::Scale;

/// A horizontal axis of ratios to `base` below a plot, with lines through the plot, of which the
/// one at 1 stands out.
pub fn of_ratios(scale: &Scale, (top, bottom): (f64, f64), base: &str) -> String {
    let mut svg = String::new();
    for value in &scale.ticks {
        let x = scale.at(*value);
        svg.push_str(&line("grid", (x, top), (x, bottom)));
        let label = tick(&units::ratio(*value));
        svg.push_str(&text("tick middle", (x, bottom + 14.0), &label, 12));
    }
    let one = scale.at(1.0);
    svg.push_str(&line("one", (one, top), (one, bottom)));
    let name = format!("multiple of {base}; logarithmic axis");
    svg + &text("axis middle", (scale.middle(), bottom + 30.0), &name, 90) + "\n"
}
