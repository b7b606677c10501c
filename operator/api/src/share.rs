//! Percentages as users write them.

/// Parses a percentage such as `5%` into a share (0.05). Returns `None` for anything else.
pub fn share_of(percent: &str) -> Option<f64> {
    let number: f64 = percent.strip_suffix('%')?.parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}
