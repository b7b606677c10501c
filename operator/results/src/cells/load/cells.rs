//! Trials to cells: counts of how trials ended, and medians over the valid ones.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{ConnectionReuse, Workload};
use wasmbench_model::points::connections_of;
use wasmbench_model::rounding::round_number;
use wasmbench_model::wire::record::{Cell, Outcome, Point, TrialId};

use crate::cells::load::{LoadCell, LoadDetail, mix, validity};
use crate::cells::recorded::Recorded;
use crate::cells::variant_validity::VariantValidity;
use crate::cells::{open_loop, tail};
use crate::read::additional::{keep, share_of_limit};
use crate::read::ceiling::Ceilings;
use crate::read::observation::Observation;
use crate::read::traffic::{Traffic, TrafficSummary};
use crate::read::trial::{Metrics, Trial, TrialState, carries, valid};
use crate::read::{ceiling, fortio};
use crate::statistics::Spread;
use crate::vocabulary::cell::CellSummary;
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::{Metric, Sweep};
use crate::vocabulary::trial_reason::TrialReason;

/// The load generator's ceilings under the workloads of a run.
pub fn ceilings(observations: &BTreeMap<TrialId, Observation>) -> Ceilings<'_> {
    let observed = observations.iter();
    ceiling::ceilings(
        observed.filter_map(|(trial, observed)| Some((trial, observed.generator_ceiling?))),
    )
}

/// The cell of a load; `None` for a point of another sweep.
pub fn cell(
    spec: &BenchmarkRunSpec,
    recorded: &Recorded<'_>,
    validity: VariantValidity<'_>,
    ceilings: &Ceilings<'_>,
) -> Option<LoadCell> {
    let Cell {
        variant,
        workload,
        point,
    } = &recorded.cell;
    let sweep = match point {
        Point::WarmLatency => Sweep::WarmLatency,
        Point::Throughput { .. } => Sweep::Throughput,
        Point::OpenLoop { .. } => Sweep::OpenLoop,
        Point::ColdStart { .. }
        | Point::Capacity
        | Point::Payload
        | Point::Density
        | Point::Scout => return None,
    };
    let (connections, reuse) = connections_of(&spec.sweeps, *point)?;
    let wrong = validity.of_every_trial(variant, workload);
    let set_limit = spec.cpu_limit(variant);
    let mut workloads = spec.workloads.iter();
    let workload_spec = workloads.find(|one| one.name == *workload);
    let max_error_share = workload_spec.and_then(Workload::max_error_share);
    // One answer is the right one, so none may have another size, unless it is JSON, whose value
    // counts.
    let is_fixed = |observed: &Observation| {
        let is_json = observed
            .bodies
            .values()
            .any(|body| body.json_sha256.is_some());
        let expect = workload_spec.map(|one| &one.expect);
        expect.is_some_and(|one| one.body.is_some() || one.same_across_variants && !is_json)
    };
    let trials: Vec<Trial> = recorded
        .trials
        .iter()
        .map(|(block, observed)| {
            let mut trial = trial_of(observed, *block, wrong, max_error_share.unwrap_or_default());
            let metrics = &mut trial.metrics;
            let limit = set_limit.or(observed.limit_range_cpu.as_deref());
            let used = metrics.cpus.zip(limit);
            let of_limit = used.and_then(|(cpus, limit)| share_of_limit(cpus, limit));
            keep(&mut metrics.additional, spec, *point, of_limit);
            if reuse == ConnectionReuse::PerRequest {
                metrics.traffic.requests_per_connection = None;
            }
            if is_fixed(observed)
                && metrics.other_bytes_before.is_some()
                && trial.state == TrialState::Valid
            {
                (trial.state, trial.reason) = invalid(Reason::ResponseMismatch);
            }
            trial
        })
        .collect();
    let is_valid = |block| valid(&trials).any(|trial| trial.block == block);
    let counts = recorded.counts(is_valid);
    let ceiling = ceilings
        .get(&(workload.as_str(), connections))
        .filter(|_| sweep == Sweep::Throughput)
        .copied();
    let mut detail = LoadDetail {
        rate: point.rate(),
        generator_ceiling_rps: ceiling,
        max_error_share,
        overrun: overrun(&trials),
        ..summarise(sweep, connections, trials)
    };
    let own = validity::reasons(counts, &detail, wrong, spec.sets_cpu_limit(variant));
    let invalid = validity.invalid_because(&recorded.cell, counts, own);
    if !invalid.is_empty() {
        detail.p999_microseconds = None;
    }
    let cell = recorded.cell.clone();
    Some(CellSummary::new(cell, counts, detail, invalid))
}

