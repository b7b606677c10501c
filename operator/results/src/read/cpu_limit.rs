//! Who set the CPU limit of the subjects: a spec and observations in, its origin out.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::wire::record::TrialId;

use crate::read::observation::Observation;

/// A CPU limit, by whoever set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CpuLimit {
    /// The run sets it.
    Run(String),
    /// The default of a `LimitRange`, according to the records.
    LimitRange(String),
    /// None that is known of.
    Unknown,
}

impl CpuLimit {
    /// The limit of the subjects of a run.
    pub fn new(spec: &BenchmarkRunSpec, observations: &BTreeMap<TrialId, Observation>) -> Self {
        if let Some(limit) = spec.cpu_limit() {
            return Self::Run(limit.to_owned());
        }
        let mut defaults = observations.values().map(|one| &one.limit_range_cpu);
        let default = defaults.find_map(Clone::clone);
        default.map_or(Self::Unknown, Self::LimitRange)
    }
}
