//! Whether the load generator limited the rate of a point, and not the subject.

use wasmbench_model::units;

use crate::cells::load::LoadDetail;

/// Share of its CPUs, or of its calibrated ceiling, above which the load generator itself is the
/// bottleneck: a closed-loop client then queues its own requests and measures itself.
pub const LIMIT: f64 = 0.8;

/// Whether the generator was near its limit, by its CPU time in any valid trial or by the median
/// rate.
pub fn is_saturated(load: &LoadDetail) -> bool {
    cpu_share(load).is_some() || rate_and_ceiling(load).is_some()
}

/// The generator's share of its available CPUs, if above the limit.
fn cpu_share(load: &LoadDetail) -> Option<f64> {
    load.generator_cpu_share_max.filter(|share| *share > LIMIT)
}

/// The median rate and the ceiling, if the rate is too close to the ceiling.
fn rate_and_ceiling(load: &LoadDetail) -> Option<(f64, f64)> {
    let rate = load.rps?.median;
    let ceiling = load.generator_ceiling_rps?;
    (rate > LIMIT * ceiling).then_some((rate, ceiling))
}

/// How near it was.
pub fn text(load: &LoadDetail) -> String {
    let cpu =
        cpu_share(load).map(|share| format!("{} of the CPUs it may use", units::percent(share)));
    let rate = rate_and_ceiling(load).map(|(rate, ceiling)| {
        let (rate, ceiling) = (units::rate(rate), units::rate(ceiling));
        format!("{rate} of the {ceiling} requests/s that it reaches when answers cost nothing")
    });
    cpu.into_iter().chain(rate).collect::<Vec<_>>().join("; ")
}
