//! What the load generator saw: connections that end, requests without an answer by kind, sizes of
//! answers. Its counts in, the numbers of a trial and of a cell out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_model::wire::request::REQUEST_TIMEOUT;

use crate::statistics::Spread;

/// What the generator saw in one timed window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Connections with which its runs began; each had carried one request before.
    pub began_with: u64,
    /// Connections that were opened within it.
    pub opened: u64,
    /// Requests that were sent again, because the service ended their connection before it had
    /// received them, as far as its kernel reported.
    pub resent: u64,
    /// Requests without a complete answer, by kind.
    pub failed_by_kind: BTreeMap<String, u64>,
    /// Sizes of the expected answers; `None` without any.
    pub answer_bytes: Option<AnswerBytes>,
    /// Requests that a connection carried on average; `None` if every connection lasted as long as
    /// the load, or was not to last.
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
    /// What the generator saw in one run, which began with so many connections.
    pub fn new(seen: Seen, began_with: u64) -> Self {
        let Bytes { count, min, max } = seen.bytes;
        let mut failed_by_kind = seen.failures.unwrap_or_default();
        failed_by_kind.retain(|_, count| *count > 0);
        Self {
            began_with,
            opened: seen.connections,
            resent: seen.resent,
            failed_by_kind,
            answer_bytes: (count > 0).then_some(AnswerBytes { min, max }),
            requests_per_connection: None,
        }
    }

    /// What it saw in several runs.
    pub fn joined<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for one in all {
            sum.began_with += one.began_with;
            sum.opened += one.opened;
            sum.resent += one.resent;
            for (kind, count) in &one.failed_by_kind {
                *sum.failed_by_kind.entry(kind.clone()).or_default() += count;
            }
            let sizes = sum.answer_bytes.zip(one.answer_bytes);
            let both = sizes.map(|(sum, one)| sum.and(one));
            sum.answer_bytes = both.or(sum.answer_bytes).or(one.answer_bytes);
        }
        sum
    }

    /// The same, with how many requests a connection carried if `requests` of them were timed.
    /// Connections that a failure ended do not count: failures are reported separately.
    #[must_use]
    pub fn over(mut self, requests: u64) -> Self {
        let broken: u64 = self.failed_by_kind.values().sum();
        let ended = self.opened.saturating_sub(broken);
        let carried = requests + self.began_with;
        let connections = self.began_with + ended;
        self.requests_per_connection = (ended > 0).then(|| carried as f64 / connections as f64);
        self
    }
}

/// What the generator saw at a point, over its trials. Absent where nothing is known.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TrafficSummary {
    /// Requests without a complete answer, or with more than that, by kind: `cut` (shorter than
    /// announced), `closed` (without a byte of an answer), `timedOut`, `notConnected`, `noPort` (the
    /// generator had none left), `excess` (more than announced), `malformed`.
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
pub fn kind_text(kind: &str) -> String {
    match kind {
        "cut" => "cut off: shorter than announced".to_owned(),
        "closed" => "closed without an answer".to_owned(),
        "timedOut" => format!("not complete within {} s", REQUEST_TIMEOUT.as_secs()),
        "notConnected" => "without a connection".to_owned(),
        "noPort" => "without a free port of the load generator".to_owned(),
        "excess" => "with more than was announced".to_owned(),
        "malformed" => "not HTTP/1".to_owned(),
        other => other.to_owned(),
    }
}

/// What to do where most failures are of this kind, or have another status than the expected one.
pub fn remedy(kind: Option<&str>) -> &'static str {
    match kind {
        Some("cut" | "excess" | "malformed") => {
            "mend what the service sends: it is not the HTTP/1 that its heads announce"
        }
        Some("closed") => {
            "look in the subject's log for what ends connections, and for its limits (open files, memory)"
        }
        Some("noPort") => {
            "keep connections (throughput.connectionReuse: KeepAlive) or use fewer: this is a limit of the load \
             generator, and says nothing about the service"
        }
        _ => "use fewer connections, look for limits of the subject (open files, memory, backlog)",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn traffic(seen: serde_json::Value) -> Traffic {
        Traffic::new(serde_json::from_value(seen).unwrap(), 4)
    }

    #[test]
    fn the_generators_output_is_read() {
        let found = traffic(json!({"Connections": 3, "Announced": 1, "Resent": 2,
            "Failures": {"cut": 1, "closed": 0}, "Bytes": {"Count": 9, "Sum": 60, "Min": 5, "Max": 7}}));
        assert_eq!((found.opened, found.resent), (3, 2));
        assert_eq!(found.failed_by_kind, [("cut".to_owned(), 1)].into());
        assert_eq!(found.answer_bytes, Some(AnswerBytes { min: 5, max: 7 }));
        let nothing = traffic(json!({"Failures": null, "Bytes": {"Count": 0, "Min": 0}}));
        let began_with = 4;
        assert_eq!(
            nothing,
            Traffic {
                began_with,
                ..Traffic::default()
            }
        );
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
        // Four runs of 250 requests, each with one before it on each of four connections.
        let per_connection = |seen| {
            let one = traffic(seen);
            let four = Traffic::joined([&one, &one, &one, &one]);
            four.over(1000).requests_per_connection
        };
        assert_eq!(per_connection(json!({"Connections": 0})), None);
        assert_eq!(per_connection(json!({"Connections": 250})), Some(1.0));
        assert_eq!(
            per_connection(json!({"Connections": 23})),
            Some(1016.0 / 108.0)
        );
        // A failure closes its connection; the service kept it.
        assert_eq!(
            per_connection(json!({"Connections": 5, "Failures": {"cut": 5}})),
            None
        );
    }
}
