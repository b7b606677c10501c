//! The numbers of one climb: a document in, steps and slopes out.

use wasmbench_model::noise::{self, Noise};
use wasmbench_model::wire::density::{DensityDocument, DensityStep, DensityStopped};

use crate::read::{fortio, generator, pod_use};

/// What a summary needs from one record of density.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DensityTrial {
    /// The steps that were reached.
    pub steps: Vec<Reached>,
    /// Why there are no more.
    pub stopped: Option<DensityStopped>,
}

/// One step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reached {
    /// Instances that ran.
    pub instances: u32,
    /// Time to the last first correct answer, in microseconds.
    pub all_answered: f64,
    /// Median latency of the first instance, in microseconds; absent unless every request was
    /// answered as expected.
    pub first_p50: Option<f64>,
    /// Memory of pods and shims, in bytes.
    pub sandboxes: Option<f64>,
    /// Memory of the pods, in bytes.
    pub pods: Option<f64>,
    /// Memory that the node reported as available, in bytes.
    pub node_available: Option<f64>,
    /// How noisy the node was while the first instance was loaded.
    pub noise: Noise,
    /// Requests to the first instance that were not answered as expected.
    pub errors: u64,
    /// Whether the number of errors is unknown, because fortio's output cannot be read or counts no
    /// requests.
    pub is_unreadable: bool,
    /// CPU time of the load generator as a share (0 to 1) of its available CPUs.
    pub generator_cpu_share: Option<f64>,
    /// Scheduler periods in which a CPU limit throttled the first instance.
    pub throttled_periods: u64,
    /// The time for which it did, as a share of the window's length; see
    /// [`crate::read::trial::Metrics::throttled_share`].
    pub throttled_share: Option<f64>,
}

impl DensityTrial {
    /// The memory of one more instance, in bytes.
    pub fn slope(&self) -> Option<f64> {
        slope(
            self.steps
                .iter()
                .filter_map(|step| Some((f64::from(step.instances), step.sandboxes?))),
        )
    }

    /// By how much the node's available memory shrinks per instance, in bytes.
    pub fn node_slope(&self) -> Option<f64> {
        slope(
            self.steps
                .iter()
                .filter_map(|step| Some((f64::from(step.instances), -step.node_available?))),
        )
    }

    /// The most instances that were measured.
    pub fn reached(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.instances)
    }
}

impl Reached {
    /// Whether requests failed. An unreadable result counts as a failure.
    pub const fn has_errors(&self) -> bool {
        self.errors > 0 || self.is_unreadable
    }
}

/// The least-squares slope through the points; `None` with fewer than two distinct x values.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let points: Vec<(f64, f64)> = points.collect();
    let count = points.len() as f64;
    let mean =
        |coordinate: fn(&(f64, f64)) -> f64| points.iter().map(coordinate).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let square: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let product: f64 = points
        .iter()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    (square > 0.0).then(|| product / square)
}

/// The numbers of a document. `expected_status` is that of a correct answer.
pub fn from_document(document: &DensityDocument, expected_status: u16) -> DensityTrial {
    let list = document.environment.facts.get("cpus");
    let cpus = list.and_then(|list| noise::cpus(list));
    DensityTrial {
        steps: document
            .steps
            .iter()
            .map(|step| reached(step, expected_status, cpus))
            .collect(),
        stopped: document.stopped.clone(),
    }
}

fn reached(step: &DensityStep, expected_status: u16, cpus: Option<u32>) -> Reached {
    let load = fortio::from_window(&step.first, expected_status)
        .ok()
        .map(|(load, _)| load)
        .filter(|load| load.succeeded + load.failed > 0);
    let errors = load.as_ref().map_or(0, |load| load.failed);
    let is_unreadable = load.is_none();
    let faultless = load.filter(|load| load.failed == 0);
    let bytes = |value: u64| value as f64;
    let noise = cpus.map(|cpus| Noise::from_window(&step.first, cpus));
    let meter = step.first.subject.as_ref();
    Reached {
        instances: step.instances,
        all_answered: step.all_answered_nanoseconds as f64 / 1e3,
        first_p50: faultless.and_then(|load| load.latency.percentile(0.5)),
        sandboxes: step.memory.map(|memory| bytes(memory.sandboxes())),
        pods: step.memory.map(|memory| bytes(memory.pods_bytes)),
        node_available: step.node_available_bytes.map(bytes),
        noise: noise.unwrap_or_default(),
        errors,
        is_unreadable,
        generator_cpu_share: cpus
            .and_then(|cpus| generator::cpu_share(&step.first, step.cpus.as_ref(), cpus)),
        throttled_periods: meter
            .and_then(|meter| meter.throttled_periods)
            .unwrap_or_default(),
        throttled_share: pod_use::throttled_share(&step.first),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_slope_needs_two_distinct_points() {
        assert_eq!(slope([].into_iter()), None);
        assert_eq!(slope([(1.0, 5.0)].into_iter()), None);
        assert_eq!(slope([(1.0, 5.0), (1.0, 9.0)].into_iter()), None);
        assert_eq!(slope([(1.0, 5.0), (3.0, 9.0)].into_iter()), Some(2.0));
    }

    proptest! {
        #[test]
        fn the_slope_of_a_line_is_recovered(per in 0.1f64..1e8, base in 0.0f64..1e9) {
            let line = [1.0, 2.0, 5.0, 10.0, 20.0].map(|n| (n, base + per * n));
            let found = slope(line.into_iter()).unwrap();
            prop_assert!((found / per - 1.0).abs() < 1e-6);
        }
    }
}
