//! Numbers for people: three significant digits and a unit that keeps them short. ASCII only.

/// Shown where there is no number.
pub const NOTHING: &str = "-";

use crate::rounding::round_significant;

/// Significant digits that are shown to people.
const DIGITS: usize = 3;

/// A latency or CPU time given in microseconds: `812 us`, `1.24 ms`, `2.35 s`.
pub fn micros(microseconds: f64) -> String {
    let rounded = round_significant(microseconds, DIGITS);
    if rounded < 1e3 {
        format!("{} us", short(rounded))
    } else if rounded < 1e6 {
        format!("{} ms", short(rounded / 1e3))
    } else {
        format!("{} s", short(rounded / 1e6))
    }
}

/// A rate in requests per second without its unit: `812`, `12.3k`, `1.24M`.
pub fn rate(per_second: f64) -> String {
    let rounded = round_significant(per_second, DIGITS);
    if rounded < 1e3 {
        short(rounded)
    } else if rounded < 1e6 {
        format!("{}k", short(rounded / 1e3))
    } else {
        format!("{}M", short(rounded / 1e6))
    }
}

/// An amount of memory given in bytes: `640 KiB`, `12.4 MiB`, `1.50 GiB`.
pub fn bytes(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    let (unit, name) = match bytes {
        b if b < KIB => return format!("{bytes:.0} B"),
        b if b < KIB * KIB => (KIB, "KiB"),
        b if b < KIB * KIB * KIB => (KIB * KIB, "MiB"),
        _ => (KIB * KIB * KIB, "GiB"),
    };
    format!("{} {name}", short(round_significant(bytes / unit, DIGITS)))
}

/// A number whose unit the user chooses, such as money: `0.000312`, `4.20`, `1230`.
pub fn amount(value: f64) -> String {
    short(round_significant(value, DIGITS))
}

/// A ratio: `0.52x`, `1.00x`, `12.3x`.
pub fn ratio(ratio: f64) -> String {
    format!("{}x", ratio_number(ratio))
}

/// A ratio without the `x`, with two decimal places unless it is very small or large.
pub fn ratio_number(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) {
        format!("{ratio:.2}")
    } else {
        short(round_significant(ratio, DIGITS))
    }
}

/// A share (0 to 1) in percent: `43 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A share (0 to 1) in percent without the sign, with enough digits to distinguish it from all and
/// none: `99.980`, `0.012`.
pub fn exact_percent(share: f64) -> String {
    let percent = share * 100.0;
    let rest = round_significant(percent.min(100.0 - percent).abs(), 2);
    if rest == 0.0 || rest >= 10.0 {
        return format!("{percent:.0}");
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 9"
    )]
    let digits = (1.0 - libm::log10(rest).floor()).clamp(0.0, 9.0) as usize;
    format!("{percent:.digits$}")
}

/// How far a factor is above 1: `4.2 %` for 1.042. Two trials that scatter may give any number of digits, of which
/// none says more than that.
pub fn excess(factor: f64) -> String {
    let percent = (factor - 1.0) * 100.0;
    if percent > 1000.0 {
        "over 1000 %".to_owned()
    } else if percent < 10.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// A number of seconds: `45 s`, `12 min`, `2 h 5 min`, `3 d 4 h`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// A number of at most three significant digits, with the trailing zeros that show them: `1.50`,
/// `15.0`.
fn short(value: f64) -> String {
    match value.abs() {
        v if v == 0.0 || v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 => format!("{value:.2}"),
        _ => format!("{value}"),
    }
}

/// Characters of a digest in tables; a report's `environment.json` has all of them.
const DIGEST_CHARS: usize = 12;

/// The text with each digest truncated to its first digits: `app@sha256:0123456789ab`.
pub fn short_digests(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_hexdigit).count();
        let (digest, rest) = part.split_at(digits);
        let shown = digest.get(..DIGEST_CHARS).unwrap_or(digest);
        short.extend(["sha256:", shown, rest]);
    }
    short
}

/// A text truncated to at most `limit` characters, with dots at the end if something is missing.
pub fn truncate(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(3)).collect();
    kept + "..."
}

