//! The numbers of one payload trial: a document in, rates, CPU time per request and the line through it
//! out.

use wasmbench_model::noise::{self, Noise};
use wasmbench_model::wire::document::{LoadDocument, PayloadSize};

use crate::read::pod_use;
use crate::statistics::Line;

/// Bytes of a megabyte.
pub const MEGABYTE: f64 = 1e6;

/// What a summary needs from one record of a payload trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PayloadTrial {
    /// The sizes, in ascending order.
    pub sizes: Vec<SizeNumbers>,
}

/// What was measured with bodies of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeNumbers {
    /// Bytes of the body that was sent.
    pub bytes: u32,
    /// Bytes of the body that came back.
    pub answer_bytes: u64,
    /// Requests that were not answered as expected.
    pub failed: u64,
    /// Requests per second that were.
    pub rps: Option<f64>,
    /// CPU time of the subject's pod per request, in microseconds.
    pub cpu: Option<f64>,
    /// How noisy the node was.
    pub noise: Noise,
    /// Scheduler periods in which a CPU limit throttled the subject.
    pub throttled_periods: u64,
    /// The time for which it did, as a share of the window's length.
    pub throttled_share: Option<f64>,
}

/// The numbers of a document.
pub fn from_document(document: &LoadDocument) -> PayloadTrial {
    let list = document.environment.facts.get("cpus");
    let cpus = list.and_then(|list| noise::cpus(list));
    let sizes = document.sizes.iter();
    PayloadTrial {
        sizes: sizes.map(|size| of_size(size, cpus)).collect(),
    }
}

fn of_size(size: &PayloadSize, cpus: Option<u32>) -> SizeNumbers {
    let window = &size.window;
    let subject = window.subject.as_ref();
    let seconds = window.duration_nanoseconds as f64 / 1e9;
    let requests = size.requests + size.failed;
    let per_request = |nanoseconds: u64| nanoseconds as f64 / 1e3 / requests as f64;
    SizeNumbers {
        bytes: size.bytes,
        answer_bytes: size.answer_bytes,
        failed: size.failed,
        rps: (seconds > 0.0 && size.requests > 0).then(|| size.requests as f64 / seconds),
        cpu: subject
            .filter(|_| requests > 0)
            .map(|meter| per_request(meter.cpu_nanoseconds)),
        noise: cpus.map_or_else(Noise::default, |cpus| Noise::from_window(window, cpus)),
        throttled_periods: subject
            .and_then(|meter| meter.throttled_periods)
            .unwrap_or_default(),
        throttled_share: pod_use::throttled_share(window),
    }
}

impl PayloadTrial {
    /// CPU time per request in microseconds by megabytes of the body; empty where a size has none.
    fn points(&self) -> Vec<(f64, f64)> {
        let points = self.sizes.iter();
        let points: Option<Vec<(f64, f64)>> = points
            .map(|size| Some((f64::from(size.bytes) / MEGABYTE, size.cpu?)))
            .collect();
        points.unwrap_or_default()
    }

    /// CPU time per request as a fixed cost, in microseconds, and a cost per megabyte.
    pub fn line(&self) -> Option<Line> {
        Line::fit(&self.points())
    }

    /// How far a size lies from the line at most, as a share of its CPU time.
    pub fn off_line(&self) -> Option<f64> {
        Some(self.line()?.farthest(&self.points()))
    }

    /// Whether a request of any size failed.
    pub fn has_errors(&self) -> bool {
        self.sizes.iter().any(|size| size.failed > 0)
    }

    /// Whether a CPU limit stopped the subject.
    pub fn is_throttled(&self) -> bool {
        self.sizes.iter().any(|size| size.throttled_periods > 0)
    }

    /// The worst noise of all sizes.
    pub fn noise(&self) -> Noise {
        let noises = self.sizes.iter().map(|size| size.noise);
        noises.fold(Noise::default(), Noise::worst)
    }
}

#[cfg(test)]
mod tests {
    use wasmbench_model::wire::document::{Meter, TimedWindow};

    use super::*;

    fn size(bytes: u32, microseconds: u64) -> PayloadSize {
        PayloadSize {
            bytes,
            answer_bytes: bytes.into(),
            requests: 90,
            failed: 10,
            window: TimedWindow {
                duration_nanoseconds: 2_000_000_000,
                subject: Some(Meter {
                    cpu_nanoseconds: microseconds * 1000 * 100,
                    ..Meter::default()
                }),
                ..TimedWindow::default()
            },
        }
    }

    fn trial(sizes: &[PayloadSize]) -> PayloadTrial {
        let sizes = sizes.iter().map(|size| of_size(size, None));
        PayloadTrial {
            sizes: sizes.collect(),
        }
    }

    #[test]
    fn failed_requests_cost_cpu_time_and_are_no_rate() {
        let found = of_size(&size(0, 50), None);
        assert_eq!((found.rps, found.cpu), (Some(45.0), Some(50.0)));
        assert!(trial(&[size(0, 50)]).has_errors());
    }

    #[test]
    fn the_line_has_the_cost_of_a_request_and_that_of_a_megabyte() {
        let found = trial(&[size(0, 50), size(500_000, 200), size(1_000_000, 350)]);
        let line = found.line().unwrap();
        assert!((line.start - 50.0).abs() < 1e-6 && (line.slope - 300.0).abs() < 1e-6);
        assert!(found.off_line().unwrap() < 1e-9);
    }

    #[test]
    fn without_the_cpu_time_of_a_size_there_is_no_line() {
        let mut sizes = [size(0, 50), size(500_000, 200), size(1_000_000, 350)];
        sizes[1].window.subject = None;
        assert_eq!(trial(&sizes).line(), None);
    }
}
