//! Student's t distribution for integer degrees of freedom, for which it is a finite sum
//! (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.7.3 and 26.7.4): no series to
//! truncate and no table to trust.

use std::f64::consts::FRAC_2_PI;

/// The chance that a t variable with `freedom` degrees of freedom lies beyond `t` on either side.
pub fn two_sided_tail(t: f64, freedom: u32) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    (1.0 - within(t.abs(), freedom)).clamp(0.0, 1.0)
}

/// The chance of lying between `-t` and `t`.
fn within(t: f64, freedom: u32) -> f64 {
    let scaled = t / f64::from(freedom).sqrt();
    let cosine = 1.0 / (1.0 + scaled * scaled).sqrt();
    let sine = scaled * cosine;
    if freedom.is_multiple_of(2) {
        return sine * sum(cosine, 0, freedom);
    }
    let beyond_one = if freedom > 1 {
        sine * cosine * sum(cosine, 1, freedom)
    } else {
        0.0
    };
    FRAC_2_PI * (libm::atan(scaled) + beyond_one)
}

/// `1 + (k+1)/(k+2) c^2 + (k+1)(k+3)/((k+2)(k+4)) c^4 + ...` up to the power that `freedom`
/// requires; `k` is `odd`: 0 for even degrees of freedom and 1 for odd ones.
fn sum(cosine: f64, odd: u32, freedom: u32) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for power in (2 + odd..freedom - 1).step_by(2) {
        term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
        sum += term;
    }
    sum
}

/// The `t` beyond which a variable lies with the chance `share`, on both sides together.
pub fn quantile(share: f64, freedom: u32) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while two_sided_tail(high, freedom) > share {
        high *= 2.0;
    }
    // 64 halvings leave no bit of a double undecided.
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if two_sided_tail(middle, freedom) > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (15, 2.131),
            (30, 2.042),
            (49, 2.010),
        ];
        for (freedom, expected) in table {
            let found = quantile(0.05, freedom);
            assert!((found - expected).abs() < 6e-4, "{freedom}: {found}");
        }
        assert!((quantile(0.01, 4) - 4.604).abs() < 6e-4);
        assert!((quantile(0.01, 7) - 3.499).abs() < 6e-4);
    }

    #[test]
    fn a_tail_is_one_in_the_middle_and_zero_far_out() {
        for freedom in 1..50 {
            assert!((two_sided_tail(0.0, freedom) - 1.0).abs() < 1e-12);
            assert!(two_sided_tail(f64::INFINITY, freedom).abs() < 1e-12);
            assert!(two_sided_tail(2.0, freedom) > two_sided_tail(2.1, freedom));
        }
    }
}
