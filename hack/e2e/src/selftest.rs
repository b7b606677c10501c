//! The lines that `make selftest` prints.

/// Prints what was found beside what was expected.
#[expect(clippy::print_stdout, reason = "figures are what a self test is for")]
pub fn found(name: &str, figure: &str, expected: &str) {
    println!("selftest: {name}: {figure} ({expected})");
}
