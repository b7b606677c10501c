//! The line of a container's log that reports that the service listens, and containerd's timestamp
//! of it. The text after the timestamp is the container's own and is only compared.

use jiff::Timestamp;

/// Bytes of a log that are searched: enough for what a service prints before it listens.
pub const LOG_BYTES: i64 = 64 * 1024;

/// When the first line that contains `wanted` was written, or the first line of all if it is
/// `None`, in nanoseconds since the Unix epoch. `log` is the response of
/// `pods/log?timestamps=true`.
pub fn listening(log: &str, wanted: Option<&str>) -> Option<i64> {
    log.split('\n').find_map(|line| {
        let (stamp, text) = line.split_once(' ')?;
        let stamp: Timestamp = stamp.parse().ok()?;
        let is_it = wanted.is_none_or(|wanted| text.contains(wanted));
        is_it.then(|| i64::try_from(stamp.as_nanosecond()).ok())?
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOG: &str = "2026-11-21T07:12:44.123456789Z warming up\n\
                       2026-11-21T07:12:44.5Z wasmbench: native listening on 0.0.0.0:8080\n\
                       2026-11-21T07:12:45Z wasmbench: native listening on again\n";

    #[test]
    fn the_first_line_with_the_wanted_text_counts() {
        assert_eq!(
            listening(LOG, Some(" listening on ")),
            Some(1_795_245_164_500_000_000)
        );
        assert_eq!(listening(LOG, Some("serving")), None);
    }

    #[test]
    fn without_a_wanted_text_it_is_the_first_line() {
        assert_eq!(listening(LOG, None), Some(1_795_245_164_123_456_789));
        assert_eq!(listening("", None), None);
    }

    #[test]
    fn a_time_that_the_container_prints_itself_is_no_stamp() {
        let log = "no stamp 2026-11-21T07:12:44Z listening\n";
        assert_eq!(listening(log, Some("listening")), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,300}", wanted in proptest::option::of("\\PC{1,5}")) {
            let _ = listening(&text, wanted.as_deref());
        }

        #[test]
        fn a_stamp_is_read_to_the_nanosecond(at in 0i64..4_000_000_000_000_000_000, before in "[a-z ]{0,20}") {
            let stamp = Timestamp::from_nanosecond(at.into()).unwrap();
            let log = format!("{stamp} {before}\n{stamp} now listening\n");
            prop_assert_eq!(listening(&log, Some("now listening")), Some(at));
        }
    }
}