/// Converts an observation to a trial of its cell.
fn trial_of(
    observed: &Observation,
    block: u32,
    wrong: Option<Reason>,
    max_error_share: f64,
) -> Trial {
    let metrics = observed.load().cloned().unwrap_or_default();
    let (state, reason) = match &observed.ended {
        Outcome::Failed { reason, .. } => (TrialState::Failed, Some(reason.into())),
        Outcome::Skipped { reason, .. } => (TrialState::Skipped, Some(reason.into())),
        Outcome::Measured => {
            let all = (metrics.requests + metrics.errors) as f64;
            // More failed requests than the workload allows (by default none) make a trial invalid:
            // failed requests cost less or more than successful ones, and it is unknown which are
            // missing from the latency.
            let has_failed = metrics.errors as f64 > max_error_share * all;
            let errors = has_failed.then_some(Reason::ErrorsInLoad);
            let coarse = metrics.clock_too_coarse.then_some(Reason::ClockTooCoarse);
            let first = wrong.or(errors).or(coarse);
            first.map_or((TrialState::Valid, None), invalid)
        }
    };
    Trial {
        block,
        position: observed.position,
        state,
        reason,
        metrics,
    }
}

fn invalid(reason: Reason) -> (TrialState, Option<TrialReason>) {
    (TrialState::Invalid, Some(TrialReason::Doubt(reason)))
}

/// CPU time per request of each container.
fn by_container(trials: &[Trial], shown: TrialState) -> BTreeMap<String, Spread> {
    let shown = || trials.iter().filter(move |trial| trial.state == shown);
    let names = shown().flat_map(|trial| trial.metrics.containers_cpu.keys());
    let names: BTreeSet<&String> = names.collect();
    let spread = |name: &String| {
        let values = shown().filter_map(|trial| trial.metrics.containers_cpu.get(name).copied());
        let spread = Spread::from_values(values)?;
        Some((name.clone(), spread.map(round_number)))
    };
    names.into_iter().filter_map(spread).collect()
}

