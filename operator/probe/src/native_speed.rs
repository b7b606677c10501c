//! How fast this node computes in native code: the reference for a guest that reports how long the
//! same work took in its runtime.

use std::hint::black_box;
use std::time::{Duration, Instant};

use wasmbench_model::variants::engine::{CHAIN_NANOSECONDS, COMPUTE_RATIO};
use wasmbench_model::wire::instrument::EngineFacts;

/// The number of steps, the same as in the guest.
const STEPS: u32 = 200_000;
/// The shortest of these rounds counts: other processes may interrupt a round.
const ROUNDS: usize = 5;

/// Adds the ratio of the guest's time to that of native code, measured here and now. Leaves the
/// facts unchanged if the subject computes the ratio itself or reports no time.
pub fn compare(facts: &mut EngineFacts) {
    compare_with(chain, facts);
}

/// The same, with `chain` as the measure of native code.
fn compare_with(chain: impl Fn() -> Duration, facts: &mut EngineFacts) {
    let reported = facts
        .get(CHAIN_NANOSECONDS)
        .and_then(|time| time.parse::<f64>().ok());
    let Some(guest) = reported.filter(|_| !facts.contains_key(COMPUTE_RATIO)) else {
        return;
    };
    let native = chain().as_secs_f64() * 1e9;
    if native > 0.0 {
        facts.insert(COMPUTE_RATIO.into(), format!("{:.2}", guest / native));
    }
}

fn chain() -> Duration {
    let round = || {
        let began = Instant::now();
        black_box((0..black_box(STEPS)).fold(2_463_534_242, step));
        began.elapsed()
    };
    (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
}

fn step(mut x: u32, _: u32) -> u32 {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(members: &[(&str, &str)]) -> EngineFacts {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        members.iter().map(owned).collect()
    }

    #[test]
    fn a_guest_that_takes_longer_has_a_larger_ratio() {
        let ratio = |nanoseconds: &str| {
            let mut facts = facts(&[(CHAIN_NANOSECONDS, nanoseconds)]);
            compare_with(|| Duration::from_micros(500), &mut facts);
            facts.remove(COMPUTE_RATIO)
        };
        assert_eq!(ratio("650000").as_deref(), Some("1.30"));
        assert_eq!(ratio("35000000").as_deref(), Some("70.00"));
    }

    #[test]
    fn native_code_takes_its_time() {
        // The compiler has not precomputed the result: nothing does 200,000 steps in this time.
        assert!(chain() > Duration::from_micros(10));
        let mut facts = facts(&[(CHAIN_NANOSECONDS, "1")]);
        compare(&mut facts);
        assert!(facts.contains_key(COMPUTE_RATIO));
    }

    #[test]
    fn only_a_reported_time_is_compared_and_a_reported_ratio_stays() {
        let mut silent = facts(&[("engine", "none")]);
        compare(&mut silent);
        assert!(!silent.contains_key(COMPUTE_RATIO));
        let mut both = facts(&[(CHAIN_NANOSECONDS, "5"), (COMPUTE_RATIO, "1.31")]);
        compare(&mut both);
        assert_eq!(both[COMPUTE_RATIO], "1.31");
    }
}
