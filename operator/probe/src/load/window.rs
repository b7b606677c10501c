//! A timed window that was measured, and which of two counts. Pure.

use std::time::Duration;

use wasmbench_core::noise::Noise;
use wasmbench_core::wire::document::{DiscardedWindow, TimedWindow};

use crate::fortio::result::Run;
use crate::resolution::{self, Seen};

/// Whether any request was answered as expected; if not, what came instead.
pub type Answered = Result<(), String>;

/// One run of fortio with what was read at its edges.
#[derive(Clone, Debug)]
pub struct Window {
    /// What is told of it.
    pub timed: TimedWindow,
    /// How much of the node's CPUs it did not have.
    pub noise: Noise,
    /// Whether it is of any use.
    pub answered: Answered,
    /// How long it was.
    pub length: Duration,
    /// Requests that were not answered as expected.
    failed: u64,
    rps: f64,
    seen: Option<Seen>,
}

impl Window {
    /// From what fortio printed, and `timed` without it.
    pub fn new(run: Run, timed: TimedWindow, noise: Noise) -> Self {
        Self {
            answered: if run.expected > 0 {
                Ok(())
            } else {
                Err(run.codes())
            },
            failed: run.requests.saturating_sub(run.expected),
            rps: run.rps(),
            seen: run.seen,
            length: run.duration,
            noise,
            timed: TimedWindow {
                fortio: run.json,
                ..timed
            },
        }
    }

    /// Another resolution, when the window's latencies lie where its buckets are wide.
    pub fn better_resolution(&self) -> Option<f64> {
        let seen = self.seen.filter(|_| self.may_be_discarded())?;
        resolution::better(self.timed.resolution_seconds, seen)
    }

    /// Whether the same load should be measured once more because the node was noisy.
    pub fn asks_for_quiet(&self) -> bool {
        self.may_be_discarded() && self.noise.is_over_limit()
    }

    /// Failed requests are a result: no repeat may hide them.
    fn may_be_discarded(&self) -> bool {
        self.failed == 0
    }

    fn discarded(&self) -> DiscardedWindow {
        DiscardedWindow {
            start_unix_nanoseconds: self.timed.start_unix_nanoseconds,
            duration_nanoseconds: self.timed.duration_nanoseconds,
            rps: self.rps,
            others_cpu_share: self.noise.others,
            steal_share: self.noise.stolen,
        }
    }
}

/// The window of the quieter node, with a note of the other. The rate has no say in it: choosing by
/// the rate would make every variant look better than it is.
pub fn quieter(first: Window, second: Window) -> Window {
    let louder = second.noise.level() > first.noise.level();
    let (mut kept, other) = if louder && second.may_be_discarded() {
        (first, second)
    } else {
        (second, first)
    };
    kept.timed.discarded = Some(other.discarded());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(others: f64, rps: f64, failed: u64) -> Window {
        Window {
            timed: TimedWindow::default(),
            noise: Noise {
                others: Some(others),
                stolen: None,
            },
            answered: Ok(()),
            length: Duration::from_secs(4),
            failed,
            rps,
            seen: None,
        }
    }

    fn kept(first: Window, second: Window) -> (f64, f64) {
        let kept = quieter(first, second);
        (kept.rps, kept.timed.discarded.unwrap().rps)
    }

    #[test]
    fn the_quieter_window_counts_whichever_came_first_and_however_fast_it_was() {
        assert_eq!(kept(window(0.3, 1.0, 0), window(0.1, 2.0, 0)), (2.0, 1.0));
        assert_eq!(kept(window(0.3, 2.0, 0), window(0.1, 1.0, 0)), (1.0, 2.0));
        assert_eq!(kept(window(0.2, 1.0, 0), window(0.3, 2.0, 0)), (1.0, 2.0));
    }

    #[test]
    fn no_repeat_hides_a_failed_request() {
        assert!(window(0.3, 1.0, 0).asks_for_quiet());
        assert!(!window(0.3, 1.0, 1).asks_for_quiet());
        assert_eq!(kept(window(0.2, 1.0, 0), window(0.3, 2.0, 1)), (2.0, 1.0));
    }
}
