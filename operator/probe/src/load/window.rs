//! A measured timed window, and the choice between two. Pure.

use std::time::Duration;

use wasmbench_model::noise::Noise;
use wasmbench_model::wire::document::{DiscardedWindow, TimedWindow};
use wasmbench_model::wire::open_loop::Peak;

use crate::buckets::{Buckets, Distribution};
use crate::generator::result::Run;

/// Whether any request was answered as expected; if not, what came instead.
pub type Answered = Result<(), String>;

/// A whole window: one or more runs of the generator with what was read at their edges.
#[derive(Clone, Debug)]
pub struct Window {
    /// What is reported about it.
    pub timed: TimedWindow,
    /// How noisy the node was during it.
    pub noise: Noise,
    /// Whether any request was answered as expected.
    pub answered: Answered,
    /// How long it took.
    pub length: Duration,
    /// Requests that were answered as expected.
    expected: u64,
    /// Requests that were not.
    failed: u64,
    rps: f64,
    distribution: Option<Distribution>,
}

impl Window {
    /// Returns a window from the generator's output and `timed`, which does not hold that output yet.
    pub fn new(run: Run, timed: TimedWindow, noise: Noise) -> Self {
        Self {
            answered: if run.expected > 0 {
                Ok(())
            } else {
                Err(run.codes())
            },
            expected: run.expected,
            failed: run.requests.saturating_sub(run.expected),
            rps: run.rps(),
            distribution: run.distribution,
            length: run.duration,
            noise,
            timed: TimedWindow {
                fortio: run.json,
                ..timed
            },
        }
    }

    /// Returns this window, whose load did not wait, as the subject's peak.
    pub fn peak(&self) -> Peak {
        Peak {
            rps: self.expected as f64 / self.length.as_secs_f64(),
            duration_nanoseconds: self.timed.duration_nanoseconds,
            failed: self.failed,
            others_cpu_share: self.noise.others,
            steal_share: self.noise.stolen,
            memory_wait_share: self.noise.memory_waits,
        }
    }

    /// Requests that were answered as expected, and those that were not.
    pub fn counts(&self) -> (u64, u64) {
        (self.expected, self.failed)
    }

    /// Returns better buckets if the latencies lie where those of the measurement are wide.
    pub fn better_buckets(&self) -> Option<Buckets> {
        let distribution = self.distribution.filter(|_| self.may_be_discarded())?;
        let used = Buckets {
            offset: Duration::from_nanos(self.timed.offset_nanoseconds),
            resolution: self.timed.resolution_seconds,
        };
        used.better(distribution)
    }

    /// Whether the same load should be measured again because the node was noisy.
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
            memory_wait_share: self.noise.memory_waits,
        }
    }
}

/// Returns the window during which the node was quieter, with a note of the other; a second window
/// with failed requests counts in any case. The rate plays no part: choosing by the rate would make
/// every variant look better than it is.
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
                ..Noise::default()
            },
            answered: Ok(()),
            length: Duration::from_secs(4),
            expected: 100,
            failed,
            rps,
            distribution: None,
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

    #[test]
    fn a_peak_counts_answers_and_reports_failures_and_disturbance() {
        let peak = window(0.2, 1.0, 20).peak();
        assert!((peak.rps - 25.0).abs() < 1e-9, "{peak:?}");
        assert_eq!(
            (peak.failed, peak.others_cpu_share, peak.steal_share),
            (20, Some(0.2), None)
        );
    }
}
