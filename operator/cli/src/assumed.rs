//! The operator's configuration, as far as it can be assumed without a cluster.

use wasmbench_core::config::{Limits, OperatorConfig, ProbeConfig};
use wasmbench_core::scale::ScaleConfig;
use wasmbench_model::images::{Images, RuntimeClasses};
use wasmbench_model::version;
use wasmbench_model::wire::request::{MeterLevel, NoiseRule};

/// A configuration with the limits of the CRD and some images, which no plan shows.
pub fn config() -> OperatorConfig {
    OperatorConfig {
        image_architectures: vec![],
        operator_namespace: String::new(),
        images: Images::in_registry("wasmbench", version::VERSION),
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
        scale: ScaleConfig::assumed(),
    }
}
