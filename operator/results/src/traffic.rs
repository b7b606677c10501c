//! What the load generator met besides latencies: connections that end, requests without an answer
//! by kind, sizes of answers. Its counts in, the numbers of a trial and of a cell out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_api::run::ConnectionReuse;

use crate::statistics::Spread;

/// What was met in one timed window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Connections that were opened within the window, beyond those with which it began.
    pub opened: u64,
    /// Requests that were sent again, because the service had ended their connection before it took
    /// them.
    pub resent: u64,
    /// Requests without a complete answer, by kind.
    pub failed_by_kind: BTreeMap<String, u64>,
    /// Sizes of the expected answers; `None` without any.
    pub answer_bytes: Option<AnswerBytes>,
    /// Requests that a connection carried on average; `None` if every connection lasted as long as
    /// the load, or was not asked to.
    pub requests_per_connection: Option<f64>,
}

/// The sizes of answers: of their bodies, in bytes.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AnswerBytes {
    /// Of the smallest.
    pub min: u64,
    /// Of the largest.
    pub max: u64,
}

impl AnswerBytes {
    /// The sizes of both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// The `Seen` of one run, as `operator/generator` prints it.
#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "PascalCase", default)]
pub struct Seen {
    connections: u64,
    resent: u64,
    failures: Option<BTreeMap<String, u64>>,
    bytes: Bytes,
}

#[derive(Deserialize, Debug, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Bytes {
    count: u64,
    min: u64,
    max: u64,
}

impl Traffic {
    /// What was met in one run.
    pub fn of(seen: Seen) -> Self {
        let Bytes { count, min, max } = seen.bytes;
        Self {
            opened: seen.connections,
            resent: seen.resent,
            failed_by_kind: seen.failures.unwrap_or_default(),
            answer_bytes: (count > 0).then_some(AnswerBytes { min, max }),
            requests_per_connection: None,
        }
    }

    /// What was met in several runs.
    pub fn joined<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for one in all {
            sum.opened += one.opened;
            sum.resent += one.resent;
            for (kind, count) in &one.failed_by_kind {
                *sum.failed_by_kind.entry(kind.clone()).or_default() += count;
            }
            let both = sum.answer_bytes.zip(one.answer_bytes);
            let both = both.map(|(sum, one)| sum.and(one));
            sum.answer_bytes = both.or(sum.answer_bytes).or(one.answer_bytes);
        }
        sum
    }

    /// The same, with how many of `requests` a connection carried, if connections were to be kept:
    /// `runs` runs began with `connections` each. Connections that a failure ended do not count:
    /// failures are told by themselves.
    #[must_use]
    pub fn over(
        mut self,
        requests: u64,
        connections: u64,
        runs: u64,
        reuse: ConnectionReuse,
    ) -> Self {
        let broken: u64 = self.failed_by_kind.values().sum();
        let ended = self.opened.saturating_sub(broken);
        let is_kept = reuse == ConnectionReuse::KeepAlive;
        self.requests_per_connection =
            (is_kept && ended > 0).then(|| requests as f64 / (connections * runs + ended) as f64);
        self
    }
}

/// What was met at a point, over its trials. Absent where nothing is known.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TrafficSummary {
    /// Requests without a complete answer, by kind: `cut` (shorter than announced), `closed`
    /// (without a byte of an answer), `timedOut`, `notConnected`, `excess` (more than announced),
    /// `malformed`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed_by_kind: BTreeMap<String, u64>,
    /// Requests that a connection carried; absent where connections lasted as long as the load.
    pub requests_per_connection: Option<Spread>,
    /// Requests that were sent again on another connection; absent if none was.
    pub resent: Option<u64>,
    /// The sizes of the expected answers.
    pub answer_bytes: Option<AnswerBytes>,
    /// The size of the answer before a load, if those under load had another.
    pub answer_bytes_before: Option<u64>,
}

/// A kind of failure, for people.
pub fn kind_words(kind: &str) -> &str {
    match kind {
        "cut" => "cut off: shorter than announced",
        "closed" => "closed without an answer",
        "timedOut" => "not complete within 10 s",
        "notConnected" => "without a connection",
        "excess" => "with more than was announced",
        "malformed" => "not HTTP/1",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn traffic(seen: serde_json::Value) -> Traffic {
        Traffic::of(serde_json::from_value(seen).unwrap())
    }

    #[test]
    fn what_the_generator_says_is_read() {
        let found = traffic(json!({"Connections": 3, "Announced": 1, "Resent": 2,
            "Failures": {"cut": 1}, "Bytes": {"Count": 9, "Sum": 60, "Min": 5, "Max": 7}}));
        assert_eq!((found.opened, found.resent), (3, 2));
        assert_eq!(found.failed_by_kind["cut"], 1);
        assert_eq!(found.answer_bytes, Some(AnswerBytes { min: 5, max: 7 }));
        let nothing = traffic(json!({"Failures": null, "Bytes": {"Count": 0, "Min": 0}}));
        assert_eq!(nothing, Traffic::default());
    }

    #[test]
    fn runs_add_up_and_sizes_span_all_of_them() {
        let one = traffic(json!({"Connections": 1, "Failures": {"cut": 1},
            "Bytes": {"Count": 1, "Min": 5, "Max": 5}}));
        let other = traffic(
            json!({"Connections": 2, "Failures": {"cut": 2, "closed": 1},
            "Bytes": {"Count": 1, "Min": 9, "Max": 9}}),
        );
        let both = Traffic::joined([&one, &Traffic::default(), &other]);
        assert_eq!((both.opened, both.failed_by_kind["cut"]), (3, 3));
        assert_eq!(both.answer_bytes, Some(AnswerBytes { min: 5, max: 9 }));
    }

    #[test]
    fn a_connection_carries_its_share_of_the_requests_unless_all_last() {
        let keep = ConnectionReuse::KeepAlive;
        let of = |seen| traffic(seen).over(1000, 4, 4, keep).requests_per_connection;
        assert_eq!(of(json!({"Connections": 0})), None);
        assert_eq!(of(json!({"Connections": 984})), Some(1.0));
        assert_eq!(of(json!({"Connections": 84})), Some(10.0));
        // A failure closes its connection; the service kept it.
        assert_eq!(of(json!({"Connections": 5, "Failures": {"cut": 5}})), None);
        let asked = traffic(json!({"Connections": 1000}));
        let asked = asked.over(1000, 4, 4, ConnectionReuse::PerRequest);
        assert_eq!(asked.requests_per_connection, None);
    }
}
