//! Where records and summaries say what a load met: the only part of these tests that depends on the
//! formats.

use serde_json::Value;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_model::wire::record::Record;

/// A cell of the throughput sweep in a summary.
#[derive(Clone, Copy)]
pub struct Cell<'a>(&'a Value);

impl<'a> Cell<'a> {
    pub fn find(summary: &'a Value, variant: &str, workload: &str) -> Self {
        let mut cells = summary["cells"].as_array().expect("cells").iter();
        let cell = cells.find(|cell| {
            cell["variant"] == variant
                && cell["workload"] == workload
                && cell["sweep"] == "throughput"
        });
        Self(cell.unwrap_or_else(|| panic!("{variant} on {workload}: {summary:#}")))
    }

    /// Requests of all timed windows that failed, in percent.
    pub fn failed_percent(self) -> f64 {
        let sum = |column: &str| -> u64 {
            let column = self.0["trials"][column].as_array().expect("a column");
            column.iter().filter_map(Value::as_u64).sum()
        };
        let (failed, answered) = (sum("errors"), sum("requests"));
        assert!(failed + answered >= 20, "{self:?}: too few requests");
        100.0 * failed as f64 / (failed + answered) as f64
    }

    /// Why requests have no complete answer.
    pub fn failure_kinds(self) -> Vec<&'a str> {
        let kinds = self.0["traffic"]["failedByKind"].as_object();
        kinds
            .into_iter()
            .flatten()
            .map(|(kind, _)| &**kind)
            .collect()
    }

    /// Answers of a status that was not expected.
    pub fn failed_with_status(self, status: &str) -> u64 {
        let count = self.0["errorsByStatus"][status].as_u64();
        count.unwrap_or_default()
    }

    /// Absent where every connection lasted as long as its load.
    pub fn requests_per_connection(self) -> Option<f64> {
        median(&self.0["traffic"]["requestsPerConnection"])
    }

    /// The sizes of the smallest and the largest expected answer.
    pub fn answer_bytes(self) -> (u64, u64) {
        let bytes = &self.0["traffic"]["answerBytes"];
        let end = |end: &str| bytes[end].as_u64();
        let found = end("min").zip(end("max"));
        found.unwrap_or_else(|| panic!("no sizes: {self:?}"))
    }

    pub fn p50_microseconds(self) -> f64 {
        median(&self.0["p50Microseconds"]).unwrap_or_else(|| panic!("no latency: {self:?}"))
    }

    pub fn cpus_used(self) -> Option<f64> {
        median(&self.0["cpusUsed"])
    }

    pub fn throttled_share(self) -> Option<f64> {
        median(&self.0["throttledShare"])
    }

    /// Reasons why it is not compared.
    pub fn invalid_because(self) -> Vec<&'a str> {
        self.0["invalidBecause"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }
}

impl std::fmt::Debug for Cell<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

/// A number, or the median of a spread.
fn median(number: &Value) -> Option<f64> {
    number.as_f64().or_else(|| number["median"].as_f64())
}

/// Messages of the doubts and notes about a workload with this reason; with any if empty.
pub fn messages<'a>(summary: &'a Value, reason: &str, workload: &str) -> Vec<&'a str> {
    summary["doubts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|doubt| reason.is_empty() || doubt["reason"] == reason)
        .filter_map(|doubt| doubt["message"].as_str())
        .filter(|message| message.contains(workload))
        .collect()
}

/// Workloads on which rates are compared.
pub fn compared_rates(summary: &Value) -> Vec<&str> {
    let all = summary["comparisons"].as_array().expect("comparisons");
    let rates = all.iter().filter(|one| one["metric"] == "throughputRps");
    rates.filter_map(|one| one["workload"].as_str()).collect()
}

/// Connections that the load generator opened within the timed window, beyond the first ones.
pub fn opened_connections(record: &Record) -> u64 {
    let document = record.load().expect("a load");
    let timed = document.timed.as_ref().expect("a window");
    let opened = timed.runs().map(|run| {
        let opened = run["Seen"]["Connections"].as_u64();
        opened.unwrap_or_else(|| panic!("no connections in {run}"))
    });
    opened.sum()
}

/// Expected answers and others of an open loop, and the median of each from the schedule, in
/// microseconds.
pub fn of_schedule(record: &Record) -> [(u64, f64); 2] {
    let document = record.load().expect("a load");
    let window = document.timed.as_ref().expect("a window");
    let found = serde_json::to_value(window.open_loop).expect("JSON");
    let count = |field: &str| found[field].as_u64().expect("a count");
    let p50 = |field: &str| found[field]["p50Microseconds"].as_f64().expect("a median");
    let (all, failed) = (count("requests"), count("failed"));
    [
        (all - failed, p50("fromSchedule")),
        (failed, p50("failedFromSchedule")),
    ]
}

/// A file of the report.
pub async fn report(namespace: &str, name: &str, format: &str) -> String {
    let report = ["wasmbench", "report", name, "-n", namespace, "-o", format];
    kubectl(&report).await.stdout
}

/// `summary.json`.
pub async fn summary(namespace: &str, name: &str) -> Value {
    let text = report(namespace, name, "json").await;
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
