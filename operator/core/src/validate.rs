//! A run as written -> a run as meant. The rules of the CRD that a plan rests on are checked again,
//! because a CRD may be older than the operator; the administrator's limits are checked here for the
//! first time.

mod cold_start;
mod density;
mod duet;
mod expectations;
mod objects;
mod open_loop;

use std::collections::BTreeSet;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};
use wasmbench_api::BenchmarkRun;
use wasmbench_api::open_loop::OpenLoop;
use wasmbench_api::run::{
    Allocator, BenchmarkRunSpec, Compile, FEWEST_PRECISE_BLOCKS, Network, Preset, TWIN, Variant,
    Workload, share_of,
};

use crate::config::OperatorConfig;
use crate::duet::{is_duet, is_in_others};
use crate::twin;
use crate::variants::{self, SubjectSpec, not_applicable};
use crate::wire::record::{Cell, Point, TrialId};

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
    /// The spec as it is measured: with the baseline's twin, where the run has one.
    pub spec: BenchmarkRunSpec,
    /// Seed of the order.
    pub seed: i64,
    /// Name of the baseline.
    pub baseline: String,
    /// The variants in the order of the spec.
    pub variants: Vec<ValidatedVariant>,
    /// Every trial that may be measured, in the order in which they are: block by block.
    pub order: Vec<TrialId>,
}

/// A variant and what its pod runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidatedVariant {
    /// Its name.
    pub name: String,
    /// What its pod runs.
    pub subject: SubjectSpec,
}

impl ValidatedRun {
    /// The variant of a trial of this run.
    pub fn variant(&self, trial: &TrialId) -> Option<&ValidatedVariant> {
        self.variants
            .iter()
            .find(|variant| variant.name == trial.cell.variant)
    }

    /// The baseline, where the trial is a duet.
    pub fn partner(&self, trial: &TrialId) -> Option<&ValidatedVariant> {
        let mut variants = self.variants.iter();
        let baseline = variants.find(|variant| variant.name == self.baseline);
        baseline.filter(|_| is_duet(&self.spec, trial.cell.point))
    }

    /// The workload of a trial of this run.
    pub fn workload(&self, trial: &TrialId) -> Option<&Workload> {
        self.spec
            .workloads
            .iter()
            .find(|workload| workload.name == trial.cell.workload)
    }

