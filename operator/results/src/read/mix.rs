//! The requests of a mix, each for itself: what the load generator prints in, numbers out.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use wasmbench_model::rounding::{round_number, round_time};
use wasmbench_model::wire::document::TimedWindow;

use crate::read::histogram::{Bucket, Histogram};

/// What one trial measured of a request of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct PartNumbers {
    /// Connections that carried it.
    pub connections: u32,
    /// Answers of the expected status.
    pub succeeded: u64,
    /// All other requests.
    pub failed: u64,
    /// Successful requests per second.
    pub rps: f64,
    /// Median latency of all its requests, in microseconds; absent without any.
    pub p50_microseconds: Option<f64>,
    /// 99th percentile of the same, in microseconds; absent with fewer than 1000 requests.
    pub p99_microseconds: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PartReport {
    name: String,
    connections: u32,
    expected: u64,
    failed: u64,
    duration_histogram: Value,
}

/// Requests of a trial that its 99th percentile needs.
const FOR_P99: u64 = 1000;

/// The requests of the mix by name, over all runs of a window of this many seconds; empty for a single
/// request, and for parts that cannot be read.
pub fn parts(window: &TimedWindow, seconds: f64) -> BTreeMap<String, PartNumbers> {
    let mut all: BTreeMap<String, Vec<PartReport>> = BTreeMap::new();
    for run in window.runs() {
        let parts = Vec::<PartReport>::deserialize(&run["Parts"]).unwrap_or_default();
        for part in parts {
            all.entry(part.name.clone()).or_default().push(part);
        }
    }
    let numbers = |(name, parts): (String, Vec<PartReport>)| (name, numbers(&parts, seconds));
    all.into_iter().map(numbers).collect()
}

fn numbers(parts: &[PartReport], seconds: f64) -> PartNumbers {
    let sum = |number: fn(&PartReport) -> u64| parts.iter().map(number).sum::<u64>();
    let (succeeded, failed) = (sum(|part| part.expected), sum(|part| part.failed));
    let histograms: Vec<Histogram> = parts.iter().filter_map(histogram).collect();
    let latency = Histogram::joined(&histograms);
    PartNumbers {
        connections: parts.iter().map(|part| part.connections).max().unwrap_or(0),
        succeeded,
        failed,
        rps: round_number(succeeded as f64 / seconds),
        p50_microseconds: latency.percentile(0.5).map(round_time),
        p99_microseconds: latency
            .percentile(0.99)
            .filter(|_| latency.count() >= FOR_P99)
            .map(round_time),
    }
}

fn histogram(part: &PartReport) -> Option<Histogram> {
    let data = part.duration_histogram["Data"].as_array()?;
    let bucket = |json: &Value| {
        Some(Bucket {
            start: json["Start"].as_f64()? * 1e6,
            end: json["End"].as_f64()? * 1e6,
            count: json["Count"].as_u64()?,
        })
    };
    Histogram::new(data.iter().filter_map(bucket).collect()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(expected: u64, failed: u64) -> Value {
        let histogram = json!({"Data": [{"Start": 1e-3, "End": 3e-3, "Count": expected + failed}]});
        json!({"Parts": [
            {"Name": "order", "Connections": 3, "Expected": expected, "Failed": failed, "DurationHistogram": histogram},
            {"Name": "none", "Connections": 1, "Expected": 0, "Failed": 0, "DurationHistogram": {"Data": null}},
        ]})
    }

    #[test]
    fn the_runs_of_a_window_are_added_up_for_each_request() {
        let window = TimedWindow {
            fortio: run(300, 10),
            further: vec![run(690, 0)],
            ..TimedWindow::default()
        };
        let found = parts(&window, 2.0);
        let order = &found["order"];
        assert_eq!(
            (order.connections, order.succeeded, order.failed),
            (3, 990, 10)
        );
        assert_eq!((order.rps, order.p50_microseconds), (495.0, Some(2000.0)));
        assert!(order.p99_microseconds.is_some());
        let none = &found["none"];
        assert_eq!((none.succeeded, none.p50_microseconds), (0, None));
    }

    #[test]
    fn a_single_request_has_no_parts() {
        assert!(parts(&TimedWindow::default(), 1.0).is_empty());
    }
}
