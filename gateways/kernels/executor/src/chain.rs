//! A known piece of work, which shows how fast an engine computes.

use std::time::Duration;

/// The member of the facts in which the time is reported.
pub const CHAIN_NANOSECONDS: &str = "chainNanoseconds";
/// A module that exports `chain: (i32 steps) -> i32`.
pub const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compute.wasm"));
/// Steps of the chain, as many as the probe does in native code.
pub const STEPS: i32 = 200_000;
/// The result of that many steps.
const RESULT: i32 = 1_045_134_780;
/// Rounds, of which the shortest counts: other processes may interrupt one.
const ROUNDS: usize = 5;

/// Calls `chain` several times, which returns its result and how long the call took. Returns the
/// shortest time; an error if a call fails or its result is wrong.
pub fn shortest(
    mut chain: impl FnMut(i32) -> Result<(i32, Duration), String>,
) -> Result<Duration, String> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let (result, took) = chain(STEPS)?;
        if result != RESULT {
            return Err(format!("the engine computes {result} instead of {RESULT}"));
        }
        best = best.min(took);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_is_that_of_native_code() {
        let step = |mut x: u32, _| {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x
        };
        let native = (0..STEPS).fold(2_463_534_242_u32, step);
        assert_eq!(native.cast_signed(), RESULT);
    }

    #[test]
    fn the_shortest_time_counts_and_none_of_an_engine_that_computes_anything_else() {
        let mut took = (3..).map(Duration::from_micros);
        let best = shortest(|_| Ok((RESULT, took.next().unwrap())));
        assert_eq!(best, Ok(Duration::from_micros(3)));
        let wrong = shortest(|_| Ok((1, Duration::ZERO)));
        assert!(wrong.unwrap_err().contains("1 instead of"));
        assert_eq!(shortest(|_| Err("trap".into())), Err("trap".into()));
    }
}
