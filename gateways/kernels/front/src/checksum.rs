//! The text of a checksum: the same digits for the same double, whatever computed it. Pure.

/// The double of these bits as C's `%.10e` prints it: `-1.2345678901e+03`. Ten digits, because
/// results of different compilers may differ in the last bits.
pub fn text(bits: u64) -> String {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        return "nan".into();
    }
    let text = format!("{value:.10e}");
    // Rust prints neither the sign of a positive exponent nor its leading zero.
    match text.split_once('e') {
        None => text,
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_what_c_prints() {
        for (value, expected) in [
            (0.0, "0.0000000000e+00"),
            (-1_234.567_890_123_4, "-1.2345678901e+03"),
            (1e-9, "1.0000000000e-09"),
            (1e100, "1.0000000000e+100"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(text(value.to_bits()), expected);
        }
    }

    proptest! {
        #[test]
        fn any_bits_give_a_number_close_to_the_double(bits: u64) {
            let (value, text) = (f64::from_bits(bits), text(bits));
            if value.is_normal() && value.abs() < 1e308 {
                let read: f64 = text.parse().unwrap();
                prop_assert!((read / value - 1.0).abs() < 1e-10, "{text}");
            }
        }
    }
}
