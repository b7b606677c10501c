//! A run as written -> a run as meant. The rules of the CRD that a plan relies on are checked
//! again, because the CRD may be older than the operator; the administrator's limits are checked
//! here for the first time.

mod cold_start;
mod density;
mod expectations;
mod metrics;
mod names;
mod objects;
mod open_loop;
mod order;
mod payload;
mod requests;
mod scale;
mod shares;
mod variants;

use std::collections::BTreeSet;

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::{
    BenchmarkRunSpec, FEWEST_PRECISE_BLOCKS, Network, SubjectResources, TWIN, Throughput, Workload,
    share_of,
};
use wasmbench_model::twin;
use wasmbench_model::wire::record::TrialId;

use crate::config::OperatorConfig;
use crate::subject::SubjectSpec;

pub use open_loop::too_long;

/// The spec cannot be carried out; nothing was started.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{field}: {message}")]
pub struct Invalid {
    /// Path of the field, e.g. `spec.blocks`.
    pub field: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// A run that can be carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidatedRun {
    /// Name of the run.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its uid.
    pub uid: String,
    /// The spec as it is measured: with the baseline's twin, if the run has one.
    pub spec: BenchmarkRunSpec,
    /// Seed of the trial order.
    pub seed: i64,
    /// Name of the baseline.
    pub baseline: String,
    /// The variants in the order of the spec.
    pub variants: Vec<ValidatedVariant>,
    /// Every trial that may be measured, in measuring order: block by block.
    pub order: Vec<TrialId>,
    /// The longest timed window that the administrator allows, in seconds.
    pub longest_window_seconds: u32,
}

/// A variant and what its pod runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidatedVariant {
    /// Its name.
    pub name: String,
    /// What its pod runs.
    pub subject: SubjectSpec,
    /// Requests and limits of its pod.
    pub resources: SubjectResources,
}

impl ValidatedRun {
    /// The variant of a trial of this run.
    pub fn variant(&self, trial: &TrialId) -> Option<&ValidatedVariant> {
        self.variants
            .iter()
            .find(|variant| variant.name == trial.cell.variant)
    }

    /// The workload of a trial of this run; `None` for a scout, which has several.
    pub fn workload(&self, trial: &TrialId) -> Option<&Workload> {
        let mut workloads = self.spec.workloads.iter();
        workloads.find(|one| !trial.is_scout() && one.name == trial.cell.workload)
    }

    /// The workloads that a trial of this run requests.
    pub fn workloads(&self, trial: &TrialId) -> Vec<&Workload> {
        if trial.is_scout() {
            return order::workloads_of(&self.spec, &trial.cell.variant);
        }
        self.workload(trial).into_iter().collect()
    }

    /// Whether a trial of this run needs the echo server.
    pub fn has_upstream(&self, trial: &TrialId) -> bool {
        self.workloads(trial).iter().any(|one| one.upstream)
    }

    /// The trials of the first `blocks` blocks, but at least of those that every run begins with.
    pub fn planned(&self, blocks: u32) -> &[TrialId] {
        let blocks = blocks.max(self.spec.fewest_blocks());
        let end = self.order.partition_point(|trial| trial.block <= blocks);
        &self.order[..end]
    }

    /// Position of a trial in the order, counted from 0.
    pub fn position(&self, trial: &TrialId) -> Option<usize> {
        self.order.iter().position(|other| other == trial)
    }
}

/// Checks `run` by the API's rules and the administrator's limits, and fixes the order.
pub fn validate(run: &BenchmarkRun, config: &OperatorConfig) -> Result<ValidatedRun, Invalid> {
    names::check(&run.spec)?;
    let spec = &twin::with_twin(&run.spec);
    check_network(spec, config)?;
    check_sweeps(spec, config)?;
    shares::check(spec)?;
    requests::check(spec)?;
    check_precision(spec)?;
    objects::check(spec)?;
    let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
    scale::check(spec, namespace, config)?;
    names::check_baseline_run(run)?;
    let variants = variants::resolve(spec, config)?;
    let baseline = baseline_of(spec)?;
    metrics::check_listed(spec, config)?;
    expectations::check(spec, &baseline, config)?;
    let uid = run.metadata.uid.clone().unwrap_or_default();
    let seed = spec.seed.unwrap_or_else(|| order::seed_of(&uid));
    let order = order::shuffled(spec, seed);
    if order.is_empty() {
        return Err(variants::nothing_applicable(spec));
    }
    // The CRD bounds cells times blocks, too: a scout is a look beforehand.
    let trials = order.iter().filter(|trial| !trial.is_scout()).count();
    if trials > config.limits.trials as usize {
        return Err(invalid(
            "spec.blocks",
            format!(
                "the run has {trials} trials and the administrator allows {}: lower spec.blocks or \
                 spec.precision.maxBlocks, remove variants, workloads or sweep points, or set spec.noiseFloor to false",
                config.limits.trials
            ),
        ));
    }
    Ok(ValidatedRun {
        name: run.metadata.name.clone().unwrap_or_default(),
        namespace: run.metadata.namespace.clone().unwrap_or_default(),
        uid,
        spec: spec.clone(),
        seed,
        baseline,
        variants,
        order,
        longest_window_seconds: config.limits.duration_seconds,
    })
}

