//! How much noise a number bears. A noisy trial counts: whether the node is noisy depends on
//! neighbours and not on what is measured, so that noise widens an interval and seldom shifts it.
//! Where it is frequent, it may be the variant's own doing, and then it does shift it.
//! `report/tests/all/noise_simulation.rs` shows both.

/// Of so many measured trials, or samples of a start, one may be noisy. With more of them a
/// comparison is not trusted.
const PER_NOISY_ONE: u32 = 5;

/// Whether so many of those that were `measured` are too many.
pub const fn are_too_many(noisy: u32, measured: u32) -> bool {
    noisy.saturating_mul(PER_NOISY_ONE) > measured
}
