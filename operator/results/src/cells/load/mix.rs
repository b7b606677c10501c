//! The requests of a mix over the trials of a cell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_model::rounding::round_number;

use crate::read::mix::PartNumbers;
use crate::read::trial::{Trial, TrialState};
use crate::statistics::Spread;

/// A request of a mix: shown, not compared. Spreads are over the trials that are shown of its cell.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PartSummary {
    /// Connections that carried it.
    pub connections: u32,
    /// Answers of the expected status, in all trials that are shown.
    pub succeeded: u64,
    /// All other requests in these.
    pub failed: u64,
    /// Successful requests per second.
    pub rps: Option<Spread>,
    /// Median latency of all its requests, in microseconds.
    pub p50_microseconds: Option<Spread>,
    /// 99th percentile of the same, in microseconds; only over trials with 1000 requests of it.
    pub p99_microseconds: Option<Spread>,
}

/// The requests of a mix by name, over the trials in the state `shown`; empty for a single request.
pub fn parts(trials: &[Trial], shown: TrialState) -> BTreeMap<String, PartSummary> {
    let mut all: BTreeMap<&String, Vec<&PartNumbers>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.state == shown) {
        for (name, part) in &trial.metrics.parts {
            all.entry(name).or_default().push(part);
        }
    }
    let one = |(name, parts): (&String, Vec<&PartNumbers>)| (name.clone(), summary(&parts));
    all.into_iter().map(one).collect()
}

fn summary(parts: &[&PartNumbers]) -> PartSummary {
    let spread = |number: fn(&PartNumbers) -> Option<f64>| {
        let numbers = parts.iter().filter_map(|part| number(part));
        Spread::from_values(numbers).map(|spread| spread.map(round_number))
    };
    PartSummary {
        connections: parts.iter().map(|part| part.connections).max().unwrap_or(0),
        succeeded: parts.iter().map(|part| part.succeeded).sum(),
        failed: parts.iter().map(|part| part.failed).sum(),
        rps: spread(|part| Some(part.rps)),
        p50_microseconds: spread(|part| part.p50_microseconds),
        p99_microseconds: spread(|part| part.p99_microseconds),
    }
}