fn check_network(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> Result<(), Invalid> {
    if spec.network() == Network::Host && !config.host_network {
        return Err(invalid(
            "spec.placement.network",
            "the administrator does not allow the node's network: set Pod, leave it out, or have \
             hostNetwork.enabled set in the chart",
        ));
    }
    Ok(())
}

fn invalid(field: impl Into<String>, message: impl Into<String>) -> Invalid {
    Invalid {
        field: field.into(),
        message: message.into(),
    }
}

fn check_sweeps(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> Result<(), Invalid> {
    let sweeps = &spec.sweeps;
    let loads = sweeps.warm_latency.is_some()
        || sweeps.throughput.is_some()
        || sweeps.open_loop.is_some()
        || sweeps.payload.is_some();
    if !loads && sweeps.cold_start.is_none() && sweeps.density.is_none() {
        return Err(invalid(
            "spec.sweeps",
            "set at least one of coldStart, warmLatency, throughput, openLoop, payload and density",
        ));
    }
    if let Some(sweep) = &sweeps.cold_start {
        cold_start::check(spec, sweep, config)?;
    }
    if let Some(sweep) = &sweeps.density {
        density::check(spec, sweep, config)?;
    }
    if let Some(sweep) = &sweeps.open_loop {
        open_loop::check(sweep, config)?;
    }
    if let Some(sweep) = &sweeps.payload {
        payload::check(spec, sweep, config)?;
    }
    match &sweeps.throughput {
        Some(sweep) => check_throughput(sweep, config),
        None => Ok(()),
    }
}

fn check_throughput(throughput: &Throughput, config: &OperatorConfig) -> Result<(), Invalid> {
    let limit = config.limits.connections;
    let (field, list) = (
        "spec.sweeps.throughput.connections",
        &throughput.connections,
    );
    if let Some(above) = list.iter().find(|c| **c > limit) {
        return Err(invalid(
            field,
            format!("{above} connections are requested and the administrator allows {limit}"),
        ));
    }
    if list.is_empty() || list.contains(&0) {
        return Err(invalid(
            field,
            "list at least one number of connections, each 1 or more",
        ));
    }
    if list.iter().collect::<BTreeSet<_>>().len() != list.len() {
        return Err(invalid(
            field,
            "a number of connections is listed twice: remove one",
        ));
    }
    let longest = config.limits.duration_seconds;
    if throughput.duration_seconds > longest {
        return Err(invalid(
            "spec.sweeps.throughput.durationSeconds",
            format!(
                "{} s are requested and the administrator allows {longest} s",
                throughput.duration_seconds
            ),
        ));
    }
    Ok(())
}

fn check_precision(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    let Some(precision) = &spec.precision else {
        return Ok(());
    };
    let target = precision.target_relative_interval.as_deref();
    if let Some(target) = target
        && !share_of(target).is_some_and(|share| (0.001..=0.5).contains(&share))
    {
        let message =
            format!("'{target}' is not a percentage from 0.1% to 50%: write it like 5% or 2.5%");
        return Err(invalid("spec.precision.targetRelativeInterval", message));
    }
    let (most, first) = (precision.max_blocks, spec.blocks);
    if most < first || most < FEWEST_PRECISE_BLOCKS {
        let message = format!(
            "{most} blocks are fewer than {FEWEST_PRECISE_BLOCKS} or the {first} of spec.blocks: raise it"
        );
        return Err(invalid("spec.precision.maxBlocks", message));
    }
    let compared = spec.variants.iter().filter(|variant| variant.name != TWIN);
    if compared.count() < 2 {
        let message = "there is no ratio to make precise: add a second variant or remove precision";
        return Err(invalid("spec.precision", message));
    }
    Ok(())
}

fn baseline_of(spec: &BenchmarkRunSpec) -> Result<String, Invalid> {
    let baseline = spec.baseline_name().to_owned();
    if spec.variants.iter().any(|v| v.name == baseline) {
        Ok(baseline)
    } else {
        Err(invalid(
            "spec.baseline",
            format!("'{baseline}' is not one of spec.variants"),
        ))
    }
}
