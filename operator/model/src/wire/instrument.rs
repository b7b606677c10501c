//! What a load document reports about the instrument itself: which CPUs it worked on, how much the
//! load generator reaches when the service costs nothing, and what the subject reports about its
//! engine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Which CPUs the subject and the load generator may run on, as lists in the kernel's format
/// (`0-3,8`). A list that could not be read is absent.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase")]
pub struct CpuLists {
    /// Of the subject's processes together, without the pod's pause process.
    pub subject: Option<String>,
    /// Of the load generator.
    pub generator: Option<String>,
    /// Whether the two have no CPU in common; absent unless both are known.
    pub cpus_disjoint: Option<bool>,
}

/// What the load generator reached with a responder inside the probe, which only reads a request
/// and writes a response of the right size.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct GeneratorCeiling {
    /// Connections that carried this load; at least enough to keep all CPUs busy.
    pub connections: u32,
    /// Responses per second.
    pub rps: f64,
    /// Length of the load, in nanoseconds.
    pub duration_nanoseconds: u64,
    /// CPU time of the load generator over it, in nanoseconds.
    pub generator_cpu_nanoseconds: u64,
    /// CPU time of the responder over it, the probe's own included, in nanoseconds.
    pub responder_cpu_nanoseconds: u64,
    /// Number of CPUs that the two could use together.
    pub cpus: f64,
}

/// What a running subject reports about how it executes, by member of the JSON object that it returns;
/// values as text. Empty if it was asked and returned no such object.
pub type EngineFacts = BTreeMap<String, String>;
