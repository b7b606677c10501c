//! `summary.json`: everything a run found, as numbers. Units are in the names or beside them;
//! numbers carry five significant digits, times four; a number that could not be measured is absent.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::status::NotApplicable;

use super::all_requests::AllRequests;
use super::coldstart::{ColdStartCell, HarnessFloor};
use super::compare::Comparison;
use super::density::DensityCell;
use super::environment::Environment;
use super::expectations::Decision;
use super::noise_floor::NoiseFloor;
use super::open_loop::OpenLoopSummary;
use super::outside::ShimSummary;
use super::period::Period;
use super::precision::Precision;
use super::quality::{Doubt, Reason};
use super::sandbox::SandboxSummary;
use super::statistics::Spread;
use super::trial::{Trial, carries};

/// Name and version of the summary's schema.
pub const SUMMARY_SCHEMA: &str = "wasmbench.dev/summary/v1";

/// Everything a run found.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: String,
    /// Which run.
    pub run: RunName,
    /// Seed of the order of trials.
    pub seed: i64,
    /// The variant that the others are compared with.
    pub baseline: String,
    /// The result in one line, at most 200 characters.
    pub verdict: String,
    /// Whether nothing speaks against the numbers; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trustworthy: Option<bool>,
    /// What speaks against the numbers, and what limits them.
    pub doubts: Vec<Doubt>,
    /// How the trials ended.
    pub trials: TrialCounts,
    /// When it was measured; absent without a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Period>,
    /// How precise the ratios became; absent without `spec.precision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// Ratios to the baseline, by workload, variant and metric.
    pub comparisons: Vec<Comparison>,
    /// What became of the run's expectations, in the order of the spec.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expectations: Vec<Decision>,
    /// The baseline compared with its twin, by workload and metric; empty without a twin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_floors: Vec<NoiseFloor>,
    /// One entry per variant, workload and sweep point, in the order of the spec.
    pub cells: Vec<CellSummary>,
    /// What the container runtime used for the pods outside their cgroups, by variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shims: Vec<ShimSummary>,
    /// What is known of the pods beyond the numbers that are compared, by variant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandboxes: Vec<SandboxSummary>,
    /// Cold starts: one entry per variant, workload and number of pods at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cold_starts: Vec<ColdStartCell>,
    /// Cold starts of a subject that does nothing but listen, by number of pods at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub harness_floors: Vec<HarnessFloor>,
    /// Density: one entry per variant and workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub density: Vec<DensityCell>,
    /// What variants cannot do by their definition: not planned, so that there is no cell for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<NotApplicable>,
    /// Distinct reasons for failed and skipped trials, the most frequent first.
    pub failures: Vec<FailureGroup>,
    /// Failed and skipped trials whose reason is not in `failures`, because the list is cut.
    pub failures_not_listed: u32,
    /// Where and with what it was measured.
    pub environment: Environment,
    /// What was asked for. Absent when it is too large for a report; the run itself has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<BenchmarkRunSpec>,
    /// What reports say of the variants and workloads, even without the spec.
    pub compared: Compared,
}

/// Which run.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct RunName {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Uid, which no other run ever has.
    pub uid: String,
}

/// How the trials of a cell or a run ended.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TrialCounts {
    /// Trials that the spec asks for.
    pub planned: u32,
    /// Measured, and part of the numbers.
    pub valid: u32,
    /// Measured with failed requests, wrong answers or a noisy node: shown, not part of the numbers.
    pub invalid: u32,
    /// Tried without a usable measurement.
    pub failed: u32,
    /// Not tried, because the variant or workload had failed before.
    pub skipped: u32,
    /// Without a record.
    pub missing: u32,
    /// Measured once more, because the node was noisy the first time; they are among those above.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u32,
}

impl TrialCounts {
    /// Adds the counts of another cell.
    pub fn add(&mut self, other: Self) {
        self.planned += other.planned;
        self.valid += other.valid;
        self.invalid += other.invalid;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.missing += other.missing;
        self.repeated += other.repeated;
    }
}

/// The sweeps that load a subject.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Sweep {
    /// A fixed number of requests under very little load.
    WarmLatency,
    /// As many requests as the subject answers in a fixed time.
    Throughput,
    /// Requests at a fixed rate for a fixed time, whatever the answers do.
    OpenLoop,
}

