//! The operator's configuration, as far as it can be assumed without a cluster.

use wasmbench_core::config::{Limits, OperatorConfig, ProbeConfig};
use wasmbench_model::images::{Images, RuntimeClasses};
use wasmbench_model::wire::request::{MeterLevel, NoiseRule};

/// A configuration with the limits of the CRD and without images, which no plan shows.
pub fn config() -> OperatorConfig {
    let none = String::new;
    OperatorConfig {
        image_architectures: vec![],
        operator_namespace: none(),
        images: Images {
            probe: none(),
            native: none(),
            embedded: none(),
            wasmtime_cli: none(),
            wasmedge_cli: none(),
            wasmtime_serve: none(),
            v8: none(),
            wasmer_cli: none(),
            wasmcloud: none(),
            action_native: none(),
            action_wasmtime: none(),
            action_wasmi: none(),
            action_wasmer: none(),
            server: none(),
            http: none(),
            server_wasmedge: none(),
            server_wasmedge_aot: none(),
            upstream: none(),
            pull_policy: none(),
        },
        runtime_classes: RuntimeClasses::default(),
        meter: MeterLevel::default(),
        noise: NoiseRule::default(),
        limits: Limits::default(),
        probe: ProbeConfig::default(),
        cold_start_service_account: "wasmbench-cold-start".into(),
        containerd_socket: Some("/run/containerd/containerd.sock".into()),
        admission_policies: true,
        watch_namespaces: vec![],
        host_network: true,
    }
}
