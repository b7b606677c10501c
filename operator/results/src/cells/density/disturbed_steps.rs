//! Disturbed steps: requests failed, or something other than the variant was measured too, such as
//! a noisy node or a CPU limit.

use wasmbench_model::noise::Noise;
use wasmbench_model::units;

use crate::cells::density::blocks::{Blocks, by_instances};
use crate::cells::density::{DensityCell, DisturbedStep};
use crate::cells::load::saturation;
use crate::read::density_trial::Reached;
use crate::read::pod_use::throttled_text;
use crate::vocabulary::doubt::Reason;

/// The disturbed steps of the measured climbs of a cell, by instances.
pub fn disturbed_steps(blocks: &Blocks<'_>) -> Vec<DisturbedStep> {
    let of_step = |(instances, steps): (u32, Vec<&Reached>)| {
        let noises: Vec<Noise> = steps
            .iter()
            .map(|step| step.noise)
            .filter(|noise| noise.is_over_limit())
            .collect();
        let worst = noises.iter().copied().fold(Noise::default(), Noise::worst);
        let stopped = steps.iter().filter(|step| step.throttled_periods > 0);
        let periods: u64 = stopped.clone().map(|step| step.throttled_periods).sum();
        let longest = stopped
            .clone()
            .filter_map(|step| step.throttled_share)
            .reduce(f64::max);
        let shares: Vec<f64> = steps
            .iter()
            .filter_map(|step| step.generator_cpu_share)
            .filter(|share| *share > saturation::LIMIT)
            .collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        let failing = steps.iter().filter(|step| step.has_errors());
        [
            (Reason::ErrorsInLoad, failing.count(), errors(&steps)),
            (
                Reason::Throttled,
                stopped.count(),
                throttled_text(periods, longest),
            ),
            (
                Reason::LoadGeneratorSaturated,
                shares.len(),
                format!("{} of the CPUs it may use", units::percent(most)),
            ),
            (Reason::NodeNoisy, noises.len(), worst.message()),
        ]
        .into_iter()
        .filter(|(_, trials, _)| *trials > 0)
        .map(move |(reason, trials, message)| DisturbedStep {
            instances,
            reason,
            trials: u32::try_from(trials).unwrap_or(u32::MAX),
            message,
        })
    };
    by_instances(blocks).into_iter().flat_map(of_step).collect()
}

/// What failed at a step, over all blocks.
fn errors(steps: &[&Reached]) -> String {
    let failed: u64 = steps.iter().map(|step| step.errors).sum();
    let unreadable = steps.iter().filter(|step| step.is_unreadable).count();
    let both = [
        (failed > 0).then(|| format!("{failed} failed requests")),
        (unreadable > 0).then(|| format!("{unreadable} unreadable result(s)")),
    ];
    both.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The steps of a cell that are disturbed by `reason`: `at 5 instances in 2 block(s), 31 % used by
/// others`; empty if there are none.
pub fn text(cell: &DensityCell, reason: Reason) -> String {
    let steps = cell
        .detail
        .disturbed_steps
        .iter()
        .filter(|step| step.reason == reason);
    let step = |step: &DisturbedStep| {
        let (instances, trials, message) = (step.instances, step.trials, &step.message);
        format!("at {instances} instances in {trials} block(s), {message}")
    };
    steps.map(step).collect::<Vec<_>>().join("; ")
}
