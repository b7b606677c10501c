//! Whether time was measured finely enough for the numbers that are reported.

use wasmbench_model::wire::document::Environment;

use crate::read::histogram::Histogram;

/// The widest bucket, as a share of the median, from which a median is interpolated. Buckets that
/// suit the latencies are at most a quarter of the median wide; above half of it, the median is a
/// guess.
const WIDEST_BUCKET: f64 = 0.5;
/// Clock sources of the kernel that only count timer ticks, 1 to 10 ms each.
const TICKING: [&str; 2] = ["jiffies", "refined-jiffies"];

/// Whether the latencies of a load were resolved too coarsely for a median. `latency` is absent if
/// the median comes from the times of single requests instead of a histogram.
pub fn is_too_coarse(latency: Option<&Histogram>, environment: &Environment) -> bool {
    let wide = latency.is_some_and(|latency| {
        let median = latency.percentile(0.5).zip(latency.width_at(0.5));
        median.is_some_and(|(median, width)| width > WIDEST_BUCKET * median)
    });
    wide || ticks(environment)
}

/// Whether the node's clock only counts timer ticks.
pub fn ticks(environment: &Environment) -> bool {
    let source = environment.facts.get("clockSource");
    source.is_some_and(|source| TICKING.contains(&source.as_str()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::read::histogram::Bucket;

    fn latency(start: f64, end: f64) -> Histogram {
        let count = 100;
        Histogram::new(vec![Bucket { start, end, count }]).unwrap()
    }

    fn node(clock: &str) -> Environment {
        let facts = BTreeMap::from([("clockSource".to_owned(), clock.to_owned())]);
        Environment {
            facts,
            ..Environment::default()
        }
    }

    #[test]
    fn a_median_in_a_bucket_of_its_own_size_is_too_coarse() {
        assert!(!is_too_coarse(Some(&latency(100.0, 125.0)), &node("tsc")));
        assert!(is_too_coarse(Some(&latency(0.0, 1000.0)), &node("tsc")));
        assert!(is_too_coarse(Some(&latency(1000.0, 2000.0)), &node("tsc")));
    }

    #[test]
    fn a_node_that_counts_ticks_cannot_time_requests() {
        assert!(is_too_coarse(None, &node("jiffies")));
        assert!(!is_too_coarse(
            Some(&latency(100.0, 125.0)),
            &Environment::default()
        ));
    }

    #[test]
    fn a_window_without_requests_has_no_times() {
        assert!(!is_too_coarse(
            Some(&Histogram::default()),
            &node("kvm-clock")
        ));
    }
}
