//! Amounts of CPU and memory as Kubernetes writes them: text in, a number or one common form out.

use serde::{Deserialize, Deserializer};

/// Digits behind the point of the smallest amount that Kubernetes distinguishes.
const RESOLUTION: i32 = 9;
/// Billionths in a whole.
const WHOLE: u128 = 1_000_000_000;
/// The largest amount that Kubernetes knows, in billionths.
const MOST: u128 = (i64::MAX as u128) * WHOLE;
/// Suffixes for powers of 1000, the smallest first.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Suffixes for powers of 1024, from 1024 on.
const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Pattern of an amount that is not negative, in any form that Kubernetes takes: `1.5Gi`, `.5`,
/// `100m`, `1e9`.
pub const PATTERN: &str =
    r"^\+?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$";

/// The Kubernetes quantity `text` in thousandths of its unit, rounded up. `None` if it is none, is
/// negative or is more than Kubernetes knows.
pub fn thousandths(text: &str) -> Option<u128> {
    Some(billionths(text)?.div_ceil(WHOLE / 1000))
}

/// The one form of an amount that may be written in many: `1.5Gi` and `1610612736` are `1536Mi`.
/// `None` for what [`thousandths`] does not know.
pub fn canonical(text: &str) -> Option<String> {
    let amount = billionths(text)?;
    let decimal = shortened(amount, 1000, &DECIMAL);
    let bytes = amount / WHOLE;
    let is_binary = amount == bytes * WHOLE && bytes != 0 && bytes.is_multiple_of(1024);
    let binary = is_binary.then(|| shortened(bytes / 1024, 1024, &BINARY));
    // Which suffix somebody wrote does not change the amount: the shorter text is the one.
    Some(match binary {
        Some(binary) if binary.len() < decimal.len() => binary,
        _ => decimal,
    })
}

/// Reads an optional amount in its canonical form. What is none stays as it is, so that whoever
/// checks it can name its field.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(from)?;
    Ok(text.map(|text| canonical(&text).unwrap_or(text)))
}

/// `amount` without the factors of `base` that a suffix can stand for.
fn shortened(mut amount: u128, base: u128, suffixes: &[&str]) -> String {
    if amount == 0 {
        return "0".to_owned();
    }
    let mut suffixes = suffixes.iter();
    let mut suffix = suffixes.next();
    while amount.is_multiple_of(base)
        && let Some(next) = suffixes.next()
    {
        amount /= base;
        suffix = Some(next);
    }
    format!("{amount}{}", suffix.copied().unwrap_or_default())
}

/// The amount in billionths of its unit, rounded up as Kubernetes does.
fn billionths(text: &str) -> Option<u128> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, suffix) = text.split_at(end.unwrap_or(text.len()));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    // A second point would be a digit here.
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let (factor, power) = factor(suffix)?;
    let amount = digits.parse::<u128>().ok()?.checked_mul(factor)?;
    let power = power + RESOLUTION - i32::try_from(fraction.len()).ok()?;
    let scale = 10_u128.checked_pow(power.unsigned_abs());
    let amount = match (power < 0, scale) {
        (true, Some(scale)) => amount.div_ceil(scale),
        // Less than the smallest amount, which is what it counts as.
        (true, None) => amount.min(1),
        (false, _) if amount == 0 => 0,
        (false, scale) => amount.checked_mul(scale?)?,
    };
    (amount <= MOST).then_some(amount)
}

/// What a suffix multiplies by: a number, and a power of ten.
fn factor(suffix: &str) -> Option<(u128, i32)> {
    let place = |all: &[&str]| all.iter().position(|known| *known == suffix);
    if let Some(place) = place(&DECIMAL) {
        return Some((1, 3 * i32::try_from(place).ok()? - RESOLUTION));
    }
    if let Some(place) = place(&BINARY) {
        return Some((1024_u128.pow(u32::try_from(place).ok()? + 1), 0));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let power: i8 = exponent.parse().ok()?;
    Some((1, i32::from(power)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn amounts_are_compared_across_units() {
        let is = |text: &str| thousandths(text).unwrap();
        assert_eq!(is("1500m"), is("1.5"));
        assert_eq!(is("1Gi"), is("1024Mi"));
        assert_eq!(is("1M"), is("1000k"));
        assert!(is("1G") < is("1Gi"));
        assert_eq!(is("0"), 0);
        assert_eq!(is("2Ti"), is("2048Gi"));
        assert_eq!(is("1000G"), is("1T"));
        assert_eq!(is("1Pi"), is("1024Ti"));
        assert_eq!(is("1E"), is("1e18"));
        assert_eq!(is("1u"), 1, "what is too small is rounded up");
        for none in [
            "-1", "", ".", "1.5.5", "1e", "1e1.5", "1gi", "1 ", "e9", "Gi",
        ] {
            assert_eq!(thousandths(none), None, "{none}");
        }
        assert_eq!(thousandths("9E"), thousandths("9e18"));
        for too_much in ["10E", "1e99", &"9".repeat(40)] {
            assert_eq!(thousandths(too_much), None, "{too_much}");
        }
    }

    #[test]
    fn equal_amounts_have_one_canonical_form() {
        for (forms, wanted) in [
            (vec!["1.5Gi", "1610612736", "1536Mi", "1572864Ki"], "1536Mi"),
            (
                vec![".5", "0.5", "500m", "5e-1", "500000u", "+0.50"],
                "500m",
            ),
            (vec!["1e9", "1E9", "1000000000", "1G", "1000M"], "1G"),
            (vec!["2", "2.", "2000m", "2e0"], "2"),
            (vec!["0", "0Gi", "0.0", "0e9", "0m"], "0"),
            (vec!["1Gi", "1024Mi", "1.0Gi"], "1Gi"),
            (vec!["100n", ".0000001"], "100n"),
            (vec!["0.0000000001", "1e-50"], "1n"),
        ] {
            for form in forms {
                assert_eq!(canonical(form).as_deref(), Some(wanted), "{form}");
            }
        }
    }

    /// Any text that the CRD's pattern accepts.
    fn written() -> impl Strategy<Value = String> {
        let number = prop_oneof!["[0-9]{1,8}", r"[0-9]{1,5}\.[0-9]{0,6}", r"\.[0-9]{1,6}"];
        let suffix = prop_oneof![
            Just(String::new()),
            "[KMGTP]i",
            "[numkMGTP]",
            "[eE][+-]?[0-9]"
        ];
        (r"\+?", number, suffix).prop_map(|(sign, number, suffix)| sign + &number + &suffix)
    }

    proptest! {
        #[test]
        fn the_canonical_form_keeps_the_amount_and_is_stable(text in written()) {
            // More than Kubernetes knows has no form.
            if let Some(found) = canonical(&text) {
                prop_assert_eq!(billionths(&found), billionths(&text));
                prop_assert_eq!(canonical(&found), Some(found));
            }
        }

        #[test]
        fn two_amounts_share_a_form_if_and_only_if_they_are_equal(one in written(), other in written()) {
            prop_assert_eq!(canonical(&one) == canonical(&other), billionths(&one) == billionths(&other));
        }

        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            let _ = canonical(&text);
        }
    }
}
