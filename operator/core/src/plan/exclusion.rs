//! What is not worth trying again. A variant whose image does not exist would otherwise cost a
//! timeout in every block; it is recorded as skipped instead, so that every trial has a record and
//! the rest of the run goes on.

use std::collections::BTreeMap;

use wasmbench_api::open_loop::OpenLoop;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::{Point, TrialId};

use crate::observed::Observed;
use crate::plan::comparable;
use crate::plan::incomparable::{Incomparable, incomparable};
use crate::plan::rate::without_peak;
use crate::scope::{Scope, scope};
use crate::validate::ValidatedRun;

/// After this many strikes of a variant under a workload, and no successful trial, the rest are
/// skipped: a single failure may be chance.
const STRIKES: usize = 2;

/// Trials that will not be tried, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// What is left out, for people: `variant shim` or `variant shim under workload hello`.
    pub what: String,
    /// The trials, at least one.
    pub trials: Vec<TrialId>,
    /// Why.
    pub failure: Failure,
}

/// The next group of trials to skip, if any.
pub fn next(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    not_allowed(run, observed)
        .or_else(|| cold_starts_forbidden(run, observed))
        .or_else(|| records_full(run, observed))
        .or_else(|| missing_runtime_class(run, observed))
        .or_else(|| not_offered(run, observed))
        .or_else(|| by_scout(run, observed))
        .or_else(|| by_scope(run, observed, Scope::Run))
        .or_else(|| by_scope(run, observed, Scope::Upstream))
        .or_else(|| by_scope(run, observed, Scope::Variant))
        .or_else(|| without_rate(run, observed))
        .or_else(|| by_strikes(run, observed))
        .or_else(|| nothing_to_compare(run, observed))
}

fn not_allowed(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    run.variants.iter().find_map(|variant| {
        let failure = Failure::new(FailureReason::NotAllowed, variant.subject.not_allowed?);
        whole_variant(run, observed, &variant.name, failure)
    })
}

fn cold_starts_forbidden(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    let all = observed.forbidden.pods;
    if !all && !observed.forbidden.scales {
        return None;
    }
    let (what, lists) = if all {
        ("cold starts and density", "coldStart.namespaces")
    } else {
        (
            "cold starts and density of scaled objects",
            "both coldStart.namespaces and scale.namespaces",
        )
    };
    let message = format!(
        "{what} are not allowed in the namespace {}: an administrator adds it to {lists} of the chart, or remove these \
         sweeps",
        run.namespace
    );
    let failure = Failure::new(FailureReason::NotAllowed, message);
    exclusion(run, observed, what.to_owned(), failure, |trial| {
        let variant = run.variant(trial);
        let is_meant = all || variant.is_some_and(|variant| variant.subject.target.is_some());
        is_meant && trial.cell.point.probe_creates_pods()
    })
}

fn records_full(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    if !observed.records_full {
        return None;
    }
    let message = "the records of the run take as much as the administrator's limits.recordMebibytes allows: \
                   make several runs of it, with fewer blocks or samples each";
    let failure = Failure::new(FailureReason::RecordsFull, message);
    exclusion(
        run,
        observed,
        "the rest of the run".to_owned(),
        failure,
        |_| true,
    )
}

fn missing_runtime_class(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    run.variants.iter().find_map(|variant| {
        let class = variant.subject.runtime_class.as_ref()?;
        if observed.runtime_classes.contains(class) {
            return None;
        }
        let message = format!(
            "there is no RuntimeClass '{class}': install the shim and its RuntimeClass, or change \
             runtimeClassName"
        );
        let failure = Failure::new(FailureReason::RuntimeClassNotFound, message);
        whole_variant(run, observed, &variant.name, failure)
    })
}

/// What a variant scales must be its owner's offer, until the run has scaled it up.
fn not_offered(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    let noted = observed.scaled().map(|(scaled, _)| &scaled.target);
    run.variants.iter().find_map(|variant| {
        let target = variant.subject.target.as_ref()?;
        let found = observed
            .targets
            .get(target)
            .filter(|_| noted != Some(target))?;
        let why = found.not_offered(target, &run.namespace)?;
        let failure = Failure::new(FailureReason::NotOffered, why);
        whole_variant(run, observed, &variant.name, failure)
    })
}

fn by_scout(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    incomparable(run, observed).into_iter().find_map(|found| {
        let Incomparable {
            variant,
            workload,
            failure,
        } = found;
        let what = format!("variant {variant} under workload {workload}");
        exclusion(run, observed, what, failure, |trial| {
            !trial.is_scout()
                && (&*trial.cell.variant, &*trial.cell.workload) == (variant, workload)
        })
    })
}

/// The rest of a run that is to stop where nothing can be compared any more.
fn nothing_to_compare(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    if !run.spec.stop_without_comparison {
        return None;
    }
    let message = format!(
        "{}, and spec.stopWithoutComparison ends the run there: remove the cause, and start it again",
        comparable::obstacle(run, observed)?
    );
    let failure = Failure::new(FailureReason::NothingToCompare, message);
    let what = "the rest of the run".to_owned();
    exclusion(run, observed, what, failure, |_| true)
}

