//! The ways to execute a service, one file each. A variant says what its pod runs; everything that
//! is the same for all of them (placement, resources, security) is in [`crate::build`].

mod action;
mod container;
pub mod engine;
mod floor;
mod native;
mod native_host_network;
pub mod not_applicable;
mod v8;
mod wasmcloud;
mod wasmedge_cli;
mod wasmedge_server;
mod wasmedge_shim;
mod wasmer_cli;
mod wasmtime_cli;
mod wasmtime_embedded;
mod wasmtime_serve;
mod wasmtime_shim;
mod wasmtime_shim_http;

use wasmbench_api::run::{Compile, Engine, EnvVar, Preset, Variant};

use crate::config::{Images, OperatorConfig};
use crate::wire::action::Instances;

pub use action::call as action_call;
pub use floor::subject as floor;

/// Port on which the presets listen.
pub const GATEWAY_PORT: u16 = 8080;
/// What every gateway prints once it listens: `wasmbench: native listening on 0.0.0.0:8080`.
const GATEWAY_LINE: &str = " listening on ";
/// The whole effect on an answer of the module through which some presets pass it.
const BODY_PREFIX: &str = "wasm:";

/// What a variant's pod runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectSpec {
    /// Image.
    pub image: String,
    /// Pull policy; `None` leaves it to Kubernetes, as for the user's own images.
    pub pull_policy: Option<String>,
    /// Arguments of the entrypoint.
    pub args: Vec<String>,
    /// Environment, besides what the operator adds.
    pub env: Vec<EnvVar>,
    /// Port of the service.
    pub port: u16,
    /// `RuntimeClass` of the pod.
    pub runtime_class: Option<String>,
    /// Whether the pod is on the node's network, regardless of the other variants.
    pub host_network: bool,
    /// Why the administrator's settings forbid it, and what to do; `None` if they allow it.
    pub not_allowed: Option<&'static str>,
    /// Prefix that the variant by definition puts before every body.
    pub body_prefix: &'static str,
    /// Part of the log line that announces that the service listens; `None`: the first line does.
    pub listening_line: Option<String>,
    /// Path at which it describes its engine; `None` for a service that claims none.
    pub engine_path: Option<&'static str>,
    /// What each further function is, if the subject is called through the action protocol.
    pub actions: Option<Instances>,
}

/// What the pod of `variant` runs; `None` when it has neither preset nor container.
pub fn subject(variant: &Variant, config: &OperatorConfig) -> Option<SubjectSpec> {
    let Some(preset) = variant.preset else {
        return variant.container.as_ref().map(container::subject);
    };
    let (images, classes) = (&config.images, &config.runtime_classes);
    let engine = variant.engine.unwrap_or_default();
    Some(match preset {
        Preset::Native => native::subject(images),
        Preset::NativeHostNetwork => native_host_network::subject(config),
        Preset::WasmtimeEmbedded => wasmtime_embedded::subject(images, engine),
        Preset::WasmtimeCli => wasmtime_cli::subject(images),
        Preset::WasmedgeCli => wasmedge_cli::subject(images, engine),
        Preset::WasmtimeShim => wasmtime_shim::subject(images, classes),
        Preset::WasmtimeShimHttp => wasmtime_shim_http::subject(images, classes),
        Preset::WasmedgeShim => wasmedge_shim::subject(images, classes, engine),
        Preset::WasmedgeServer => wasmedge_server::subject(images, engine),
        Preset::WasmtimeServe => wasmtime_serve::subject(images, engine),
        Preset::V8 => v8::subject(images),
        Preset::WasmerCli => wasmer_cli::subject(images, engine),
        Preset::Wasmcloud => wasmcloud::subject(images),
        Preset::ActionNative => action::native(images),
        Preset::ActionWasmtime => action::compiled(&images.action_wasmtime, images, engine),
        Preset::ActionWasmer => action::compiled(&images.action_wasmer, images, engine),
        Preset::ActionWasmi => action::interpreted(&images.action_wasmi, images),
    })
}

/// Tells the program in one of our images how it executes Wasm.
fn compile_env(compile: Compile) -> EnvVar {
    EnvVar {
        name: "WASMBENCH_ENGINE_COMPILE".into(),
        value: <&str>::from(compile).into(),
    }
}

/// How most presets execute Wasm: compiled ahead of time, unless the spec says otherwise.
fn compile(engine: Engine) -> Compile {
    engine.compile.unwrap_or(Compile::Aot)
}

/// A pod of one of our own images, without arguments.
fn gateway(image: &str, images: &Images) -> SubjectSpec {
    SubjectSpec {
        image: image.to_owned(),
        pull_policy: Some(images.pull_policy.clone()),
        args: vec![],
        env: vec![],
        port: GATEWAY_PORT,
        runtime_class: None,
        host_network: false,
        not_allowed: None,
        body_prefix: "",
        listening_line: Some(GATEWAY_LINE.into()),
        engine_path: Some(engine::PATH),
        actions: None,
    }
}