/// One variant under one workload at one sweep point. Spreads are over valid trials, or over the invalid ones of a point
/// that has no other: the median with its interval. A block has one trial. Percentiles are never averaged: a spread of
/// p99 is the distribution of the trials' own p99, and `allRequests` is read from their merged histograms.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CellSummary {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// The sweep.
    pub sweep: Sweep,
    /// Connections that carried the load.
    pub connections: u32,
    /// The rate in percent of the subject's own peak; only of the open-loop sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_peak: Option<u32>,
    /// Whether the point takes part in comparisons and peaks: it has a valid trial and no reason
    /// in `invalidBecause`.
    pub ranked: bool,
    /// Why the point is invalid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid_because: Vec<Reason>,
    /// How its trials ended.
    pub counts: TrialCounts,
    /// Failed requests of all its trials.
    pub errors: u64,
    /// The smallest number of successful requests in a valid trial; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewest_requests: Option<u64>,
    /// Whether every valid trial has the 1000 requests that a p99 needs.
    pub p99_carried: bool,
    /// Successful requests per second.
    pub rps: Option<Spread>,
    /// Median latency, in microseconds.
    pub p50_microseconds: Option<Spread>,
    /// 90th percentile of latency, in microseconds.
    pub p90_microseconds: Option<Spread>,
    /// 99th percentile of latency, in microseconds.
    pub p99_microseconds: Option<Spread>,
    /// Latency over the requests of all valid trials together; not of invalid points, nor of the open-loop
    /// sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_requests: Option<AllRequests>,
    /// CPU time of the subject's pod per request, in microseconds.
    pub cpu_microseconds_per_request: Option<Spread>,
    /// Memory of the subject's pod, in bytes; `environment.memorySource` says which.
    pub memory_bytes: Option<Spread>,
    /// Latencies from the schedule; only of the open-loop sweep, where the latencies above are service
    /// times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_loop: Option<OpenLoopSummary>,
    /// Requests per second that the load generator would reach here if answers cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_ceiling_rps: Option<f64>,
    /// The largest share (0 to 1) of the CPUs that it may use that the load generator used in a valid
    /// trial.
    pub generator_cpu_share_max: Option<f64>,
    /// The largest share (0 to 1) of all CPUs of the node that neither the subject nor the load
    /// generator used in a valid trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cpu_share_max: Option<f64>,
    /// The largest share (0 to 1) of all CPUs of the node that went to other virtual machines in a
    /// valid trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share_max: Option<f64>,
    /// Rate times mean latency as a share of the connections, by Little's law 1 in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_busy: Option<f64>,
    /// Valid trials in which the rate still moved at the end of the longest warm-up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsettled_trials: u32,
    /// Scheduler periods in which a CPU limit stopped the subject, over all trials; absent where no trial
    /// tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_periods: Option<u64>,
    /// Every trial, one column per number; the columns run in parallel, by block. `states` has one
    /// letter per trial: V valid, I invalid, F failed, S skipped.
    #[serde(with = "super::columns")]
    pub trials: Vec<Trial>,
}

impl CellSummary {
    /// Whether every valid trial has the requests that the percentile with one request in `one_in` beyond it
    /// needs; without a valid trial none is carried.
    pub fn carries(&self, one_in: u64) -> bool {
        self.fewest_requests
            .is_some_and(|requests| carries(requests, one_in))
    }

    /// Whether every valid trial has the 100 requests that a p90 needs.
    pub fn p90_carried(&self) -> bool {
        self.carries(10)
    }

    /// Where it is, for people: `embedded on hello at 50 connections`.
    pub fn place(&self) -> String {
        let Self {
            variant,
            workload,
            connections,
            ..
        } = self;
        match self.sweep {
            Sweep::WarmLatency => format!("{variant} on {workload} (warm latency)"),
            Sweep::Throughput => format!("{variant} on {workload} at {connections} connections"),
            Sweep::OpenLoop => {
                let percent = self.percent_of_peak.unwrap_or_default();
                format!("{variant} on {workload} at {percent} % of its peak")
            }
        }
    }
}

/// Trials that failed or were skipped for the same reason.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FailureGroup {
    /// Name of the variant.
    pub variant: String,
    /// The reason as one word.
    pub reason: String,
    /// What happened the first time, and what to do about it; at most 512 characters.
    pub message: String,
    /// The first trial of the group, `variant/workload/point/bN`.
    pub first: String,
    /// Trials that were tried and failed.
    pub failed: u32,
    /// Trials that were not tried any more.
    pub skipped: u32,
}

/// The variants, workloads and sweeps in words.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// One entry per variant: name and what it is.
    pub variants: Vec<Named>,
    /// What the twin is, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// One entry per workload: name, and request with the right answer.
    pub workloads: Vec<Named>,
    /// One sentence per sweep.
    pub sweeps: Vec<String>,
    /// Repetitions of every cell.
    pub blocks: u32,
    /// The smallest difference that matters, as a share of 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_effect: Option<f64>,
}

/// A name and what is behind it, in words.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    /// The name.
    pub name: String,
    /// What it is, at most 160 characters.
    pub what: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_zero(value: &u32) -> bool {
    *value == 0
}
