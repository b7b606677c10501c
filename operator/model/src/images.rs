//! The images that the chart installs, and the names of the `RuntimeClasses` that some of them need.

use serde::{Deserialize, Serialize};

/// Images by role.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Images {
    /// `wasmbench-probe` and the load generator.
    pub probe: String,
    /// Preset `native`.
    pub native: String,
    /// Preset `wasmtime-embedded`.
    pub embedded: String,
    /// Preset `wasmtime-cli`.
    pub wasmtime_cli: String,
    /// Presets `wasmedge-cli` and `wasmedge-server`.
    pub wasmedge_cli: String,
    /// Preset `wasmtime-serve`.
    pub wasmtime_serve: String,
    /// Preset `v8`.
    pub v8: String,
    /// Preset `wasmer-cli`.
    pub wasmer_cli: String,
    /// Preset `wasmcloud`.
    pub wasmcloud: String,
    /// Preset `action-native`.
    pub action_native: String,
    /// Preset `action-wasmtime`.
    pub action_wasmtime: String,
    /// Preset `action-wasmi`.
    pub action_wasmi: String,
    /// Preset `action-wasmer`.
    pub action_wasmer: String,
    /// The gateway as a WASI 0.2 component: preset `wasmtime-shim`.
    pub server: String,
    /// The workloads as a `wasi:http` component: preset `wasmtime-shim-http`.
    pub http: String,
    /// The gateway for WASI 0.1 and WasmEdge's sockets: preset `wasmedge-shim`, interpreted.
    pub server_wasmedge: String,
    /// The same with code that WasmEdge has compiled ahead of time.
    pub server_wasmedge_aot: String,
    /// The echo server behind the proxy workload.
    pub upstream: String,
    /// Pull policy of all these images.
    #[serde(default = "if_not_present")]
    pub pull_policy: String,
}

/// Names of the `RuntimeClasses`, by shim. The administrator chooses them.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RuntimeClasses {
    /// `RuntimeClass` of the wasmtime shim.
    pub wasmtime: String,
    /// `RuntimeClass` of the WasmEdge shim.
    pub wasmedge: String,
}

impl Default for RuntimeClasses {
    fn default() -> Self {
        Self {
            wasmtime: "wasmtime".into(),
            wasmedge: "wasmedge".into(),
        }
    }
}

fn if_not_present() -> String {
    "IfNotPresent".into()
}
