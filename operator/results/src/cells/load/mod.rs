//! Loads, closed and open: records in, numbers out. The unit is a request.
//!
//! Reading order: [`crate::read::trial`] (the numbers of one record), [`mod@cells`] (all blocks of a
//! cell), [`validity`] with [`saturation`] (which cells count, and why others do not).

mod cells;
mod mix;
pub mod saturation;
mod validity;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_model::points::measured_at;
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_model::wire::record::Point;

use crate::cells::noisy_trials::are_too_many;
use crate::cells::open_loop::OpenLoopSummary;
use crate::cells::steady;
use crate::read::traffic::TrafficSummary;
use crate::read::trial::{Trial, carries, valid};
use crate::statistics::Spread;
use crate::vocabulary::cell::{ByBlock, CellSummary};
use crate::vocabulary::measure::{Measured as _, Metric, Sweep};

pub use cells::{ceilings, cell, extremes};
pub use mix::PartSummary;

/// A cell of a load.
pub type LoadCell = CellSummary<LoadDetail>;

/// What only cells of loads have. Spreads are medians with their intervals over the valid trials,
/// or over the invalid ones if there are no others. A block has one trial. Percentiles are never
/// averaged: a spread of p99 is the distribution of the trials' own p99.
#[serde_with::serde_as]
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LoadDetail {
    /// The sweep.
    pub sweep: Sweep,
    /// Connections that carried the load.
    pub connections: u32,
    /// The rate, as `requestedRps` or `percentOfPeak`; only in the open-loop sweep.
    #[serde(flatten)]
    pub rate: Option<Rate>,
    /// Failed requests of all trials.
    pub errors: u64,
    /// Failed requests of the timed windows by status; -1 stands for requests without an answer.
    #[serde_as(as = "BTreeMap<serde_with::DisplayFromStr, _>")]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors_by_status: BTreeMap<i32, u64>,
    /// The share (0 to 1) of requests that may fail; absent where none may.
    pub max_error_share: Option<f64>,
    /// The smallest number of successful requests in a valid trial; absent without a valid trial.
    pub fewest_requests: Option<u64>,
    /// Whether every valid trial has the 1000 requests that a p99 needs.
    pub p99_carried: bool,
    /// Successful requests per second.
    #[serialize_always]
    pub rps: Option<Spread>,
    /// Median latency, in microseconds.
    #[serialize_always]
    pub p50_microseconds: Option<Spread>,
    /// 90th percentile of latency, in microseconds.
    #[serialize_always]
    pub p90_microseconds: Option<Spread>,
    /// 99th percentile of latency, in microseconds.
    #[serialize_always]
    pub p99_microseconds: Option<Spread>,
    /// 99.9th percentile over the requests of all valid trials together, from their merged
    /// histograms, in microseconds. Absent with too few requests, for invalid points, and in the
    /// open-loop sweep, which has its own.
    pub p999_microseconds: Option<f64>,
    /// CPU time of the subject's pod per request, in microseconds.
    #[serialize_always]
    pub cpu_microseconds_per_request: Option<Spread>,
    /// CPU time of the node's services (container runtime, kubelet, journald) for the subject's log,
    /// per request, in microseconds: what they used beyond what they use without the load. Absent
    /// where that was too little to matter, and where it was not read.
    pub log_cpu_microseconds_per_request: Option<Spread>,
    /// CPU time per request of each container, in microseconds, where the subject is a pod that somebody else has
    /// made: parts of that of the pod.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub containers_cpu_microseconds_per_request: BTreeMap<String, Spread>,
    /// CPU time per request of the pods that the run names as companions, in microseconds.
    pub companions_cpu_microseconds_per_request: Option<Spread>,
    /// CPUs that the subject's pod used: its CPU time per time of the window.
    pub cpus_used: Option<Spread>,
    /// Memory of the subject's pod, in bytes; `environment.memorySources` has the kind.
    #[serialize_always]
    pub memory_bytes: Option<Spread>,
    /// Measures that are compared because the run names them, in their units: counts, microseconds,
    /// and shares of 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub additional: BTreeMap<Metric, Spread>,
    /// Latencies from the schedule; only in the open-loop sweep, where the latencies above are
    /// service times.
    pub open_loop: Option<OpenLoopSummary>,
    /// Requests per second that the load generator would reach here if answers cost nothing.
    pub generator_ceiling_rps: Option<f64>,
    /// The largest share (0 to 1) of its available CPUs that the load generator used in a valid
    /// trial.
    #[serialize_always]
    pub generator_cpu_share_max: Option<f64>,
    /// The largest share (0 to 1) of all CPUs of the node that others than the subject and the load
    /// generator used in a valid trial.
    pub others_cpu_share_max: Option<f64>,
    /// The largest share (0 to 1) of all CPUs of the node that went to other virtual machines in a
    /// valid trial.
    pub steal_share_max: Option<f64>,
    /// Rate times mean latency as a share of the connections; 1 in a closed loop, by Little's law.
    pub connections_busy: Option<f64>,
    /// Scheduler periods in which a CPU limit throttled the subject, over all trials; absent if no
    /// trial has this number.
    pub throttled_periods: Option<u64>,
    /// The time for which it did, added up over CPUs, as a share of the window's length: the median
    /// over the trials.
    pub throttled_share: Option<f64>,
    /// What the load generator saw; absent if nothing is known.
    pub traffic: Option<TrafficSummary>,
    /// The requests of a mix by name, each for itself; empty for a single request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, PartSummary>,
    /// How much longer than requested the longest timed window was, as a factor; only where windows
    /// are requested by time, and only from 1.5 on.
    pub overrun: Option<f64>,
    /// All trials as parallel columns, one per number, ordered by block. `states` has one letter
    /// per trial: V valid, I invalid, F failed, S skipped.
    #[serde(with = "crate::read::trial_columns")]
    pub trials: Vec<Trial>,
}

