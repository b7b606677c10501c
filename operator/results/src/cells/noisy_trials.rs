//! How much noise a number tolerates. A noisy trial counts: noise depends on neighbours and not on
//! what is measured, so it widens an interval and seldom shifts it. Frequent noise may be caused by
//! the variant itself, and then it does shift the interval. `report/tests/all/noise_simulation.rs`
//! shows both.

/// One in this many measured trials, or samples of a start, may be noisy. With more noise a
/// comparison is not trusted.
const PER_NOISY_ONE: u32 = 5;

/// Whether `noisy` out of `measured` are too many.
pub const fn are_too_many(noisy: u32, measured: u32) -> bool {
    noisy.saturating_mul(PER_NOISY_ONE) > measured
}
