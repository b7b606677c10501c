//! The ways to execute the service: presets, users' own containers, and objects that are there already.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::engine::Engine;
use crate::run::resources::SubjectResources;
use crate::run::scale::ScaleTarget;
use crate::run::service::{Ready, Scheme, default_port};
use crate::validation;

/// A way to execute the service: a preset of wasmbench, the user's own container, or an object that
/// is there already.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::ONE_SERVICE_RULE).message(validation::ONE_SERVICE_MESSAGE),
    validation = Rule::new(validation::SCALE_RESOURCES_RULE).message(validation::SCALE_RESOURCES_MESSAGE).field_path(".resources"),
    validation = Rule::new(validation::ENGINE_RULE).message(validation::ENGINE_MESSAGE).field_path(".engine"),
    validation = Rule::new(validation::UNSAFE_RULE).message(validation::UNSAFE_MESSAGE).field_path(".name")
)]
pub struct Variant {
    /// Name in results and labels: lower-case letters, digits and dashes, at most 40.
    #[schemars(
        length(min = 1, max = 40),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    #[x_kube(validation = Rule::new(validation::TWIN_RULE).message(validation::TWIN_MESSAGE))]
    pub name: String,

    /// One of the variants that wasmbench provides.
    pub preset: Option<Preset>,

    /// Settings of the Wasm engine, for presets that offer a choice.
    pub engine: Option<Engine>,

    /// The user's own service.
    pub container: Option<OwnContainer>,

    /// An object of the run's namespace that has a scale, such as a Deployment with Secrets,
    /// volumes and sidecars. Only where the administrator allows it (`scale.namespaces` in the
    /// chart).
    pub scale: Option<ScaleTarget>,

    /// Requests and limits of this variant's subjects, where limits are what the run compares: `1`
    /// CPU and `2`, say. CPU and memory are the run's (`spec.resources`) unless named here. A limit
    /// without a request is requested, too.
    pub resources: Option<SubjectResources>,
}

/// A variant that wasmbench provides; docs/variants.md says what each one measures.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::IntoStaticStr,
    strum::EnumIter,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Preset {
    /// The gateway as a static binary under the node's default runtime (runc).
    Native,
    /// The same on the node's network instead of its own: as close to a bare process as a pod can
    /// be. Only where the administrator allows it (`hostNetwork.enabled` in the chart).
    NativeHostNetwork,
    /// The same gateway with each answer passed through a Wasm module in-process: a fresh instance
    /// per request, compiled when the image is built or at startup (`engine.compile`).
    WasmtimeEmbedded,
    /// The same gateway with each answer passed through the same module in its own process:
    /// `wasmtime run` of precompiled code, standard input to standard output.
    WasmtimeCli,
    /// The same with `wasmedge`: precompiled or interpreted (`engine.compile`).
    WasmedgeCli,
    /// The gateway itself compiled to a WASI 0.2 component, in a pod of the `RuntimeClass` of the
    /// wasmtime shim.
    WasmtimeShim,
    /// The workloads as a `wasi:http` component under the same shim, which itself reads requests
    /// and sends answers: one instance per request.
    WasmtimeShimHttp,
    /// The gateway itself compiled to WASI 0.1 with WasmEdge's sockets, in a pod of the
    /// `RuntimeClass` of the WasmEdge shim: precompiled or interpreted (`engine.compile`).
    WasmedgeShim,
    /// The module of `wasmedge-shim` run by the program `wasmedge` as a server, under the node's
    /// default runtime: precompiled or interpreted (`engine.compile`).
    WasmedgeServer,
    /// The component of `wasmtime-shim-http` under `wasmtime serve`, the server of wasmtime's own
    /// command line, in a pod of the node's default runtime: compiled at startup, or precompiled
    /// (`engine.compile`).
    WasmtimeServe,
    /// The gateway of `wasmtime-cli` with V8: one Node.js process per answer, which compiles the
    /// module itself.
    V8,
    /// The gateway of `wasmtime-cli` with Wasmer's library in a command line of our own:
    /// precompiled, or compiled by each process (`engine.compile`).
    WasmerCli,
    /// The component of `wasmtime-shim-http` on a wasmCloud 1.x host with its HTTP server and its
    /// own NATS server, in a pod of the node's default runtime: compiled at startup.
    Wasmcloud,
    /// A function of OpenWhisk's action protocol in its own pod under the node's default runtime: a
    /// proxy that starts the function's program for each call.
    ActionNative,
    /// The same function as a Wasm module, one of many in a process with Wasmtime: a fresh instance
    /// per call.
    ActionWasmtime,
    /// The same with wasmi, an interpreter.
    ActionWasmi,
    /// The same with Wasmer.
    ActionWasmer,
    /// The same interpreted by WAMR.
    ActionWamr,
    /// Numerical kernels in C, compiled by GCC to a native program.
    KernelGcc,
    /// The same source compiled by Clang.
    KernelClang,
    /// The same source as Wasm modules in Wasmtime: an instance for each call.
    KernelWasmtime,
    /// The same modules translated to C by wasm2c, and compiled by GCC.
    KernelWasm2cGcc,
    /// The same compiled by Clang.
    KernelWasm2cClang,
    /// The same modules in V8.
    KernelV8,
    /// The same modules in Wasmer.
    KernelWasmer,
    /// The same modules in the interpreter wasm3.
    KernelWasm3,
    /// The same modules in WAMR's interpreter.
    KernelWamr,
}

