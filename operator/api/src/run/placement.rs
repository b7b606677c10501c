//! Which node to measure on, and on which network.

use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

/// Which node a run may measure on. One node is chosen and kept for the whole run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Labels that the node must carry, e.g. `{"kubernetes.io/hostname": "bench-1"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend(
        "maxProperties" = 16,
        "additionalProperties" = serde_json::json!({
            "type": "string", "maxLength": 63, "pattern": validation::LABEL_VALUE
        })
    ))]
    pub node_selector: BTreeMap<String, String>,

    /// Taints of the node that the run's pods tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub tolerations: Vec<Toleration>,

    /// Network of the subjects. `Host` only where the administrator allows it
    /// (`hostNetwork.enabled` in the chart) and the namespace's pod security does too.
    #[serde(default, skip_serializing_if = "Network::is_pod")]
    pub network: Network,
}

/// Network of the subjects.
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
pub enum Network {
    /// Each pod has its own network. The first answer of a cold start cannot be seen before the API
    /// reports the pod's address.
    #[default]
    Pod,
    /// The node's network: no virtual network in between, so the first answer of a cold start is
    /// exact. While it is measured, the service listens on all addresses of the node, and can reach
    /// what listens there.
    Host,
}

impl Network {
    /// Whether this is the default.
    pub fn is_pod(&self) -> bool {
        *self == Self::Pod
    }
}

/// A taint that is tolerated, with the meaning of a pod's toleration.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::EXISTS_RULE).message(validation::EXISTS_MESSAGE).field_path(".value"),
    validation = Rule::new(validation::ANY_TAINT_RULE).message(validation::ANY_TAINT_MESSAGE)
)]
pub struct Toleration {
    /// Key of the taint. Absent with operator `Exists`: every taint.
    #[schemars(length(max = 316), regex(pattern = validation::LABEL_KEY))]
    pub key: Option<String>,

    /// `Equal` (default) compares `value`; `Exists` ignores it.
    pub operator: Option<TolerationOperator>,

    /// Value of the taint, with operator `Equal`.
    #[schemars(length(max = 63), regex(pattern = validation::LABEL_VALUE))]
    pub value: Option<String>,

    /// Effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`. Absent: all.
    pub effect: Option<TaintEffect>,
}

/// How a toleration compares the taint's value.
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
)]
pub enum TolerationOperator {
    /// The values must be equal.
    Equal,
    /// Any value.
    Exists,
}

/// What a taint does to pods that do not tolerate it.
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
)]
pub enum TaintEffect {
    /// New pods are not scheduled on the node.
    NoSchedule,
    /// New pods avoid the node if possible.
    PreferNoSchedule,
    /// Running pods are evicted as well.
    NoExecute,
}
