//! What a cold-start sweep may request: the CRD's rules again, the administrator's limits, and what
//! fits into a probe's request.

use std::collections::BTreeSet;

use wasmbench_api::cold_start::{ColdStart, ColdStartClass};
use wasmbench_api::run::{BenchmarkRunSpec, Network, SCALED_STARTS_MESSAGE};

use crate::config::{Limits, OperatorConfig};
use crate::subject;
use crate::validate::{Invalid, invalid};

/// Most pods of one trial, as in the CRD.
const MAX_PODS: u32 = 1000;
/// Most bytes of a container's arguments and environment as JSON. The probe receives the whole pod
/// in one environment variable, which Linux limits to 128 KiB; escaping may double its size.
const MAX_CONTAINER_BYTES: usize = 48 * 1024;

/// `localhost` without a port is not a registry: images that exist only on a node are named that
/// way.
const LOCAL: &str = "localhost/";

const CONCURRENCY: &str = "spec.sweeps.coldStart.concurrency";

pub(super) fn check(
    spec: &BenchmarkRunSpec,
    sweep: &ColdStart,
    config: &OperatorConfig,
) -> Result<(), Invalid> {
    class(sweep, config)?;
    scaled(spec, sweep)?;
    actions(spec, sweep)?;
    pullable(spec, sweep, config)?;
    concurrency(sweep, &config.limits)?;
    host_ports(spec, sweep)?;
    sizes(spec)
}

/// Checks what a class requires of the probe.
fn class(sweep: &ColdStart, config: &OperatorConfig) -> Result<(), Invalid> {
    let refused = |message| Err(invalid("spec.sweeps.coldStart.class", message));
    match sweep.class {
        ColdStartClass::CompileCached if config.containerd_socket.is_none() => refused(
            "CompileCached needs probes that see containerd's content, and the administrator does not allow \
             it: set ImageCached, or have meter.level set to node in the chart",
        ),
        ColdStartClass::NodeCold if config.containerd_socket.is_none() => refused(
            "NodeCold needs probes that remove images from the node, and the administrator does not allow it: set \
             ImageCached, or have meter.level set to node in the chart",
        ),
        ColdStartClass::NodeCold
        | ColdStartClass::ImageCached
        | ColdStartClass::CompileCached
        | ColdStartClass::Scaled => Ok(()),
    }
}

/// The CRD's rule again: starts of pods that somebody else makes are not compared with others.
fn scaled(spec: &BenchmarkRunSpec, sweep: &ColdStart) -> Result<(), Invalid> {
    let is_class = sweep.class == ColdStartClass::Scaled;
    let mut variants = spec.variants.iter();
    if variants.all(|variant| variant.scale.is_some() == is_class) {
        return Ok(());
    }
    Err(invalid(
        "spec.sweeps.coldStart.class",
        SCALED_STARTS_MESSAGE,
    ))
}

/// What the node has of an image does not matter for a function that is sent.
fn actions(spec: &BenchmarkRunSpec, sweep: &ColdStart) -> Result<(), Invalid> {
    let has_action = spec
        .workloads
        .iter()
        .any(|workload| workload.action.is_some());
    if has_action && sweep.class != ColdStartClass::ImageCached {
        return Err(invalid(
            "spec.sweeps.coldStart.class",
            "the code of an action is sent, and not pulled: set ImageCached, and engine.compile of the variant for whether \
             each start compiles",
        ));
    }
    Ok(())
}

/// An image that every sample pulls must have a registry. Whether the registry responds shows only
/// when pulling.
fn pullable(
    spec: &BenchmarkRunSpec,
    sweep: &ColdStart,
    config: &OperatorConfig,
) -> Result<(), Invalid> {
    if sweep.class != ColdStartClass::NodeCold {
        return Ok(());
    }
    for (index, variant) in spec.variants.iter().enumerate() {
        let Some(subject) = subject::subject(variant, config) else {
            continue;
        };
        let field = match variant.container {
            Some(_) => format!("spec.variants[{index}].container.image"),
            None => format!("spec.variants[{index}].preset"),
        };
        let remedy = match variant.container {
            Some(_) => {
                "name an image of a registry, or set spec.sweeps.coldStart.class to ImageCached"
            }
            None => {
                "have image.registry and image.pullPolicy set in the chart, name an image of a registry by \
                 container, or set spec.sweeps.coldStart.class to ImageCached"
            }
        };
        let image = &subject.image;
        if image.starts_with(LOCAL) {
            let message = format!(
                "NodeCold pulls the image in every sample, and {image} has no registry to be pulled from: {remedy}"
            );
            return Err(invalid(field, message));
        }
        if subject.pull_policy.as_deref() == Some("Never") {
            let message = format!(
                "NodeCold pulls the image in every sample, and the chart's image.pullPolicy is Never: {remedy}"
            );
            return Err(invalid(field, message));
        }
    }
    Ok(())
}

/// Pods on the node's network cannot listen on the same port.
fn host_ports(spec: &BenchmarkRunSpec, sweep: &ColdStart) -> Result<(), Invalid> {
    if spec.network() == Network::Host && sweep.concurrency.iter().any(|pods| *pods > 1) {
        return Err(invalid(
            CONCURRENCY,
            "with spec.placement.network Host all pods share the node's ports: set concurrency to [1], \
             or network to Pod",
        ));
    }
    Ok(())
}

fn concurrency(sweep: &ColdStart, limits: &Limits) -> Result<(), Invalid> {
    let list = &sweep.concurrency;
    let limit = limits.cold_start_concurrency;
    // The chart's policy on scales has one bound for all probes.
    let limit = match sweep.class {
        ColdStartClass::Scaled => limit.min(limits.density_instances),
        ColdStartClass::ImageCached | ColdStartClass::CompileCached | ColdStartClass::NodeCold => {
            limit
        }
    };
    if list.is_empty() || list.contains(&0) {
        return Err(invalid(
            CONCURRENCY,
            "list at least one number of pods, each 1 or more",
        ));
    }
    if list.iter().collect::<BTreeSet<_>>().len() != list.len() {
        return Err(invalid(
            CONCURRENCY,
            "a number of pods is listed twice: remove one",
        ));
    }
    if let Some(above) = list.iter().find(|pods| **pods > limit) {
        return Err(invalid(
            CONCURRENCY,
            format!(
                "{above} pods at once are requested and the administrator allows {limit}: lower it"
            ),
        ));
    }
    let most = list.iter().map(|pods| pods.saturating_mul(sweep.samples));
    if sweep.samples == 0 || most.max().is_some_and(|pods| pods > MAX_PODS) {
        return Err(invalid(
            "spec.sweeps.coldStart.samples",
            format!(
                "samples x concurrency must be 1 to {MAX_PODS} pods per trial: lower samples or \
                 concurrency"
            ),
        ));
    }
    Ok(())
}

pub(super) fn sizes(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    for (index, variant) in spec.variants.iter().enumerate() {
        let Some(own) = &variant.container else {
            continue;
        };
        let bytes =
            serde_json::to_vec(&(&own.args, &own.env)).map_or(usize::MAX, |json| json.len());
        if bytes > MAX_CONTAINER_BYTES {
            return Err(invalid(
                format!("spec.variants[{index}].container"),
                format!(
                    "args and env take {bytes} bytes and a cold start has room for \
                     {MAX_CONTAINER_BYTES}: shorten them, or leave out spec.sweeps.coldStart and density"
                ),
            ));
        }
    }
    Ok(())
}