/// The largest number of a user that Kubernetes takes.
const LAST_USER: i64 = 2_147_483_647;

/// A user's own container. The list of fields is closed on purpose: the right to create a run must
/// not grant more than that.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OwnContainer {
    /// Image, pulled if the node does not have it. Name it by digest to be able to repeat the run
    /// later.
    #[schemars(
        length(min = 1, max = 512),
        regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$")
    )]
    #[x_kube(validation = Rule::new(validation::IMAGE_RULE).message(validation::IMAGE_MESSAGE))]
    pub image: String,

    /// Program and first arguments that run instead of the image's entrypoint, taken literally.
    /// Default: the image's entrypoint, which some images do not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 1024)), extend("x-kubernetes-list-type" = "atomic"))]
    pub command: Vec<String>,

    /// Number of the user that the service runs as, not 0 (root). For images whose user is root or
    /// a name, which the kubelet does not look up. Default: the image's user.
    #[schemars(range(min = 1, max = LAST_USER))]
    #[x_kube(validation = Rule::new(validation::USER_RULE).message(validation::USER_MESSAGE))]
    pub run_as_user: Option<i64>,

    /// Number of the group that the service runs as, not 0. Default: the group of the image's
    /// user.
    #[schemars(range(min = 1, max = LAST_USER))]
    #[x_kube(validation = Rule::new(validation::USER_RULE).message(validation::GROUP_MESSAGE))]
    pub run_as_group: Option<i64>,

    /// Arguments of the image's entrypoint, or of `command`. Default: those of the image, unless
    /// `command` is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 1024)), extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Vec<String>,

    /// Environment variables. Names that begin with `WASMBENCH_` are reserved for the operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub env: Vec<EnvVar>,

    /// Port on which the service listens for HTTP.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,

    /// How the service is spoken to: `HTTP`, or `HTTPS` with whatever certificate, which is not
    /// verified. The others are here so that they are refused with a reason.
    #[serde(default, skip_serializing_if = "Scheme::is_http")]
    #[x_kube(validation = Rule::new(validation::SCHEME_RULE).message(validation::SCHEME_MESSAGE))]
    pub scheme: Scheme,

    /// `RuntimeClass` that runs the pod, e.g. `wasmtime`. Default: the node's default runtime.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    )]
    pub runtime_class_name: Option<String>,

    /// Part of the log line with which the service reports that it is listening: the time stamp of
    /// the first such line ends the step `listening` of a cold start. Default: the first line of
    /// the log.
    #[schemars(length(min = 1, max = 256))]
    pub listening_line: Option<String>,

    /// A request that shows that the service is ready, instead of the workload's own. For a service
    /// that takes a workload's request badly before it is ready, or whose requests change something:
    /// until then, no workload is sent.
    pub ready: Option<Ready>,
}

/// An environment variable with a literal value.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct EnvVar {
    /// Name of the variable: letters, digits, `_`, `-` and `.`, not beginning with a digit.
    #[schemars(
        length(min = 1, max = 128),
        regex(pattern = r"^([-_a-zA-Z]|[.][-_a-zA-Z0-9])[-._a-zA-Z0-9]*$")
    )]
    #[x_kube(validation = Rule::new(validation::ENV_RULE).message(validation::ENV_MESSAGE))]
    pub name: String,

    /// Its value, taken literally: `$(...)` is not expanded.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    pub value: String,
}
