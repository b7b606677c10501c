//! The smallest differences that matter, as the run's author set them: a share, and for some
//! measures a difference.

use wasmbench_api::run::{BenchmarkRunSpec, Workload, share_of};

use crate::statistics::Scale;
use crate::vocabulary::measure::{Judged, Measured as _, Metric, Unit};

/// The smallest difference that matters, as a logarithm: 5 % stands for 1/1.05 to 1.05, so that the
/// inverse of a ratio gets the same verdict.
pub fn minimum_effect(spec: &BenchmarkRunSpec) -> f64 {
    // validate rejects anything that is not a share; a difference of any size would matter then.
    libm::log1p(share_of(&spec.minimum_effect).unwrap_or_default())
}

/// The smallest difference of starts that matters, in microseconds.
pub fn smallest_start(spec: &BenchmarkRunSpec) -> f64 {
    let smallest = spec.minimum_difference.unwrap_or_default();
    f64::from(smallest.start_milliseconds) * 1e3
}

/// The smallest difference of a measure that matters, in its unit, for measures that are judged by
/// it. For the share of successful requests it is a tenth of the share that may fail: users who
/// tolerate one failed request in a hundred care about one in a thousand.
pub fn smallest_difference(
    spec: &BenchmarkRunSpec,
    workload: &Workload,
    metric: Metric,
) -> Option<f64> {
    let smallest = spec.minimum_difference.unwrap_or_default();
    match metric.measure().judged {
        Judged::Ratio => return None,
        Judged::Difference | Judged::RatioOrDifference => {}
    }
    match metric.measure().unit {
        Unit::PerSecond | Unit::Count => None,
        Unit::Share => Some(workload.max_error_share()? / 10.0),
        Unit::Microseconds => Some(smallest_start(spec)),
        Unit::Bytes => Some(f64::from(smallest.memory_kibibytes) * 1024.0),
    }
}

/// The smallest change from run to run that matters, on the scale on which the measure is judged: a
/// logarithm, or a difference in its unit. `before` is the number before the change.
pub fn smallest_on_scale(
    spec: &BenchmarkRunSpec,
    workload: &str,
    metric: Metric,
    before: f64,
) -> f64 {
    match metric.scale() {
        Scale::Ratio => smallest_change(spec, workload, metric, before),
        Scale::Difference => {
            let workload = spec.workloads.iter().find(|one| one.name == workload);
            let smallest = workload.and_then(|one| smallest_difference(spec, one, metric));
            // A difference of any size matters then.
            smallest.unwrap_or_default()
        }
    }
}

/// The smallest change of a number that matters, as a logarithm; `before` is the number before the
/// change. For measures judged by their difference it is the smallest difference, for those judged
/// by either the larger of both.
pub fn smallest_change(
    spec: &BenchmarkRunSpec,
    workload: &str,
    metric: Metric,
    before: f64,
) -> f64 {
    let effect = minimum_effect(spec);
    let workload = spec.workloads.iter().find(|one| one.name == workload);
    let smallest = workload.and_then(|workload| smallest_difference(spec, workload, metric));
    let Some(smallest) = smallest.filter(|_| before > 0.0) else {
        return effect;
    };
    let share = libm::log1p(smallest / before);
    match metric.measure().judged {
        Judged::Difference => share,
        Judged::Ratio | Judged::RatioOrDifference => effect.max(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_judged_by_milliseconds_and_small_memory_by_kilobytes() {
        let spec: BenchmarkRunSpec = serde_json::from_value(serde_json::json!({
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello", "path": "/"}],
            "sweeps": {"coldStart": {"samples": 5}},
        }))
        .unwrap();
        let change = |metric, before| smallest_change(&spec, "hello", metric, before).exp() - 1.0;
        let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one}, {other}");
        // 10 ms of 200 ms, and of 2 s.
        close(change(Metric::ColdStartListening, 200_000.0), 0.05);
        close(change(Metric::ColdStartListening, 2_000_000.0), 0.005);
        // 512 KiB of 1 MiB, and 5 % of 1 GiB.
        close(change(Metric::Memory, 1_048_576.0), 0.5);
        close(change(Metric::Memory, 1_073_741_824.0), 0.05);
        close(change(Metric::ThroughputRps, 1.0), 0.05);
        let on_scale = |metric| smallest_on_scale(&spec, "hello", metric, 200_000.0);
        close(on_scale(Metric::ColdStartListening), 10_000.0);
        close(on_scale(Metric::ThroughputRps).exp() - 1.0, 0.05);
    }
}
