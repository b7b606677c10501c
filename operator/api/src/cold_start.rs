//! The cold-start sweep: how long a pod takes from its creation to its first correct answer.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::number;
use crate::validation;

/// Repeatedly creates pods, waits for their answers and removes them. Each trial takes `samples`
/// samples of `concurrency` pods created at once, after one more sample that is shown but not
/// counted.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::COLD_PODS_RULE).message(validation::COLD_PODS_MESSAGE).field_path(".samples"))]
pub struct ColdStart {
    /// Counted samples per trial, taken one after the other. One more sample before them is
    /// discarded, because the first pod after a change finds different caches from those that
    /// follow.
    #[serde(default = "number::<20>")]
    #[schemars(range(min = 1, max = 200))]
    pub samples: u32,

    /// Numbers of pods that are created at once, one sweep point each, e.g. `[1, 8]`. At most 1000
    /// pods per trial (`samples` times the number).
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

    /// Seconds that each pod has to answer correctly. A pod that takes longer is removed and counts
    /// as longer than all others; the trial fails if half of its pods do.
    #[serde(default = "number::<30>")]
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
    /// No part of the image except layers shared with other images: the image is removed before
    /// each sample, and each sample pulls it from its registry and unpacks it. Needs
    /// `meter.level: node` in the chart, and images that no other pod on the node uses.
    NodeCold,
    /// The unpacked image, which the discarded sample of each trial pulls. With
    /// `meter.level: node`, what a runtime has compiled from it is removed before each sample.
    #[default]
    ImageCached,
    /// The image and, for runtimes that compile once per image, the compiled module; for all others
    /// the same as `ImageCached`. Needs `meter.level: node` in the chart.
    CompileCached,
    /// Whatever the node has, for variants with `scale`: the time from the scale-up to the first
    /// correct answer, and no step in between that the service would have to log. The object's
    /// controller makes the pod, so these starts are compared only with one another: all variants of
    /// the run have `scale`.
    Scaled,
}

fn default_concurrency() -> Vec<u32> {
    vec![1]
}