fn without_rate(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    without_peak(run, observed)
        .into_iter()
        .find_map(|(workload, failure)| {
            let what = format!("open loop under workload {workload}");
            exclusion(run, observed, what, failure, |trial| {
                follows_from_peak(run, trial.cell.point) && trial.cell.workload == workload
            })
        })
}

/// Whether the rates of a point follow from the baseline's peak.
fn follows_from_peak(run: &ValidatedRun, point: Point) -> bool {
    if point == Point::Capacity {
        let sweep = run.spec.sweeps.open_loop.as_ref();
        return sweep.is_some_and(OpenLoop::needs_peak);
    }
    point.rate().and_then(Rate::percent_of_peak).is_some()
}

fn whole_variant(
    run: &ValidatedRun,
    observed: &Observed,
    variant: &str,
    failure: Failure,
) -> Option<Exclusion> {
    let belongs = |trial: &TrialId| trial.cell.variant == variant;
    exclusion(
        run,
        observed,
        format!("variant {variant}"),
        failure,
        belongs,
    )
}

fn by_scope(run: &ValidatedRun, observed: &Observed, wanted: Scope) -> Option<Exclusion> {
    failed(run, observed)
        .filter(|(_, reason)| scope(reason) == wanted)
        .filter(|(trial, reason)| !is_passing(run, observed, trial, reason))
        .find_map(|(trial, reason)| {
            let variant = &trial.cell.variant;
            let what = match wanted {
                Scope::Run => "the rest of the run".to_owned(),
                Scope::Upstream => "what needs the echo server".to_owned(),
                Scope::Variant | Scope::Trial => format!("variant {variant}"),
            };
            let failure = because(trial, reason);
            exclusion(run, observed, what, failure, |other| match wanted {
                Scope::Run => true,
                Scope::Upstream => run.has_upstream(other),
                Scope::Variant | Scope::Trial => other.cell.variant == *variant,
            })
        })
}

/// Whether only one pod of a variant that was measured is meant: somebody who debugs or resizes a
/// pod changes that pod, while a policy changes all.
fn is_passing(
    run: &ValidatedRun,
    observed: &Observed,
    trial: &TrialId,
    reason: &FailureReason,
) -> bool {
    *reason == FailureReason::SubjectAltered
        && measured(run, observed, |other| {
            other.cell.variant == trial.cell.variant
        })
}

fn by_strikes(run: &ValidatedRun, observed: &Observed) -> Option<Exclusion> {
    let mut strikes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    // A scout may be chance, too, and is about all workloads.
    for (trial, reason) in failed(run, observed).filter(|(trial, _)| !trial.is_scout()) {
        let key = (trial.cell.variant.as_str(), trial.cell.workload.as_str());
        let is_its = |other: &TrialId| (&*other.cell.variant, &*other.cell.workload) == key;
        if measured(run, observed, is_its) {
            continue;
        }
        let count = strikes.entry(key).or_default();
        *count += weight(trial, reason);
        if *count >= STRIKES {
            let what = format!("variant {} under workload {}", key.0, key.1);
            let failure = because(trial, reason);
            let found = exclusion(run, observed, what, failure, is_its);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// How many strikes a failed trial counts as. An answer that stays wrong or too large for the whole ready
/// timeout, or TLS that only one side speaks, is no chance, and would cost that timeout again. Cold starts
/// and density have timeouts of their own, which may be too short for a service that the loads wait for.
fn weight(trial: &TrialId, reason: &FailureReason) -> usize {
    let waited_out = matches!(
        reason,
        FailureReason::WrongAnswer | FailureReason::AnswerTooLarge | FailureReason::TlsMismatch
    );
    if waited_out && !trial.cell.point.probe_creates_pods() {
        STRIKES
    } else {
        1
    }
}

fn failed<'a>(
    run: &'a ValidatedRun,
    observed: &'a Observed,
) -> impl Iterator<Item = (&'a TrialId, &'a FailureReason)> {
    run.planned(observed.blocks)
        .iter()
        .filter_map(|trial| match observed.records.get(trial) {
            Some(Ended::Failed(reason)) => Some((trial, reason)),
            Some(Ended::Measured | Ended::Skipped(_)) | None => None,
        })
}

fn measured(run: &ValidatedRun, observed: &Observed, belongs: impl Fn(&TrialId) -> bool) -> bool {
    run.planned(observed.blocks).iter().any(|trial| {
        !trial.is_scout() && belongs(trial) && observed.records.get(trial) == Some(&Ended::Measured)
    })
}

fn because(trial: &TrialId, reason: &FailureReason) -> Failure {
    let message = format!("trial {trial} failed before: see its record");
    Failure::new(reason.clone(), message)
}

fn exclusion(
    run: &ValidatedRun,
    observed: &Observed,
    what: String,
    failure: Failure,
    belongs: impl Fn(&TrialId) -> bool,
) -> Option<Exclusion> {
    let open = |trial: &&TrialId| belongs(trial) && !observed.records.contains_key(*trial);
    let trials: Vec<TrialId> = run
        .planned(observed.blocks)
        .iter()
        .filter(open)
        .cloned()
        .collect();
    (!trials.is_empty()).then_some(Exclusion {
        what,
        trials,
        failure,
    })
}
