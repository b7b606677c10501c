//! How a probe calls a function through Apache OpenWhisk's action protocol: `POST /init` with the
//! function's code once, then `POST /run` with parameters for each request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A function, and what each call of it receives.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ActionCall {
    /// Name of its code, a file in the probe's image, without the extension.
    pub code: String,
    /// The parameters of each call.
    pub parameters: BTreeMap<String, String>,
    /// What each further function is.
    pub instances: Instances,
}

/// What each further function is.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Instances {
    /// A pod of its own, to which a program is sent.
    Pods,
    /// A Wasm module in a pod that hosts many.
    Modules,
}

impl ActionCall {
    /// Whether functions share a pod.
    pub fn shares_pod(&self) -> bool {
        self.instances == Instances::Modules
    }
}
