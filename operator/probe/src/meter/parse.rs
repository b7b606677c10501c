//! Turns the texts of cgroup and `/proc` files into numbers. Pure; missing values are `None`.
//!
//! Own code, because crates for `/proc` do not cover cgroups and reject a file that lacks a single
//! field: sandbox kernels (gVisor) and old kernels lack some, but the other fields are still right.

/// Parses a file that holds one number; `None` for `max`, which means no limit.
pub fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Parses a value from a file with lines `key value`.
pub fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        (name == key).then(|| number(value)).flatten()
    })
}

/// Nanoseconds from the line `some` of a pressure file: `some avg10=0.00 ... total=<microseconds>`.
pub fn stalled(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some
        .split_ascii_whitespace()
        .find_map(|field| field.strip_prefix("total="))?;
    number(total).map(|time| time.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_and_keys_are_read() {
        assert_eq!(number("18446744073709551615\n"), Some(u64::MAX));
        assert_eq!(number("max\n"), None);
        let stat = "usage_usec 12\nuser_usec 7\nsystem_usec 5\n";
        assert_eq!(keyed(stat, "user_usec"), Some(7));
        assert_eq!(keyed(stat, "usec"), None);
        assert_eq!(keyed("usage_usec\nuser_usec x\n", "user_usec"), None);
    }

    #[test]
    fn pressure_is_the_total_of_the_line_some() {
        let text = "some avg10=0.12 avg60=0.00 avg300=0.00 total=4821\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n";
        assert_eq!(stalled(text), Some(4_821_000));
        assert_eq!(stalled("full avg10=0.00 total=17\n"), None);
        assert_eq!(stalled("some avg10=0.00\n"), None);
    }

    proptest! {
        #[test]
        fn a_value_that_was_written_is_found_again(
            value: u64, before in "([a-z]{1,8} [0-9]{1,5}\n){0,4}", after in "([a-z]{1,8} [0-9]{1,5}\n){0,4}",
        ) {
            let text = format!("{before}total_inactive_file {value}\n{after}");
            prop_assert_eq!(keyed(&text, "total_inactive_file"), Some(value));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "(.|\n){0,80}") {
            let _ = (number(&text), keyed(&text, "a"), stalled(&text));
        }
    }
}
