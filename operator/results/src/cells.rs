//! Trials to cells: counts of how trials ended, and medians over the valid ones.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_core::rounding::{SUMMARY_DIGITS, round_significant};
use wasmbench_core::variants::not_applicable;
use wasmbench_core::wire::record::{Cell, Outcome, Point, TrialId};

use crate::cell::CellSummary;
use crate::counts::TrialCounts;
use crate::doubt::Reason;
use crate::measure::Sweep;
use crate::observation::Observation;
use crate::statistics::Spread;
use crate::trial::{Metrics, Trial, TrialState, carries};
use crate::{ceiling, open_loop, tail};

/// Sweep and connections of every point of the run that is a load: the warm one first, then by
/// connections, then by rate.
fn points(spec: &BenchmarkRunSpec) -> Vec<(Point, Sweep, u32)> {
    let warm = spec.sweeps.warm_latency.iter();
    let warm = warm.map(|w| (Point::WarmLatency, Sweep::WarmLatency, w.connections));
    let mut connections: Vec<u32> = spec
        .sweeps
        .throughput
        .iter()
        .flat_map(|t| t.connections.clone())
        .collect();
    connections.sort_unstable();
    connections.dedup();
    let loaded = connections.into_iter().map(|connections| {
        let point = Point::Throughput { connections };
        (point, Sweep::Throughput, connections)
    });
    let open = spec.sweeps.open_loop.iter().flat_map(|sweep| {
        let point = |percent_of_peak| Point::OpenLoop { percent_of_peak };
        let percents = sweep.percents().into_iter();
        percents.map(move |percent| (point(percent), Sweep::OpenLoop, sweep.connections))
    });
    warm.chain(loaded).chain(open).collect()
}

/// Variants that ran in another mode than they claim, and how their first such trial showed it.
pub type WrongEngines<'a> = BTreeMap<&'a str, &'a str>;

/// One trial in a wrong mode is enough: the others had the same pod.
pub fn wrong_engines(observations: &BTreeMap<TrialId, Observation>) -> WrongEngines<'_> {
    let wrong = observations.iter().filter_map(|(trial, seen)| {
        let contradiction = seen.engine_contradiction.as_deref()?;
        Some((trial.cell.variant.as_str(), contradiction))
    });
    let mut found = WrongEngines::new();
    for (variant, contradiction) in wrong {
        found.entry(variant).or_insert(contradiction);
    }
    found
}

/// Every cell of the run: by workload, then variant, then point, in the order of the spec.
pub fn cells(
    spec: &BenchmarkRunSpec,
    observations: &BTreeMap<TrialId, Observation>,
    mismatched: &BTreeSet<(String, String)>,
    engines: &WrongEngines<'_>,
) -> Vec<CellSummary> {
    let ceilings = ceiling::ceilings(
        observations
            .iter()
            .filter_map(|(trial, seen)| Some((trial, seen.generator_ceiling?))),
    );
    let mut cells = vec![];
    for workload in &spec.workloads {
        for variant in &spec.variants {
            let answers = mismatched.contains(&(variant.name.clone(), workload.name.clone()));
            let engine = engines.contains_key(variant.name.as_str());
            let wrong = answers
                .then_some(Reason::ResponseMismatch)
                .or(engine.then_some(Reason::EngineModeMismatch));
            for (point, sweep, connections) in points(spec) {
                if not_applicable::reason(variant, workload, point).is_some() {
                    continue;
                }
                let (variant, workload) = (variant.name.clone(), workload.name.clone());
                let cell = Cell {
                    variant,
                    workload,
                    point,
                };
                let trials = trials_of(&cell, spec.blocks, observations, wrong);
                let ceiling = ceilings.get(&(cell.workload.as_str(), connections));
                let ceiling = ceiling.filter(|_| sweep == Sweep::Throughput).copied();
                let at = (sweep, connections);
                let summary = summarise(cell, at, spec.blocks, trials, wrong);
                cells.push(CellSummary {
                    generator_ceiling_rps: ceiling,
                    ..summary
                });
            }
        }
    }
    cells
}

fn trials_of(
    cell: &Cell,
    blocks: u32,
    observations: &BTreeMap<TrialId, Observation>,
    wrong: Option<Reason>,
) -> Vec<Trial> {
    let trial = |block| {
        let seen = observations.get(&TrialId {
            cell: cell.clone(),
            block,
        })?;
        Some(trial_of(seen, block, wrong))
    };
    (1..=blocks).filter_map(trial).collect()
}

/// What was observed as a trial of its cell.
fn trial_of(seen: &Observation, block: u32, wrong: Option<Reason>) -> Trial {
    let metrics = seen.load().cloned().unwrap_or_default();
    let (state, reason) = match &seen.ended {
        Outcome::Failed { reason, .. } => (TrialState::Failed, Some(reason.clone())),
        Outcome::Skipped { reason, .. } => (TrialState::Skipped, Some(reason.clone())),
        Outcome::Measured => {
            let errors = (metrics.errors > 0).then_some(Reason::ErrorsInLoad);
            let noise = seen.noise.excludes() && metrics.noise().is_over_limit();
            let noise = noise.then_some(Reason::NodeNoisy);
            let coarse = metrics.clock_too_coarse;
            let coarse = coarse.then_some(Reason::ClockTooCoarse);
            let first = wrong.or(errors).or(coarse).or(noise);
            first.map_or((TrialState::Valid, None), invalid)
        }
    };
    Trial {
        block,
        position: seen.position,
        state,
        reason,
        metrics,
    }
}

