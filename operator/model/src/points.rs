//! The sweep points of a spec.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::open_loop::OpenLoop;
use wasmbench_api::run::{ConnectionReuse, Metric, Sweeps, Workload};

use crate::wire::open_loop::Rate;
use crate::wire::record::Point;
use crate::wire::request::Target;

/// Points of all sweeps, in the order of the API.
pub fn points_of(spec: &BenchmarkRunSpec) -> Vec<Point> {
    let cold = spec
        .sweeps
        .cold_start
        .iter()
        .flat_map(|sweep| &sweep.concurrency)
        .map(|&concurrency| Point::ColdStart { concurrency });
    let warm = spec.sweeps.warm_latency.iter().map(|_| Point::WarmLatency);
    let connections = spec
        .sweeps
        .throughput
        .iter()
        .flat_map(|sweep| &sweep.connections);
    let open = spec.sweeps.open_loop.iter().flat_map(open_loop);
    cold.chain(warm)
        .chain(connections.map(|&connections| Point::Throughput { connections }))
        .chain(open)
        .chain(spec.sweeps.payload.iter().map(|_| Point::Payload))
        .chain(spec.sweeps.density.iter().map(|_| Point::Density))
        .collect()
}

/// One point per rate, or with a target a single one.
fn open_loop(sweep: &OpenLoop) -> Vec<Point> {
    if sweep.target.is_some() {
        return vec![Point::Capacity];
    }
    let rates = sweep.rps().into_iter().map(Rate::Rps);
    let shares = sweep.percents().into_iter().map(Rate::PercentOfPeak);
    let all = rates.chain(shares);
    all.map(|rate| Point::OpenLoop { rate }).collect()
}

/// What a rung of the ladder has to meet under `workload`; `None` without a target.
pub fn target_of(sweep: &OpenLoop, workload: &Workload) -> Option<Target> {
    Some(Target {
        p99_microseconds: sweep.target_microseconds()?,
        max_error_share: workload.max_error_share().unwrap_or_default(),
    })
}

/// The connections that carry the load of a point, and whether they are kept; `None` if it has no
/// load, or if the spec does not have its sweep.
pub fn connections_of(sweeps: &Sweeps, point: Point) -> Option<(u32, ConnectionReuse)> {
    Some(match point {
        Point::WarmLatency => (sweeps.warm_latency?.connections, ConnectionReuse::KeepAlive),
        Point::Throughput { connections } => {
            (connections, sweeps.throughput.as_ref()?.connection_reuse)
        }
        Point::OpenLoop { .. } | Point::Capacity => (
            sweeps.open_loop.as_ref()?.connections,
            ConnectionReuse::KeepAlive,
        ),
        Point::Payload => (
            sweeps.payload.as_ref()?.connections,
            ConnectionReuse::KeepAlive,
        ),
        Point::ColdStart { .. } | Point::Density | Point::Scout => return None,
    })
}

/// What a trial at this point measures. The first metric is the one that a run decides on by
/// default; additional ones are compared only in runs that name them.
///
/// Under a throughput load this is the subject's CPU time and not its rate, because the load
/// generator uses most of the CPUs that they share: the rate moves by only a fraction of what the
/// subject costs, and scatters more. For cold starts it is a log line and not the first answer,
/// which waits for the cluster to publish an address.
pub const fn measured_at(point: Point) -> &'static [Metric] {
    match point {
        Point::Throughput { .. } => &[
            Metric::CpuPerRequest,
            Metric::ThroughputRps,
            Metric::Memory,
            Metric::Succeeded,
            Metric::ContextSwitchesPerCpuSecond,
            Metric::PageFaultsPerRequest,
            Metric::SystemCpuPerRequest,
            Metric::InstanceTimePerRequest,
            Metric::CpuUse,
        ],
        Point::WarmLatency => &[
            Metric::WarmP50,
            Metric::CpuPerRequest,
            Metric::Memory,
            Metric::Succeeded,
            Metric::ContextSwitchesPerCpuSecond,
            Metric::PageFaultsPerRequest,
            Metric::SystemCpuPerRequest,
            Metric::InstanceTimePerRequest,
        ],
        Point::OpenLoop { .. } => &[Metric::OpenLoopP99, Metric::OpenLoopP50],
        Point::Capacity => &[Metric::Capacity],
        Point::Payload => &[Metric::PayloadCpuPerMegabyte, Metric::PayloadFixedCpu],
        Point::ColdStart { .. } => &[Metric::ColdStartListening, Metric::ColdStartAnswer],
        Point::Density => &[Metric::MemoryPerInstance],
        Point::Scout => &[],
    }
}
