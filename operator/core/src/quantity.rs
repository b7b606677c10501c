//! Amounts of CPU and memory as Kubernetes writes them: text in, a number out.

/// The Kubernetes quantity `text` in thousandths of its unit. `None` if it is not a quantity of the
/// form that the CRD accepts or that the API server makes of it.
pub fn thousandths(text: &str) -> Option<u128> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor: u128 = match unit {
        "m" => 1,
        "" => 1000,
        "k" => 1_000_000,
        "M" => 1_000_000_000,
        "G" => 1_000_000_000_000,
        "T" => 1_000_000_000_000_000,
        "Ki" => 1000 << 10,
        "Mi" => 1000 << 20,
        "Gi" => 1000 << 30,
        "Ti" => 1000 << 40,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = u32::try_from(fraction.len()).ok()?;
    let scale = 10_u128.checked_pow(digits)?;
    let part = fraction.parse::<u128>().ok()?.checked_mul(factor)?;
    let whole = whole.parse::<u128>().ok()?.checked_mul(factor)?;
    // Kubernetes rounds up what is smaller than its resolution.
    whole.checked_add(part.div_ceil(scale))
}

#[cfg(test)]
mod tests {
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
        assert_eq!(thousandths("1Pi"), None);
        assert_eq!(thousandths("-1"), None);
        assert_eq!(thousandths(""), None);
        assert_eq!(thousandths(&"9".repeat(40)), None);
    }
}