/// Any failed request makes a trial invalid: requests that fail cost less or more than the ones
/// that succeed, and nobody knows which ones are missing from the latency. So does a node that
/// stayed noisy: the trial measured its neighbours too.
fn invalid(reason: Reason) -> (TrialState, Option<String>) {
    (TrialState::Invalid, Some(<&str>::from(reason).to_owned()))
}

fn summarise(
    cell: Cell,
    (sweep, connections): (Sweep, u32),
    planned: u32,
    trials: Vec<Trial>,
    wrong: Option<Reason>,
) -> CellSummary {
    let counts = count(&trials, planned);
    // A point without a valid trial is never ranked; what was measured is shown all the same.
    let shown = if counts.valid > 0 {
        TrialState::Valid
    } else {
        TrialState::Invalid
    };
    let spread = |of: fn(&Metrics) -> Option<f64>| {
        let shown = trials.iter().filter(|trial| trial.state == shown);
        Spread::of(shown.filter_map(|trial| of(&trial.metrics)))
            .map(|spread| spread.map(|value| round_significant(value, SUMMARY_DIGITS)))
    };
    let percent_of_peak = match cell.point {
        Point::OpenLoop { percent_of_peak } => Some(percent_of_peak),
        Point::WarmLatency
        | Point::Throughput { .. }
        | Point::ColdStart { .. }
        | Point::Density => None,
    };
    let invalid_because = invalid_because(&trials, wrong);
    let fewest_requests = valid_trials(&trials)
        .map(|trial| trial.metrics.requests)
        .min();
    let unsettled =
        valid_trials(&trials).filter(|trial| trial.metrics.warmup_settled == Some(false));
    let unsettled_trials = u32::try_from(unsettled.count()).unwrap_or(u32::MAX);
    CellSummary {
        variant: cell.variant,
        workload: cell.workload,
        sweep,
        connections,
        percent_of_peak,
        ranked: counts.valid > 0 && invalid_because.is_empty(),
        invalid_because,
        counts,
        errors: trials.iter().map(|trial| trial.metrics.errors).sum(),
        fewest_requests,
        p99_carried: fewest_requests.is_some_and(|requests| carries(requests, 100)),
        rps: spread(|m| m.rps),
        p50_microseconds: spread(|m| m.p50),
        p90_microseconds: spread(|m| m.p90),
        p99_microseconds: spread(|m| m.p99),
        p999_microseconds: tail::p999(&trials),
        cpu_microseconds_per_request: spread(|m| m.cpu),
        memory_bytes: spread(|m| m.memory.map(|bytes| bytes as f64)),
        open_loop: open_loop::summary(&trials, shown),
        generator_ceiling_rps: None,
        generator_cpu_share_max: extremes(&trials, |m| m.generator_cpu_share).map(|(_, max)| max),
        others_cpu_share_max: extremes(&trials, |m| m.others_cpu_share).map(|(_, max)| max),
        steal_share_max: extremes(&trials, |m| m.steal_share).map(|(_, max)| max),
        connections_busy: spread(|m| m.connections_busy).map(|spread| spread.median),
        unsettled_trials,
        throttled_periods: trials
            .iter()
            .filter_map(|t| t.metrics.throttled_periods)
            .reduce(u64::saturating_add),
        trials,
    }
}

fn valid_trials(trials: &[Trial]) -> impl Iterator<Item = &Trial> {
    let is_valid = |trial: &&Trial| trial.state == TrialState::Valid;
    trials.iter().filter(is_valid)
}

/// The smallest and the largest number of the valid trials.
pub fn extremes(trials: &[Trial], of: fn(&Metrics) -> Option<f64>) -> Option<(f64, f64)> {
    let numbers = valid_trials(trials).filter_map(|trial| of(&trial.metrics));
    numbers.fold(None, |found: Option<(f64, f64)>, number| {
        let (min, max) = found.unwrap_or((number, number));
        Some((min.min(number), max.max(number)))
    })
}

fn count(trials: &[Trial], planned: u32) -> TrialCounts {
    let mut counts = TrialCounts {
        planned,
        missing: planned,
        ..TrialCounts::default()
    };
    for trial in trials {
        counts.missing -= 1;
        counts.repeated += u32::from(trial.metrics.discarded.is_some());
        match trial.state {
            TrialState::Valid => counts.valid += 1,
            TrialState::Invalid => counts.invalid += 1,
            TrialState::Failed => counts.failed += 1,
            TrialState::Skipped => counts.skipped += 1,
        }
    }
    counts
}

/// One bad trial makes its whole point invalid: the blocks that worked would otherwise stand for
/// a variant that does not reliably work.
fn invalid_because(trials: &[Trial], wrong: Option<Reason>) -> Vec<Reason> {
    let reasons = trials.iter().filter_map(|trial| match trial.state {
        TrialState::Invalid | TrialState::Failed => Reason::of_trial(trial.reason.as_deref()?),
        TrialState::Valid | TrialState::Skipped => None,
    });
    reasons
        .chain(wrong)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}
