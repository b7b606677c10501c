//! The lines that `make selftest` and `make bench` print.

/// Prints what was found beside what was expected.
#[expect(clippy::print_stdout, reason = "figures are what a self test is for")]
pub fn found(name: &str, figure: &str, expected: &str) {
    println!("selftest: {name}: {figure} ({expected})");
}

/// Prints a figure of a benchmark as `bench: <name> <value> <unit>`, and whether it keeps its bound.
#[expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]
pub fn at_least(name: &str, value: f64, unit: &str, bound: f64) -> bool {
    println!("bench: {name} {value:.3} {unit}");
    let keeps = value >= bound;
    if !keeps {
        println!("       is below its bound: {bound}");
    }
    keeps
}
