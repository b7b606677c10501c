//! The sweep points that a spec asks for.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::open_loop::OpenLoop;

use crate::wire::record::Point;

/// Points of all sweeps, in the order of the API.
pub fn points_of(spec: &BenchmarkRunSpec) -> Vec<Point> {
    let cold = spec.sweeps.cold_start.iter();
    let cold = cold.flat_map(|sweep| &sweep.concurrency);
    let cold = cold.map(|&concurrency| Point::ColdStart { concurrency });
    let warm = spec.sweeps.warm_latency.iter().map(|_| Point::WarmLatency);
    let connections = spec
        .sweeps
        .throughput
        .iter()
        .flat_map(|sweep| &sweep.connections);
    let open = spec.sweeps.open_loop.iter().flat_map(OpenLoop::percents);
    cold.chain(warm)
        .chain(connections.map(|&connections| Point::Throughput { connections }))
        .chain(open.map(|percent_of_peak| Point::OpenLoop { percent_of_peak }))
        .chain(spec.sweeps.density.iter().map(|_| Point::Density))
        .collect()
}
