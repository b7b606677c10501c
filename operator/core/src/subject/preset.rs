//! The pod of a preset, by its row.

use wasmbench_api::run::{Engine, EnvVar};
use wasmbench_model::variants::presets::{Definition, Mode, Serves};

use crate::config::OperatorConfig;
use crate::subject::spec::{SubjectSpec, gateway};

/// Read by the program in one of our images: how it executes Wasm.
const COMPILE_ENV: &str = "WASMBENCH_ENGINE_COMPILE";
/// Read by the gateway when it builds its engine.
const ALLOCATOR_ENV: &str = "WASMBENCH_ENGINE_ALLOCATOR";
/// Read by the server of kernels: how modules are kept within their memory.
const BOUNDS_CHECKS_ENV: &str = "WASMBENCH_ENGINE_BOUNDS_CHECKS";
/// Read by the server of kernels: how many calls are executed at once.
const THREADS_ENV: &str = "WASMBENCH_ENGINE_THREADS";
/// Why a preset on the node's network is skipped, and what to do.
const NOT_ALLOWED: &str = "the administrator does not allow the node's network: have hostNetwork.enabled \
    set in the chart, or remove this variant";

/// What the pod of a preset runs.
pub(super) fn subject(
    preset: &'static Definition,
    settings: Engine,
    config: &OperatorConfig,
) -> SubjectSpec {
    let class = preset.runtime_class;
    let is_forbidden = preset.host_network && !config.host_network;
    SubjectSpec {
        args: preset.arguments.clone(),
        env: env(preset, settings),
        runtime_class: class.map(|shim| config.runtime_classes.name(shim).to_owned()),
        host_network: preset.host_network,
        not_allowed: is_forbidden.then_some(NOT_ALLOWED),
        body_prefix: &preset.body_prefix,
        listening_line: Some(preset.listening_line.clone()),
        actions: preset.actions,
        counts_instances: preset.serves == Serves::Kernels,
        ..gateway(preset.image(preset.mode(settings)), &config.images)
    }
}

/// The settings as variables for the program in the image. Under a shim, the choice of image
/// expresses them instead.
fn env(preset: &Definition, settings: Engine) -> Vec<EnvVar> {
    let variable = |name: &str, value: &str| EnvVar {
        name: name.into(),
        value: value.into(),
    };
    let is_choice = matches!(preset.mode, Mode::Choice(_)) && preset.runtime_class.is_none();
    let allocator = preset
        .has_allocator
        .then(|| variable(ALLOCATOR_ENV, settings.allocator.into()));
    let mode = preset
        .mode(settings)
        .filter(|_| is_choice)
        .map(|mode| variable(COMPILE_ENV, mode.into()));
    let checks = preset
        .bounds_checks(settings)
        .map(|checks| variable(BOUNDS_CHECKS_ENV, checks.into()));
    let threads = preset
        .threads(settings)
        .map(|threads| variable(THREADS_ENV, &threads.to_string()));
    let all = [allocator, mode, checks, threads];
    all.into_iter().flatten().collect()
}
