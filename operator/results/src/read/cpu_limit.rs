//! Who set the CPU limit of a variant's subjects: a spec and observations in, its origin out.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::wire::record::TrialId;

use crate::read::observation::Observation;

/// A CPU limit, by whoever set it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CpuLimit {
    /// The run sets it, for all variants or for this one.
    Run(String),
    /// That of the template of an object that the run scales, if it has one.
    Template,
    /// The default of a `LimitRange`, according to the records.
    LimitRange(String),
    /// None that is known of.
    Unknown,
}

/// The CPU limits of a run's subjects.
#[derive(Clone, Debug)]
pub struct CpuLimits<'a> {
    spec: &'a BenchmarkRunSpec,
    /// What a `LimitRange` sets where the run sets nothing.
    default: Option<String>,
}

impl<'a> CpuLimits<'a> {
    /// The limits of the subjects of a run.
    pub fn new(spec: &'a BenchmarkRunSpec, observations: &BTreeMap<TrialId, Observation>) -> Self {
        let mut defaults = observations.values().map(|one| &one.limit_range_cpu);
        let default = defaults.find_map(Clone::clone);
        Self { spec, default }
    }

    /// The limit of a variant's subjects.
    pub fn of_variant(&self, variant: &str) -> CpuLimit {
        if self.spec.is_scaled(variant) {
            return CpuLimit::Template;
        }
        if let Some(limit) = self.spec.cpu_limit(variant) {
            return CpuLimit::Run(limit.to_owned());
        }
        let default = self.default.clone();
        default.map_or(CpuLimit::Unknown, CpuLimit::LimitRange)
    }
}