fn summarise(sweep: Sweep, connections: u32, trials: Vec<Trial>) -> LoadDetail {
    // A point without a valid trial is never ranked, but its measurements are still shown.
    let shown = if valid(&trials).next().is_some() {
        TrialState::Valid
    } else {
        TrialState::Invalid
    };
    let spread = |number: fn(&Metrics) -> Option<f64>| {
        let shown = trials.iter().filter(|trial| trial.state == shown);
        Spread::from_values(shown.filter_map(|trial| number(&trial.metrics)))
            .map(|spread| spread.map(round_number))
    };
    let fewest_requests = valid(&trials).map(|trial| trial.metrics.requests).min();
    LoadDetail {
        sweep,
        connections,
        rate: None,
        errors: trials.iter().map(|trial| trial.metrics.errors).sum(),
        errors_by_status: fortio::added(trials.iter().map(|t| &t.metrics.failed_by_status)),
        max_error_share: None,
        fewest_requests,
        p99_carried: fewest_requests.is_some_and(|requests| carries(requests, 100)),
        rps: spread(|m| m.rps),
        p50_microseconds: spread(|m| m.p50),
        p90_microseconds: spread(|m| m.p90),
        p99_microseconds: spread(|m| m.p99),
        p999_microseconds: tail::p999(&trials),
        cpu_microseconds_per_request: spread(|m| m.cpu),
        log_cpu_microseconds_per_request: spread(|m| m.log_cpu).filter(|log| log.median > 0.0),
        containers_cpu_microseconds_per_request: by_container(&trials, shown),
        companions_cpu_microseconds_per_request: spread(|m| m.companions_cpu),
        cpus_used: spread(|m| m.cpus),
        memory_bytes: spread(|m| m.memory.map(|bytes| bytes as f64)),
        additional: additional(&trials, shown),
        open_loop: open_loop::summary(&trials, shown),
        generator_ceiling_rps: None,
        generator_cpu_share_max: extremes(&trials, |m| m.generator_cpu_share).map(|(_, max)| max),
        others_cpu_share_max: extremes(&trials, |m| m.noise.others).map(|(_, max)| max),
        steal_share_max: extremes(&trials, |m| m.noise.stolen).map(|(_, max)| max),
        connections_busy: spread(|m| m.connections_busy).map(|spread| spread.median),
        traffic: traffic(&trials, shown),
        parts: mix::parts(&trials, shown),
        overrun: None,
        throttled_periods: trials
            .iter()
            .filter_map(|t| t.metrics.throttled_periods)
            .reduce(u64::saturating_add),
        throttled_share: spread(|m| m.throttled_share).map(|spread| spread.median),
        trials,
    }
}

/// Medians of the measures that are compared because the run names them.
fn additional(trials: &[Trial], shown: TrialState) -> BTreeMap<Metric, Spread> {
    let shown = trials.iter().filter(|trial| trial.state == shown);
    let mut numbers: BTreeMap<Metric, Vec<f64>> = BTreeMap::new();
    for (metric, number) in shown.flat_map(|trial| &trial.metrics.additional) {
        numbers.entry(*metric).or_default().push(*number);
    }
    let spreads = numbers.into_iter().filter_map(|(metric, numbers)| {
        let spread = Spread::from_values(numbers)?;
        Some((metric, spread.map(round_number)))
    });
    spreads.collect()
}

/// What the generator saw in the trials of a point; `None` if nothing is known, as without one.
fn traffic(trials: &[Trial], shown: TrialState) -> Option<TrafficSummary> {
    let all = trials.iter().map(|trial| &trial.metrics.traffic);
    let sum = Traffic::joined(all);
    let per_connection = trials
        .iter()
        .filter(|trial| trial.state == shown)
        .filter_map(|trial| trial.metrics.traffic.requests_per_connection);
    let found = TrafficSummary {
        failed_by_kind: sum.failed_by_kind,
        requests_per_connection: Spread::from_values(per_connection)
            .map(|spread| spread.map(round_number)),
        resent: (sum.resent > 0).then_some(sum.resent),
        answer_bytes: sum.answer_bytes,
        answer_bytes_before: trials
            .iter()
            .find_map(|trial| trial.metrics.other_bytes_before),
    };
    (found != TrafficSummary::default()).then_some(found)
}

/// From this factor on, a window is not the one that was requested: its rate contains a stall. It
/// is longer than requested anyway by the last answer of each connection.
const OVERRUN: f64 = 1.5;

/// How much longer than requested the longest window was.
fn overrun(trials: &[Trial]) -> Option<f64> {
    let (_, factor) = extremes(trials, |metrics| metrics.relative_length)?;
    (factor >= OVERRUN).then(|| round_number(factor))
}

/// The smallest and the largest number among the valid trials.
pub fn extremes(trials: &[Trial], number: fn(&Metrics) -> Option<f64>) -> Option<(f64, f64)> {
    let numbers = valid(trials).filter_map(|trial| number(&trial.metrics));
    numbers.fold(None, |found: Option<(f64, f64)>, number| {
        let (min, max) = found.unwrap_or((number, number));
        Some((min.min(number), max.max(number)))
    })
}
