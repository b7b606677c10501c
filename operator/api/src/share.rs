//! Shares as people write them.

/// A text such as `5%` as a share (0.05); `None` when it is none.
pub fn share_of(percent: &str) -> Option<f64> {
    let number: f64 = percent.strip_suffix('%')?.parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}