/// `0.52x (0.48-0.55), slower`; without the interval when there is only one block.
pub fn judged_ratio(value: f64, interval: Option<(f64, f64)>, verdict: &str) -> String {
    format!("{}, {verdict}", ratio_within(value, interval))
}

/// `0.52x (0.48-0.55)`; without the interval when there is none.
pub fn ratio_within(value: f64, interval: Option<(f64, f64)>) -> String {
    let interval = interval.map_or_else(String::new, |ends| format!(" ({})", ratio_interval(ends)));
    format!("{}{interval}", ratio(value))
}

/// `0.48-0.55`.
pub fn ratio_interval((low, high): (f64, f64)) -> String {
    format!("{}-{}", ratio_number(low), ratio_number(high))
}

/// A percentile, marked as decided by single requests unless there are enough requests to support
/// it.
pub fn marked(percentile: String, is_carried: bool) -> String {
    if is_carried || percentile == NOTHING {
        percentile
    } else {
        format!("~{percentile}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_choose_their_unit() {
        let shown: Vec<String> = [0.5, 81.26, 812.4, 999.9, 1240.0, 2_350_000.0]
            .map(micros)
            .into();
        assert_eq!(
            shown,
            [
                "0.50 us", "81.3 us", "812 us", "1.00 ms", "1.24 ms", "2.35 s"
            ]
        );
    }

    #[test]
    fn an_excess_has_few_digits_however_large_it_is() {
        let shown = [1.042, 1.75, 11.0, 1.5e22, f64::INFINITY].map(excess);
        assert_eq!(
            shown,
            ["4.2 %", "75 %", "1000 %", "over 1000 %", "over 1000 %"]
        );
    }

    #[test]
    fn digests_are_shown_by_their_first_digits() {
        let digest = "0123456789abcdef".repeat(4);
        let text = format!("host/a@sha256:{digest}, sha256:{digest}, host/b:1");
        let wanted = "host/a@sha256:0123456789ab, sha256:0123456789ab, host/b:1";
        assert_eq!(short_digests(&text), wanted);
        assert_eq!(short_digests("sha256:abc, sha256:"), "sha256:abc, sha256:");
    }

    #[test]
    fn rates_are_shown_in_thousands_and_millions() {
        let shown: Vec<String> = [0.0, 7.5, 812.0, 999.9, 12_345.0, 1_240_000.0]
            .map(rate)
            .into();
        assert_eq!(shown, ["0", "7.50", "812", "1.00k", "12.3k", "1.24M"]);
    }

    #[test]
    fn shares_near_zero_and_one_keep_their_significant_digits() {
        let shown: Vec<String> = [0.0, 0.000_12, 0.5, 0.999_8, 0.975, 1.0]
            .map(exact_percent)
            .into();
        let expected = ["0", "0.012", "50", "99.980", "97.5", "100"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn memory_is_shown_in_binary_units() {
        let shown: Vec<String> = [12.0, 655_360.0, 13_002_342.0, 1_610_612_736.0]
            .map(bytes)
            .into();
        assert_eq!(shown, ["12 B", "640 KiB", "12.4 MiB", "1.50 GiB"]);
    }

    #[test]
    fn ratios_show_two_decimal_places() {
        let shown: Vec<String> = [0.5234, 1.0, 12.345, 0.01234, 9.999].map(ratio).into();
        assert_eq!(shown, ["0.52x", "1.00x", "12.3x", "0.0123x", "10.00x"]);
    }

    #[test]
    fn an_amount_keeps_three_significant_digits_however_small() {
        let shown: Vec<String> = [0.0, 0.000_312_4, 0.25, 4.2, 73.0, 1234.0]
            .map(amount)
            .into();
        let expected = ["0", "0.000312", "0.25", "4.20", "73.0", "1230"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn durations_use_two_units_at_most() {
        let shown: Vec<String> = [45, 720, 7500, 273_600].map(duration).into();
        assert_eq!(shown, ["45 s", "12 min", "2 h 5 min", "3 d 4 h"]);
    }
}
