//! Which sweeps measure what: a run cannot decide what it does not measure.

use wasmbench_api::run::{BenchmarkRunSpec, Metric, Variant, Workload};
use wasmbench_model::points::{measured_at, points_of};
use wasmbench_model::variants::catalogue::definition_of;
use wasmbench_model::variants::presets::Serves;
use wasmbench_model::wire::request::MeterLevel;

use crate::config::OperatorConfig;
use crate::validate::{Invalid, invalid};

/// Checks that every measure that the spec lists is measured.
pub fn check_listed(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> Result<(), Invalid> {
    let workloads: Vec<&Workload> = spec.workloads.iter().collect();
    let lists = [
        ("spec.primaryMeasures", &spec.primary_measures),
        ("spec.additionalMeasures", &spec.additional_measures),
    ];
    let mut listed = lists
        .into_iter()
        .flat_map(|(field, list)| list.iter().map(move |metric| (field, *metric)));
    listed.try_for_each(|(field, metric)| {
        let refused = |why| invalid(field, format!("{why}, or remove the measure"));
        check(spec, metric, &workloads, config).map_err(refused)
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
    let serves_kernels =
        |variant: &Variant| definition_of(variant).is_some_and(|row| row.serves == Serves::Kernels);
    if metric == Metric::InstanceTimePerRequest && !spec.variants.iter().any(serves_kernels) {
        return Err(format!(
            "only servers of kernels report {name}: add a variant with a preset kernel-..."
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
        Metric::ThroughputRps | Metric::CpuUse => "spec.sweeps.throughput",
        Metric::WarmP50 => "spec.sweeps.warmLatency",
        Metric::CpuPerRequest
        | Metric::Memory
        | Metric::Succeeded
        | Metric::ContextSwitchesPerCpuSecond
        | Metric::PageFaultsPerRequest
        | Metric::SystemCpuPerRequest
        | Metric::InstanceTimePerRequest => "spec.sweeps.throughput or spec.sweeps.warmLatency",
        Metric::ColdStartListening | Metric::ColdStartAnswer => "spec.sweeps.coldStart",
        Metric::OpenLoopP50 | Metric::OpenLoopP99 => "spec.sweeps.openLoop without a target",
        Metric::Capacity => "spec.sweeps.openLoop with a target",
        Metric::PayloadCpuPerMegabyte | Metric::PayloadFixedCpu => "spec.sweeps.payload",
        Metric::MemoryPerInstance => "spec.sweeps.density",
    }
}

/// Whether the number is read from the node's cgroups or processes.
fn is_metered(metric: Metric) -> bool {
    match metric {
        Metric::CpuPerRequest
        | Metric::Memory
        | Metric::PayloadCpuPerMegabyte
        | Metric::PayloadFixedCpu
        | Metric::MemoryPerInstance
        | Metric::ContextSwitchesPerCpuSecond
        | Metric::PageFaultsPerRequest
        | Metric::SystemCpuPerRequest
        | Metric::CpuUse => true,
        Metric::ThroughputRps
        | Metric::WarmP50
        | Metric::Succeeded
        | Metric::ColdStartListening
        | Metric::ColdStartAnswer
        | Metric::OpenLoopP50
        | Metric::OpenLoopP99
        | Metric::Capacity
        | Metric::InstanceTimePerRequest => false,
    }
}
