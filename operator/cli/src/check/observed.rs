//! What was read of an installation. Plain data.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::networking::v1::NetworkPolicy;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::observed;
use wasmbench_core::scale::ObservedTarget;

/// What was read, or why it could not be, for people.
pub type Answer<T> = Result<T, String>;

/// An installation as this user sees it.
#[derive(Clone, Debug)]
pub struct ObservedInstallation {
    /// The namespace for runs.
    pub namespace: String,
    /// Whether there is such a namespace.
    pub namespace_exists: Answer<bool>,
    /// Resources of wasmbench's API that the API server serves.
    pub resources: Answer<Vec<String>>,
    /// Operators.
    pub operators: Answer<Vec<ObservedOperator>>,
    /// The operator's configuration.
    pub config: Answer<OperatorConfig>,
    /// Names of the admission policies that exist and that a binding enforces by denying.
    pub policies: Answer<BTreeSet<String>>,
    /// Pod security level that the operator's namespace enforces; `None` if it sets none.
    pub pod_security: Answer<Option<String>>,
    /// The user's rights in the namespace, each with its description.
    pub rights: Vec<(&'static str, Answer<bool>)>,
    /// NetworkPolicies in the namespace.
    pub network_policies: Answer<Vec<NetworkPolicy>>,
    /// `RuntimeClasses` by name.
    pub runtime_classes: Answer<BTreeMap<String, ObservedRuntimeClass>>,
    /// Nodes.
    pub nodes: Answer<Vec<ObservedNode>>,
}

/// The Deployment of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedOperator {
    /// Its namespace.
    pub namespace: String,
    /// Its name, with which the names of the chart's other objects begin.
    pub name: String,
    /// The chart's `appVersion`.
    pub version: Option<String>,
    /// Whether it is available.
    pub available: bool,
}

/// A `RuntimeClass`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedRuntimeClass {
    /// The name of its handler in the node's container runtime.
    pub handler: String,
    /// Labels of the nodes that have it.
    pub node_selector: BTreeMap<String, String>,
}

/// An object that a run is to scale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedObject {
    /// What decides whether it may be scaled.
    pub target: ObservedTarget,
    /// Labels of the nodes that its template asks for.
    pub node_selector: BTreeMap<String, String>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedNode {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Handlers configured in its runtime; `None` if the runtime does not report them (containerd
    /// before 2.0).
    pub handlers: Option<BTreeSet<String>>,
    /// Its whole CPUs; `None` if it does not report them.
    pub cpus: Option<u32>,
}

impl ObservedNode {
    /// Whether it has all these labels.
    pub fn has(&self, labels: &BTreeMap<String, String>) -> bool {
        labels
            .iter()
            .all(|(key, value)| self.labels.get(key) == Some(value))
    }

    /// Whether its runtime reports its handlers, and this one is none of them.
    pub fn lacks(&self, handler: &str) -> bool {
        let handlers = self.handlers.as_ref();
        handlers.is_some_and(|handlers| !handlers.contains(handler))
    }

    /// The same as the operator observes it, as far as it decides where a run can be measured at all.
    pub fn observed(&self) -> observed::ObservedNode {
        observed::ObservedNode {
            name: self.name.clone(),
            labels: self.labels.clone(),
            cpus: self.cpus,
            ..observed::ObservedNode::default()
        }
    }
}
