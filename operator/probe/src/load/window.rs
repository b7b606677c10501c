//! A timed window that was measured, and which of two counts. Pure.

use std::time::Duration;

use wasmbench_core::noise::Noise;
use wasmbench_core::wire::document::{DiscardedWindow, Neighbour, TimedWindow};
use wasmbench_core::wire::open_loop::Peak;

use crate::buckets::{Buckets, Seen};
use crate::fortio::result::Run;

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
    /// Requests that were answered as expected.
    expected: u64,
    /// Requests that were not.
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
            expected: run.expected,
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

    /// What it tells as the peak that a schedule is made of.
    pub fn peak(&self) -> Peak {
        Peak {
            rps: self.expected as f64 / self.length.as_secs_f64(),
            duration_nanoseconds: self.timed.duration_nanoseconds,
            failed: Some(self.failed),
            generator_cpu_nanoseconds: self.timed.generator_cpu_nanoseconds,
            others_cpu_share: self.noise.others,
            steal_share: self.noise.stolen,
            memory_wait_share: self.noise.memory_waits,
        }
    }

    /// The same window, judged together with the `peak` before it, from which its rate follows: both
    /// count, or neither.
    #[must_use]
    pub fn after(self, peak: &Self) -> Self {
        Self {
            noise: self.noise.worst(peak.noise),
            length: self.length + peak.length,
            failed: self.failed + peak.failed,
            ..self
        }
    }

    /// Other buckets than those that it was measured with, when its latencies lie where these are wide.
    pub fn better_buckets(&self) -> Option<Buckets> {
        let seen = self.seen.filter(|_| self.may_be_discarded())?;
        let used = Buckets {
            offset: Duration::from_nanos(self.timed.offset_nanoseconds),
            resolution: self.timed.resolution_seconds,
        };
        used.better(seen)
    }

    /// CPU time of the subject's pod, its shim and its load generator.
    fn cpu_nanoseconds(&self) -> Option<u64> {
        let subject = self.timed.subject.as_ref()?;
        let shim = subject.outside.map_or(0, |shim| shim.cpu_nanoseconds);
        let generator = self.timed.generator_cpu_nanoseconds?;
        Some(subject.cpu_nanoseconds + shim + generator)
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

/// Whether the same load should be measured once more because the node was noisy. The halves of a
/// duet are measured again together.
pub fn ask_for_quiet(windows: &[Window]) -> bool {
    windows.iter().all(Window::may_be_discarded)
        && windows.iter().any(|window| window.noise.is_over_limit())
}

/// The windows of the quieter node, with a note of the others. The rate has no say in it: choosing by
/// the rate would make every variant look better than it is.
pub fn quieter(first: Vec<Window>, second: Vec<Window>) -> Vec<Window> {
    let louder = level(&second) > level(&first);
    let (mut kept, other) = if louder && second.iter().all(Window::may_be_discarded) {
        (first, second)
    } else {
        (second, first)
    };
    for (kept, other) in kept.iter_mut().zip(&other) {
        kept.timed.discarded = Some(other.discarded());
    }
    kept
}

fn level(windows: &[Window]) -> f64 {
    let levels = windows.iter().map(|window| window.noise.level());
    levels.fold(0.0, f64::max)
}

/// Tells each half of a duet what the other used: `cpus` are those of the node.
pub fn introduce(windows: &mut [Window], cpus: Option<u32>) {
    let [one, other] = windows else { return };
    let used = [one.cpu_nanoseconds(), other.cpu_nanoseconds()];
    for (window, cpu_nanoseconds) in [(one, used[1]), (other, used[0])] {
        window.timed.neighbour = Some(Neighbour { cpu_nanoseconds });
        let noise = cpus.map(|cpus| Noise::of(&window.timed, cpus));
        window.noise = noise.unwrap_or_default();
    }
}

/// Share of the longer of two windows in which both were under load.
pub fn overlap(one: &TimedWindow, other: &TimedWindow) -> f64 {
    let ends = |window: &TimedWindow| {
        let length = i64::try_from(window.duration_nanoseconds).unwrap_or(i64::MAX);
        let start = window.start_unix_nanoseconds;
        (start, start.saturating_add(length), length)
    };
    let (one, other) = (ends(one), ends(other));
    let common = (one.1.min(other.1) - one.0.max(other.0)).max(0);
    common as f64 / one.2.max(other.2).max(1) as f64
}

#[cfg(test)]
mod tests {
    use wasmbench_core::wire::document::{Meter, NodeCpu};

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
            seen: None,
        }
    }

    fn kept(first: Window, second: Window) -> (f64, f64) {
        let kept = quieter(vec![first], vec![second]).remove(0);
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
        assert!(ask_for_quiet(&[window(0.3, 1.0, 0)]));
        assert!(!ask_for_quiet(&[window(0.3, 1.0, 1)]));
        assert!(!ask_for_quiet(&[window(0.3, 1.0, 0), window(0.1, 1.0, 1)]));
        assert_eq!(kept(window(0.2, 1.0, 0), window(0.3, 2.0, 1)), (2.0, 1.0));
    }

    #[test]
    fn a_window_is_as_noisy_and_as_faulty_as_the_peak_before_it() {
        let after = |peak: &Window| window(0.1, 1.0, 0).after(peak);
        assert!(!ask_for_quiet(&[after(&window(0.1, 1.0, 0))]));
        let noisy = after(&window(0.3, 1.0, 0));
        assert_eq!(noisy.length, Duration::from_secs(8), "a repeat takes both");
        assert!(ask_for_quiet(std::slice::from_ref(&noisy)));
        assert_eq!(noisy.discarded().others_cpu_share, Some(0.3));
        assert!(!ask_for_quiet(&[after(&window(0.3, 1.0, 1))]));
    }

    #[test]
    fn a_peak_is_made_of_answers_and_tells_what_failed_and_who_disturbed_it() {
        let peak = window(0.2, 1.0, 20).peak();
        assert!((peak.rps - 25.0).abs() < 1e-9, "{peak:?}");
        assert_eq!(
            (peak.failed, peak.others_cpu_share, peak.steal_share),
            (Some(20), Some(0.2), None)
        );
    }

    #[test]
    fn the_halves_of_a_duet_are_kept_or_thrown_away_together() {
        let first = vec![window(0.3, 1.0, 0), window(0.2, 2.0, 0)];
        let second = vec![window(0.1, 3.0, 0), window(0.25, 4.0, 0)];
        assert!(ask_for_quiet(&first));
        let kept = quieter(first, second);
        let rates: Vec<f64> = kept.iter().map(|window| window.rps).collect();
        assert_eq!(rates, [3.0, 4.0]);
        let thrown = kept
            .iter()
            .map(|window| window.timed.discarded.unwrap().rps);
        assert_eq!(thrown.collect::<Vec<_>>(), [1.0, 2.0]);
    }

    fn half(cpu_nanoseconds: u64) -> Window {
        let mut window = window(0.0, 1.0, 0);
        window.timed = TimedWindow {
            duration_nanoseconds: 1_000_000_000,
            subject: Some(Meter {
                cpu_nanoseconds,
                ..Meter::default()
            }),
            generator_cpu_nanoseconds: Some(100_000_000),
            node: Some(NodeCpu {
                busy_nanoseconds: 1_000_000_000,
                ..NodeCpu::default()
            }),
            ..TimedWindow::default()
        };
        window
    }

    #[test]
    fn what_the_other_half_of_a_duet_used_is_no_noise() {
        let mut windows = [half(200_000_000), half(400_000_000)];
        introduce(&mut windows, Some(2));
        for window in windows {
            // 1 s of 2 CPUs busy, of which both halves together used 0.8 s.
            assert_eq!(window.noise.others, Some(0.1));
        }
    }

    #[test]
    fn windows_that_begin_apart_overlap_less() {
        let at = |start_unix_nanoseconds, duration_nanoseconds| TimedWindow {
            start_unix_nanoseconds,
            duration_nanoseconds,
            ..TimedWindow::default()
        };
        assert_eq!(
            overlap(&at(100, 50), &at(100, 50)).to_bits(),
            1f64.to_bits()
        );
        assert!((overlap(&at(100, 50), &at(110, 50)) - 0.8).abs() < 1e-9);
        assert!((overlap(&at(100, 50), &at(100, 100)) - 0.5).abs() < 1e-9);
        assert!(overlap(&at(100, 50), &at(200, 50)).abs() < 1e-9);
    }
}
