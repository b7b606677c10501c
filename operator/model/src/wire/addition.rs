//! What a cluster adds to every pod by its own rules. It is no alteration, but it may be what was
//! measured, so the record names it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// [`Addition::what`] of a CPU limit.
pub const CPU_LIMIT: &str = "limits.cpu";

/// Something that was not desired, and who added it.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub struct Addition {
    /// Who added it.
    pub by: AddedBy,
    /// Where in the pod or its container: `limits.cpu`, `overhead.memory`, `imagePullSecrets`.
    pub what: String,
    /// What stands there.
    pub value: String,
}

/// The objects by whose rules a cluster adds to pods.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
pub enum AddedBy {
    /// Defaults of a `LimitRange` of the namespace.
    LimitRange,
    /// Overhead and scheduling of the pod's `RuntimeClass`.
    RuntimeClass,
    /// Pull secrets of the pod's `ServiceAccount`.
    ServiceAccount,
}

impl fmt::Display for Addition {
    /// `LimitRange: limits.cpu 500m`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by: &'static str = self.by.into();
        write!(f, "{by}: {} {}", self.what, self.value)
    }
}
