//! How many digits numbers keep.

/// Digits that numbers of a summary keep: more than any of them supports, but few enough to stay
/// short.
const SUMMARY_DIGITS: usize = 5;

/// Digits of latencies and CPU times: they are interpolated inside buckets up to 25 % wide, or
/// divided among requests, so that more digits would be made up.
const TIME_DIGITS: usize = 4;

/// Digits of p-values: a third would mean nothing.
pub const P_DIGITS: usize = 2;

/// `value` rounded to `digits` significant decimal digits.
pub fn round_significant(value: f64, digits: usize) -> f64 {
    if !value.is_finite() {
        return value;
    }
    // Through decimal text: the result is the shortest number that prints with these digits.
    format!("{value:.*e}", digits.saturating_sub(1))
        .parse()
        .unwrap_or(value)
}

/// A number as a summary keeps it.
pub fn round_number(value: f64) -> f64 {
    round_significant(value, SUMMARY_DIGITS)
}

/// A latency or a CPU time as a summary keeps it.
pub fn round_time(value: f64) -> f64 {
    round_significant(value, TIME_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_significant_digits() {
        let rounded = |value| round_significant(value, 4).to_string();
        assert_eq!(rounded(12_345.678), "12350");
        assert_eq!(rounded(0.000_123_456), "0.0001235");
        assert_eq!(rounded(0.0), "0");
        assert!(round_significant(f64::NAN, 4).is_nan());
    }
}
