//! The cold start sweep: how long a pod takes from its creation to its first correct answer.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

/// Pods that are created, waited for and removed again and again. Each trial creates `samples`
/// times as many pods at once as the point says, after one sample more that is shown but does not
/// count.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::COLD_PODS_RULE).message(validation::COLD_PODS_MESSAGE).field_path(".samples"))]
pub struct ColdStart {
    /// Samples per trial that count, one after the other. One more before them is discarded,
    /// because the first pod after a change finds other caches than those that follow.
    #[serde(default = "default_samples")]
    #[schemars(range(min = 1, max = 200))]
    pub samples: u32,

    /// Numbers of pods that are created at once, one sweep point each, e.g. `[1, 8]`.
    #[serde(default = "default_concurrency")]
    #[schemars(
        length(min = 1, max = 8),
        inner(range(min = 1, max = 64)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub concurrency: Vec<u32>,

    /// What the node already has when a pod is created.
    #[serde(default)]
    pub class: ColdStartClass,

    /// Seconds that the pods of a sample have until all of them have answered correctly. Then the
    /// trial fails.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 600))]
    pub timeout_seconds: u32,
}

/// What the node already has when a pod is created.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
)]
pub enum ColdStartClass {
    /// Nothing of the image but layers that other images have too: it is removed before each sample, and
    /// every sample pulls it from its registry and unpacks it. Needs the probe level `node`, and images that
    /// no other pod on the node uses.
    NodeCold,
    /// The image, unpacked. The discarded sample of each trial sees to it. Where the probe level is
    /// `node`, what a runtime has compiled of it is removed before each sample.
    #[default]
    ImageCached,
    /// The image and, for runtimes that compile once per image, the compiled module; for all others
    /// the same as `ImageCached`. Needs the probe level `node`.
    CompileCached,
}

fn default_samples() -> u32 {
    20
}
fn default_concurrency() -> Vec<u32> {
    vec![1]
}
fn default_timeout() -> u32 {
    30
}
