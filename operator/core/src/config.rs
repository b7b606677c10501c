//! What the administrator decided: images, limits and how far a probe may look into the node. The
//! chart renders it as a YAML file that the operator reads when it starts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use wasmbench_model::images::{Images, RuntimeClasses};
use wasmbench_model::wire::request::{MeterLevel, NoiseRule};

use crate::scale::ScaleConfig;

/// The operator's configuration.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperatorConfig {
    /// Namespace of the operator: probes and node leases live there.
    pub operator_namespace: String,
    /// Images of probes and presets.
    pub images: Images,
    /// Architectures that these images exist for, as in the label `kubernetes.io/arch`. By default
    /// the operator's own, because all images are built together.
    #[serde(default = "own_architecture")]
    pub image_architectures: Vec<String>,
    /// Names of the `RuntimeClasses` that the Wasm presets use.
    #[serde(default)]
    pub runtime_classes: RuntimeClasses,
    /// Where probes read the subject's resources.
    #[serde(default)]
    pub meter: MeterLevel,
    /// What happens to trials on a noisy node.
    #[serde(default)]
    pub noise: NoiseRule,
    /// Bounds that may be stricter than those of the CRD.
    #[serde(default)]
    pub limits: Limits,
    /// Resources of probe pods.
    #[serde(default)]
    pub probe: ProbeConfig,
    /// ServiceAccount of cold-start and density probes, which create pods themselves. It may do so
    /// only in the namespaces in which the administrator has granted it that right.
    pub cold_start_service_account: String,
    /// Path of containerd's socket on the nodes, which is mounted into cold-start probes. Absent if
    /// the administrator does not allow it.
    #[serde(default)]
    pub containerd_socket: Option<String>,
    /// Whether the chart's admission policies are installed.
    #[serde(default)]
    pub admission_policies: bool,
    /// The only namespaces in which runs and schedules are followed. Empty: all of them.
    #[serde(default)]
    pub watch_namespaces: Vec<String>,
    /// Whether the administrator allows subjects on the node's network.
    #[serde(default)]
    pub host_network: bool,
    /// Which objects that are there already runs may scale.
    #[serde(default)]
    pub scale: ScaleConfig,
}

impl OperatorConfig {
    /// Whether runs and schedules in this namespace are followed.
    pub fn watches(&self, namespace: &str) -> bool {
        let listed = &self.watch_namespaces;
        listed.is_empty() || listed.iter().any(|one| one == namespace)
    }
}

/// Bounds on what a run may request.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// Largest number of connections.
    pub connections: u32,
    /// Longest timed window, in seconds.
    pub duration_seconds: u32,
    /// Largest number of pods that a cold start creates at once.
    pub cold_start_concurrency: u32,
    /// Largest number of instances of a density sweep.
    pub density_instances: u32,
    /// Largest number of trials of a run.
    pub trials: u32,
    /// Longest expected duration of a run, in seconds.
    pub run_seconds: u32,
    /// Longest time that a finished run is kept, in seconds. Absent: as long as its author wants.
    pub ttl_seconds_after_finished: Option<u32>,
    /// Largest size of a run's records as they are stored, in MiB.
    pub record_mebibytes: u32,
    /// Labels that a node must have to be measured on.
    pub node_selector: BTreeMap<String, String>,
    /// Whether users may bring images of their own.
    pub own_containers: bool,
}

impl Default for Limits {
    /// The bounds of the CRD.
    fn default() -> Self {
        Self {
            connections: 2000,
            duration_seconds: 600,
            cold_start_concurrency: 64,
            density_instances: 100,
            trials: 5000,
            run_seconds: 24 * 60 * 60,
            ttl_seconds_after_finished: None,
            record_mebibytes: 64,
            node_selector: BTreeMap::new(),
            own_containers: true,
        }
    }
}

/// Resources of probe pods. A CPU limit would throttle the load generator, so there is none.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProbeConfig {
    /// CPU request, as a Kubernetes quantity.
    pub cpu: String,
    /// Memory request and limit, as a Kubernetes quantity.
    pub memory: String,
}

impl Default for ProbeConfig {
    fn default() -> Self {
        Self {
            cpu: "100m".into(),
            memory: "512Mi".into(),
        }
    }
}

/// The architecture that the operator was compiled for, in the words of Kubernetes.
fn own_architecture() -> Vec<String> {
    let name = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    vec![name.to_owned()]
}
