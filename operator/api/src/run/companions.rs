//! Pods that belong to the experiment without being measured.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

/// Pods of the run's namespace that belong to the experiment without being measured, such as a database
/// or a cache. Those that run on the measured node when a trial begins are read: their CPU time is no
/// noise, and a number of its own per request.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Companions {
    /// Labels that such a pod carries, all of them.
    #[schemars(extend(
        "minProperties" = 1,
        "maxProperties" = 8,
        "additionalProperties" = serde_json::json!({
            "type": "string", "maxLength": 63, "pattern": validation::LABEL_VALUE
        })
    ))]
    pub match_labels: BTreeMap<String, String>,
}
