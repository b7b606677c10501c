//! Which objects runs may scale: kinds and namespaces that the administrator lists.

use std::fmt;

use serde::{Deserialize, Serialize};
use wasmbench_api::run::ScaleTarget;

/// What the administrator allows.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ScaleConfig {
    /// Namespaces in which runs may scale what is offered to them. Empty: none.
    pub namespaces: Vec<String>,
    /// The kinds.
    pub resources: Vec<ScaleResource>,
}

/// A kind of objects with a scale.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScaleResource {
    /// Its group.
    pub group: String,
    /// The version in which it is read.
    pub version: String,
    /// Its name in the plural.
    pub resource: String,
    /// Its name.
    pub kind: String,
}

/// An object with a scale.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Group of its kind.
    pub group: String,
    /// Version of its kind.
    pub version: String,
    /// Its kind in the plural.
    pub resource: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// The kinds that the chart lists by default: group, version, plural and name of each.
const KINDS: [[&str; 4]; 4] = [
    ["apps", "v1", "deployments", "Deployment"],
    ["apps", "v1", "statefulsets", "StatefulSet"],
    ["core.spinkube.dev", "v1alpha1", "spinapps", "SpinApp"],
    ["argoproj.io", "v1alpha1", "rollouts", "Rollout"],
];
/// All namespaces. The chart takes none but names.
const EVERYWHERE: &str = "*";

impl ScaleConfig {
    /// What may be scaled for all that is known without a cluster: the kinds of the chart, in any
    /// namespace.
    pub fn assumed() -> Self {
        let kind = |[group, version, resource, kind]: [&str; 4]| ScaleResource {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            kind: kind.to_owned(),
        };
        Self {
            namespaces: vec![EVERYWHERE.to_owned()],
            resources: KINDS.map(kind).into(),
        }
    }

    /// The object that a variant names; `None` if its kind is not listed.
    pub fn target(&self, named: &ScaleTarget) -> Option<Target> {
        let is_it =
            |one: &&ScaleResource| one.group == named.group && one.resource == named.resource;
        let kind = self.resources.iter().find(is_it)?;
        Some(Target {
            group: kind.group.clone(),
            version: kind.version.clone(),
            resource: kind.resource.clone(),
            kind: kind.kind.clone(),
            name: named.name.clone(),
        })
    }

    /// Whether runs of this namespace may scale anything.
    pub fn allows(&self, namespace: &str) -> bool {
        let mut listed = self.namespaces.iter();
        listed.any(|one| one == namespace || one == EVERYWHERE)
    }
}

/// As kubectl takes it: `deployments.apps/shop`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            group,
            resource,
            name,
            ..
        } = self;
        write!(f, "{resource}.{group}/{name}")
    }
}
