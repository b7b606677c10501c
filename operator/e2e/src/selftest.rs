//! The lines that `make selftest` and `make bench` print.

use std::ops::RangeInclusive;

/// Prints what was found next to what was expected.
#[expect(clippy::print_stdout, reason = "figures are what a self test is for")]
pub fn found(name: &str, figure: &str, expected: &str) {
    println!("selftest: {name}: {figure} ({expected})");
}

/// Prints a benchmark figure as `bench: <name> <value> <unit>`, and returns whether it keeps its
/// lower bound.
pub fn at_least(name: &str, value: f64, unit: &str, bound: f64) -> bool {
    printed(name, value, unit);
    kept(value >= bound, "below", bound)
}

/// Prints a figure that should be small, and returns whether it keeps its upper bound.
pub fn at_most(name: &str, value: f64, unit: &str, bound: f64) -> bool {
    printed(name, value, unit);
    kept(value <= bound, "above", bound)
}

/// Prints a figure that should be near one value, and returns whether it keeps both bounds.
pub fn within(name: &str, value: f64, unit: &str, bounds: &RangeInclusive<f64>) -> bool {
    printed(name, value, unit);
    kept(value >= *bounds.start(), "below", *bounds.start())
        && kept(value <= *bounds.end(), "above", *bounds.end())
}

/// Prints that a figure is missing; returns that it does not keep its bound.
#[expect(
    clippy::print_stdout,
    reason = "a missing figure is reported where it would stand"
)]
pub fn missing(name: &str) -> bool {
    println!(
        "bench: {name} was not found, as every point behind it is invalid: is the machine quiet?"
    );
    false
}

#[expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]
fn printed(name: &str, value: f64, unit: &str) {
    println!("bench: {name} {value:.3} {unit}");
}

#[expect(clippy::print_stdout, reason = "it stands below the figure")]
fn kept(keeps: bool, side: &str, bound: f64) -> bool {
    if !keeps {
        println!("       is {side} its bound: {bound}");
    }
    keeps
}