impl LoadDetail {
    /// Requests of all trials, whatever became of them.
    pub fn requests(&self) -> u64 {
        let trials = self.trials.iter();
        trials
            .map(|trial| trial.metrics.requests + trial.metrics.errors)
            .sum()
    }

    /// Whether every valid trial has enough requests for the percentile that leaves one request in
    /// `one_in` beyond it; false without a valid trial.
    pub fn carries(&self, one_in: u64) -> bool {
        self.fewest_requests
            .is_some_and(|requests| carries(requests, one_in))
    }

    /// The valid trials during which the node was noisy.
    pub fn noisy_trials(&self) -> impl Iterator<Item = &Trial> {
        valid(&self.trials).filter(|trial| trial.metrics.noise.is_over_limit())
    }

    /// Whether a CPU limit stopped the subject in any trial.
    pub fn is_throttled(&self) -> bool {
        self.throttled_periods.is_some_and(|periods| periods > 0)
    }

    /// Whether every valid trial has the 100 requests that a p90 needs.
    pub fn p90_carried(&self) -> bool {
        self.carries(10)
    }

    /// The point of the sweep.
    pub fn point(&self) -> Point {
        match self.sweep {
            Sweep::WarmLatency => Point::WarmLatency,
            Sweep::Throughput => Point::Throughput {
                connections: self.connections,
            },
            Sweep::OpenLoop => Point::OpenLoop {
                rate: self.rate.unwrap_or(Rate::Rps(0)),
            },
        }
    }

    /// Whether the node was noisy in more of the trials than a comparison tolerates.
    pub fn is_noisy(&self) -> bool {
        let count = |trials: usize| u32::try_from(trials).unwrap_or(u32::MAX);
        let (noisy, valid) = (self.noisy_trials().count(), valid(&self.trials).count());
        are_too_many(count(noisy), count(valid))
    }

    /// Whether the measured rate still changed within the windows, by more than a comparison with
    /// this minimum effect tolerates.
    pub fn is_unsteady(&self, minimum_effect: f64) -> bool {
        steady::trend(&self.trials).is_some_and(|trend| steady::moves(&trend, minimum_effect))
    }

    /// Whether it is unknown if the node was noisy, although it could have been determined.
    pub fn is_noise_unknown(&self) -> bool {
        valid(&self.trials).any(|trial| trial.metrics.noise.others.is_none())
    }

    /// The measures, each with one number per valid block. Measures that rest on too few requests
    /// are left out.
    pub fn series(&self) -> Vec<(Metric, ByBlock)> {
        let metrics = measured_at(self.point());
        let may_fail = self.max_error_share.is_some();
        let is_carried = |metric: &&Metric| {
            if **metric == Metric::Succeeded && !may_fail {
                return false;
            }
            let one_in = metric.measure().one_in;
            one_in.is_none_or(|one_in| self.carries(one_in))
        };
        let by_block = |metric: &Metric| {
            let numbers =
                valid(&self.trials).filter_map(|t| Some((t.block, t.metrics.value(*metric)?)));
            (*metric, numbers.collect())
        };
        let is_there =
            |(metric, numbers): &(Metric, ByBlock)| !metric.is_additional() || !numbers.is_empty();
        let series = metrics.iter().filter(is_carried).map(by_block);
        series.filter(is_there).collect()
    }
}
