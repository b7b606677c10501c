//! Metrics of the operator itself. Labels have closed sets of values, never the name of a run or
//! another object. Results of runs are in [`crate::exported`].

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::exported::store::Exported;

/// The content type of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// One label, `reason`.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct ReasonLabel {
    /// A constant of the code.
    pub reason: &'static str,
}

/// One label, `step`.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct StepLabel {
    /// Name of a plan's step.
    pub step: &'static str,
}

/// One label, `outcome`.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct OutcomeLabel {
    /// `measured`, `failed` or `skipped`.
    pub outcome: &'static str,
}

/// One label, `state`.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct StateLabel {
    /// `active` or `finished`.
    pub state: &'static str,
}

/// All metrics.
#[derive(Debug)]
pub struct Metrics {
    /// What /metrics shows.
    pub registry: Registry,
    /// Duration of each reconcile, in seconds.
    pub reconcile_seconds: Histogram,
    /// Failed reconciles.
    pub failures: Family<ReasonLabel, Counter>,
    /// Steps carried out.
    pub steps: Family<StepLabel, Counter>,
    /// Trials recorded.
    pub trials: Family<OutcomeLabel, Counter>,
    /// Runs in the store of the watch.
    pub runs: Family<StateLabel, Gauge<i64, std::sync::atomic::AtomicI64>>,
    /// Seconds since the oldest queued run was created; 0 when the queue is empty.
    pub longest_wait: Gauge<f64, AtomicU64>,
    /// Results of runs and schedules.
    pub exported: Exported,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("wasmbench");
        // A reconcile is a handful of API calls: milliseconds, unless the API server is in trouble.
        let buckets = [
            0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0,
        ];
        let reconcile_seconds = Histogram::new(buckets);
        let failures = Family::default();
        let steps = Family::default();
        let trials = Family::default();
        let runs = Family::default();
        let longest_wait = Gauge::default();
        let exported = Exported::default();
        registry.register_with_unit(
            "reconcile_duration",
            "Time to look after a run once",
            Unit::Seconds,
            reconcile_seconds.clone(),
        );
        registry.register(
            "reconcile_failures",
            "Times that looking after a run failed, by reason",
            failures.clone(),
        );
        registry.register(
            "steps",
            "Steps of plans carried out, by step",
            steps.clone(),
        );
        registry.register("trials", "Trials recorded, by outcome", trials.clone());
        registry.register("runs", "Runs in the cluster, by state", runs.clone());
        registry.register_with_unit(
            "queue_longest_wait",
            "Time since the creation of the oldest run that waits for a node",
            Unit::Seconds,
            longest_wait.clone(),
        );
        registry.register_collector(Box::new(exported.clone()));
        let build: Info<[(&str, &str); 1]> = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the operator", build);
        Self {
            registry,
            reconcile_seconds,
            failures,
            steps,
            trials,
            runs,
            longest_wait,
            exported,
        }
    }
}

/// Converts `OpenMetrics` to Prometheus' text format, in which the `HELP` and `TYPE` lines of
/// counters and infos use the names of their samples, and which has neither `UNIT` nor `EOF`.
fn classic(open_metrics: &str) -> String {
    let lines = || open_metrics.lines();
    let types: BTreeMap<&str, &str> = lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .collect();
    let described = |name: &str| match types.get(name) {
        Some(&"counter") => format!("{name}_total"),
        Some(&"info") => format!("{name}_info"),
        _ => name.to_owned(),
    };
    let mut text = String::new();
    for line in lines() {
        let mut parts = line.splitn(4, ' ');
        let (mark, kind) = (parts.next(), parts.next());
        let (name, rest) = (parts.next().unwrap_or_default(), parts.next());
        let rest = rest.unwrap_or_default();
        match (mark, kind) {
            (Some("#"), Some("HELP")) => {
                text.extend(["# HELP ", &described(name), " ", rest, "\n"]);
            }
            (Some("#"), Some("TYPE")) => {
                let rest = if rest == "info" { "gauge" } else { rest };
                text.extend(["# TYPE ", &described(name), " ", rest, "\n"]);
            }
            (Some("#"), _) => {}
            _ => text.extend([line, "\n"]),
        }
    }
    text
}

impl Metrics {
    /// All series in Prometheus' own text format ([`CONTENT_TYPE`]), which every scraper and
    /// promtool reads.
    pub fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(classic(&text))
    }

    /// Counts a reconcile that took `duration`.
    pub fn reconciled(&self, duration: Duration) {
        self.reconcile_seconds.observe(duration.as_secs_f64());
    }

    /// Counts a failed reconcile.
    pub fn failed(&self, reason: &'static str) {
        self.failures.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// Counts a step.
    pub fn stepped(&self, step: &'static str) {
        self.steps.get_or_create(&StepLabel { step }).inc();
    }

    /// Counts recorded trials.
    pub fn recorded(&self, outcome: &'static str, count: u64) {
        let counter: Counter<u64, AtomicU64> =
            self.trials.get_or_create(&OutcomeLabel { outcome }).clone();
        counter.inc_by(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_a_series_has_the_name_of_its_samples() {
        let metrics = Metrics::default();
        metrics.stepped("ClaimNode");
        let text = metrics.text().unwrap();
        let samples: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split(['{', ' ']).next())
            .collect();
        for sample in ["wasmbench_steps_total", "wasmbench_build_info"] {
            assert!(samples.contains(&sample), "{text}");
            for mark in ["HELP", "TYPE"] {
                assert!(text.contains(&format!("# {mark} {sample} ")), "{text}");
            }
        }
        let foreign = ["# UNIT", "# EOF", " info\n"];
        assert!(foreign.iter().all(|mark| !text.contains(mark)), "{text}");
    }
}
