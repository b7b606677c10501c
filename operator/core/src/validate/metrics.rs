//! Which sweeps measure what: a run cannot decide what it does not measure.

use wasmbench_api::run::{BenchmarkRunSpec, Metric, Workload};
use wasmbench_model::points::{measured_at, points_of};
use wasmbench_model::wire::request::MeterLevel;

use crate::config::OperatorConfig;
use crate::validate::{Invalid, invalid};

/// Checks that every primary measure is measured.
pub fn check_primary(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> Result<(), Invalid> {
    let workloads: Vec<&Workload> = spec.workloads.iter().collect();
    spec.primary_measures.iter().try_for_each(|metric| {
        let refused = |why| {
            invalid(
                "spec.primaryMeasures",
                format!("{why}, or remove the measure"),
            )
        };
        check(spec, *metric, &workloads, config).map_err(refused)
    })
}

/// Checks that the run measures `metric` under one of these workloads. The error has the reason and
/// what to do; callers append to it.
pub fn check(
    spec: &BenchmarkRunSpec,
    metric: Metric,
    workloads: &[&Workload],
    config: &OperatorConfig,
) -> Result<(), String> {
    let name: &str = metric.into();
    if !points_of(spec)
        .into_iter()
        .any(|point| measured_at(point).contains(&metric))
    {
        return Err(format!(
            "the run has no sweep that measures {name}: add {}",
            sweeps_of(metric)
        ));
    }
    let fails = |workload: &&Workload| workload.max_error_share.is_some();
    if metric == Metric::Succeeded && !workloads.iter().any(fails) {
        return Err(format!(
            "no request may fail, so that there is nothing to compare in {name}: give the workload maxErrorShare"
        ));
    }
    if is_metered(metric) && config.meter == MeterLevel::None {
        return Err(format!(
            "{name} is not measured, because the administrator lets probes see nothing of the node: have \
             meter.level set to cgroup in the chart"
        ));
    }
    Ok(())
}

/// The sweeps that measure the metric, as part of a message.
fn sweeps_of(metric: Metric) -> &'static str {
    match metric {
        Metric::ThroughputRps => "spec.sweeps.throughput",
        Metric::WarmP50 => "spec.sweeps.warmLatency",
        Metric::CpuPerRequest | Metric::Memory | Metric::Succeeded => {
            "spec.sweeps.throughput or spec.sweeps.warmLatency"
        }
        Metric::ColdStartListening | Metric::ColdStartAnswer => "spec.sweeps.coldStart",
        Metric::OpenLoopP50 | Metric::OpenLoopP99 => "spec.sweeps.openLoop",
        Metric::MemoryPerInstance => "spec.sweeps.density",
    }
}

/// Whether the number is read from the node's cgroups.
fn is_metered(metric: Metric) -> bool {
    match metric {
        Metric::CpuPerRequest | Metric::Memory | Metric::MemoryPerInstance => true,
        Metric::ThroughputRps
        | Metric::WarmP50
        | Metric::Succeeded
        | Metric::ColdStartListening
        | Metric::ColdStartAnswer
        | Metric::OpenLoopP50
        | Metric::OpenLoopP99 => false,
    }
}