    /// The trials of the first `blocks` blocks, and of those with which every run begins.
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

const ENGINE_MESSAGE: &str = "it is a choice of wasmtime-embedded (allocator; compile Jit or Aot), \
    wasmedge-cli, wasmedge-shim and wasmedge-server (compile Aot or Interpreter) only: correct it or remove it";

/// Checks `run` against the API's rules and the administrator's limits, and fixes the order.
pub fn validate(run: &BenchmarkRun, config: &OperatorConfig) -> Result<ValidatedRun, Invalid> {
    check_names(&run.spec)?;
    let spec = &twin::with_twin(&run.spec);
    check_network(spec, config)?;
    check_sweeps(spec, config)?;
    duet::check(spec, config)?;
    check_minimum_effect(spec)?;
    check_precision(spec)?;
    objects::check(spec)?;
    check_baseline_run(run)?;
    let variants = resolve_variants(spec, config)?;
    let baseline = baseline_of(spec)?;
    expectations::check(spec, &baseline, config)?;
    let uid = run.metadata.uid.clone().unwrap_or_default();
    let seed = spec.seed.unwrap_or_else(|| seed_of(&uid));
    let order = order_of(spec, seed);
    if order.is_empty() {
        return Err(nothing_applicable(spec));
    }
    if order.len() > config.limits.trials as usize {
        return Err(invalid(
            "spec.blocks",
            format!(
                "the run has {} trials and the administrator allows {}: lower spec.blocks or \
                 spec.precision.maxBlocks, remove variants, workloads or sweep points, or set spec.noiseFloor to false",
                order.len(),
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
    })
}

fn nothing_applicable(spec: &BenchmarkRunSpec) -> Invalid {
    let first = not_applicable::list(spec).into_iter().next();
    let why = first.map_or_else(String::new, |first| {
        format!(" ({}: {})", first.variant, first.reason)
    });
    let message = format!(
        "no variant can do any of the run's workloads and sweeps{why}: change them or the variants"
    );
    invalid("spec.variants", message)
}

/// The network of the subjects.
pub(crate) fn network_of(spec: &BenchmarkRunSpec) -> Network {
    let placement = spec.placement.as_ref();
    placement.map_or_else(Network::default, |placement| placement.network)
}

fn check_network(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> Result<(), Invalid> {
    if network_of(spec) == Network::Host && !config.host_network {
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

fn check_names(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    unique(
        "spec.variants",
        spec.variants.iter().map(|v| v.name.as_str()),
    )?;
    if spec.variants.iter().any(|v| v.name == TWIN) {
        return Err(invalid(
            "spec.variants.name",
            format!(
                "'{TWIN}' is the baseline measured a second time (spec.noiseFloor): choose another \
                 name for this variant"
            ),
        ));
    }
    unique(
        "spec.workloads",
        spec.workloads.iter().map(|w| w.name.as_str()),
    )
}

fn unique<'a>(field: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Invalid> {
    let mut seen = BTreeSet::new();
    let mut any = false;
    for name in names {
        any = true;
        if !is_dns_label(name) {
            return Err(invalid(
                format!("{field}.name"),
                format!(
                    "'{name}' is no usable name: use at most 40 lower-case letters, digits and \
                     dashes, with a letter or digit at both ends"
                ),
            ));
        }
        if !seen.insert(name) {
            return Err(invalid(
                format!("{field}.name"),
                format!("'{name}' stands twice: give each entry a name of its own"),
            ));
        }
    }
    if any {
        Ok(())
    } else {
        Err(invalid(field, "the list is empty: add at least one entry"))
    }
}

fn is_dns_label(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&name.len())
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn check_sweeps(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> Result<(), Invalid> {
    let sweeps = &spec.sweeps;
    let loads =
        sweeps.warm_latency.is_some() || sweeps.throughput.is_some() || sweeps.open_loop.is_some();
    if !loads && sweeps.cold_start.is_none() && sweeps.density.is_none() {
        return Err(invalid(
            "spec.sweeps",
            "set at least one of coldStart, warmLatency, throughput, openLoop and density",
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
    let Some(throughput) = &spec.sweeps.throughput else {
        return Ok(());
    };
    let limit = config.limits.connections;
    let (field, list) = (
        "spec.sweeps.throughput.connections",
        &throughput.connections,
    );
    if let Some(above) = list.iter().find(|c| **c > limit) {
        return Err(invalid(
            field,
            format!("{above} connections are asked for and the administrator allows {limit}"),
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
            "a number of connections stands twice: remove one",
        ));
    }
    let longest = config.limits.duration_seconds;
    if throughput.duration_seconds > longest {
        return Err(invalid(
            "spec.sweeps.throughput.durationSeconds",
            format!(
                "{} s are asked for and the administrator allows {longest} s",
                throughput.duration_seconds
            ),
        ));
    }
    Ok(())
}

fn check_baseline_run(run: &BenchmarkRun) -> Result<(), Invalid> {
    let Some(name) = &run.spec.baseline_run_name else {
        return Ok(());
    };
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b);
    let ends = !name.starts_with(['-', '.']) && !name.ends_with(['-', '.']);
    if name.is_empty() || !ends || !name.bytes().all(inner) {
        return Err(invalid(
            "spec.baselineRunName",
            format!(
                "'{name}' is not the name of a BenchmarkRun: give a name without its namespace"
            ),
        ));
    }
    if run.metadata.name.as_ref() == Some(name) {
        return Err(invalid(
            "spec.baselineRunName",
            "a run cannot be compared with itself: name an earlier run, or leave it out".to_owned(),
        ));
    }
    Ok(())
}

fn check_minimum_effect(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    let allowed = |share: f64| (0.001..=0.5).contains(&share);
    if share_of(&spec.minimum_effect).is_some_and(allowed) {
        return Ok(());
    }
    Err(invalid(
        "spec.minimumEffect",
        format!(
            "'{}' is no percentage from 0.1% to 50%: write it like 5% or 2.5%",
            spec.minimum_effect
        ),
    ))
}

fn check_precision(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    let Some(precision) = &spec.precision else {
        return Ok(());
    };
    let target = &precision.target_relative_interval;
    if !share_of(target).is_some_and(|share| (0.001..=0.5).contains(&share)) {
        let message =
            format!("'{target}' is no percentage from 0.1% to 50%: write it like 5% or 2.5%");
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

fn resolve_variants(
    spec: &BenchmarkRunSpec,
    config: &OperatorConfig,
) -> Result<Vec<ValidatedVariant>, Invalid> {
    let resolve = |(index, variant): (usize, &Variant)| {
        let field = format!("spec.variants[{index}]");
        if variant.container.is_some() && !config.limits.own_containers {
            return Err(invalid(
                format!("{field}.container"),
                "the administrator allows presets only: use preset instead",
            ));
        }
        if variant.preset.is_some() == variant.container.is_some() {
            return Err(invalid(field, "set either preset or container"));
        }
        if !engine_fits(variant) {
            return Err(invalid(format!("{field}.engine"), ENGINE_MESSAGE));
        }
        let subject = variants::subject(variant, config)
            .ok_or_else(|| invalid(field, "set either preset or container"))?;
        Ok(ValidatedVariant {
            name: variant.name.clone(),
            subject,
        })
    };
    spec.variants.iter().enumerate().map(resolve).collect()
}

/// The CRD's rule again.
fn engine_fits(variant: &Variant) -> bool {
    let Some(engine) = variant.engine else {
        return true;
    };
    match variant.preset {
        Some(Preset::WasmtimeEmbedded) => engine.compile != Some(Compile::Interpreter),
        Some(Preset::WasmtimeServe) => {
            engine.allocator == Allocator::OnDemand && engine.compile != Some(Compile::Interpreter)
        }
        Some(Preset::WasmedgeCli | Preset::WasmedgeShim | Preset::WasmedgeServer) => {
            engine.allocator == Allocator::OnDemand && engine.compile != Some(Compile::Jit)
        }
        Some(
            Preset::Native
            | Preset::NativeHostNetwork
            | Preset::WasmtimeCli
            | Preset::WasmtimeShim
            | Preset::WasmtimeShimHttp
            | Preset::V8,
        )
        | None => false,
    }
}

fn baseline_of(spec: &BenchmarkRunSpec) -> Result<String, Invalid> {
    let first = spec
        .variants
        .first()
        .map(|v| v.name.clone())
        .unwrap_or_default();
    let baseline = spec.baseline.clone().unwrap_or(first);
    if spec.variants.iter().any(|v| v.name == baseline) {
        Ok(baseline)
    } else {
        Err(invalid(
            "spec.baseline",
            format!("'{baseline}' is none of spec.variants"),
        ))
    }
}

/// The seed of a run that names none: it need not be stored, because the uid never changes.
fn seed_of(uid: &str) -> i64 {
    let digest = Sha256::digest(uid.as_bytes());
    let bytes: [u8; 4] = [digest[0], digest[1], digest[2], digest[3]];
    i64::from(u32::from_be_bytes(bytes))
}

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

/// Every cell of a block that has trials of its own, unshuffled. In a duet run the loads of the
/// baseline are in those of the others. What a variant cannot do is no cell.
pub fn cells_of(spec: &BenchmarkRunSpec) -> Vec<Cell> {
    let points = points_of(spec);
    let first = spec.variants.first().map(|variant| &variant.name);
    let baseline = spec.baseline.as_ref().or(first);
    let baseline = baseline.map(String::as_str).unwrap_or_default();
    let mut cells = vec![];
    for variant in &spec.variants {
        for workload in &spec.workloads {
            let applicable = points
                .iter()
                .filter(|point| not_applicable::reason(variant, workload, **point).is_none());
            cells.extend(applicable.map(|&point| Cell {
                variant: variant.name.clone(),
                workload: workload.name.clone(),
                point,
            }));
        }
    }
    cells.retain(|cell| !is_in_others(spec, baseline, cell));
    cells
}

/// Randomised complete blocks: every block holds every cell once, each block shuffled anew from
/// one seeded stream. Blocks that precision may add come behind and change nothing before them. `ChaCha8` gives the same order on every platform and in every version.
fn order_of(spec: &BenchmarkRunSpec, seed: i64) -> Vec<TrialId> {
    let mut random = ChaCha8Rng::seed_from_u64(seed.unsigned_abs());
    let cells = cells_of(spec);
    let block = |block| {
        let mut trials: Vec<TrialId> = cells
            .iter()
            .map(|cell| TrialId {
                cell: cell.clone(),
                block,
            })
            .collect();
        trials.shuffle(&mut random);
        trials
    };
    (1..=spec.most_blocks()).flat_map(block).collect()
}
