//! Objects that are there already, and that a run measures through their scale.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::run::service::{Ready, Scheme, default_port};
use crate::validation;

/// An object of the run's namespace that has a scale, such as a Deployment. Its own controller makes
/// the pods, with all that its owner has given them; the run sets how many. Its owner offers it to
/// runs by the annotation `wasmbench.dev/offered: "true"` and `replicas: 0`; anything else is left
/// alone.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ScaleTarget {
    /// Group of its kind, such as `apps`.
    #[serde(default = "default_group")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    )]
    pub group: String,

    /// Its kind in the plural, such as `deployments`: one that the administrator allows
    /// (`scale.resources` in the chart).
    #[schemars(
        length(min = 1, max = 63),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    pub resource: String,

    /// Name of the object.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    )]
    pub name: String,

    /// Port on which its pods listen for HTTP: that of a container, not of a Service.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,

    /// How the service is spoken to: `HTTP`, or `HTTPS` with whatever certificate, which is not
    /// verified. The others are here so that they are refused with a reason.
    #[serde(default, skip_serializing_if = "Scheme::is_http")]
    #[x_kube(validation = Rule::new(validation::SCHEME_RULE).message(validation::SCHEME_MESSAGE))]
    pub scheme: Scheme,

    /// A request that shows that the service is ready, instead of the workload's own.
    pub ready: Option<Ready>,
}

fn default_group() -> String {
    "apps".to_owned()
}
