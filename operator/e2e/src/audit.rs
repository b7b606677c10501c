//! The audit log of the API server: which requests one user made, and when.

use std::fs::File;
use std::io::{BufRead, BufReader};

use jiff::Timestamp;
use serde::Deserialize;

/// A request that was answered, or a watch that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `get`, `list`, `watch`, `create`, ...
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// When the request arrived, in nanoseconds since the Unix epoch.
    pub received: i128,
    /// When the request was answered. Opening a watch is a request, but its continuation is not.
    pub answered: i128,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    stage: String,
    verb: String,
    #[serde(rename = "requestURI")]
    uri: String,
    user: User,
    request_received_timestamp: Timestamp,
    stage_timestamp: Timestamp,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

/// The audit log of the local cluster, at the path that `hack/selftest` sets.
pub fn log() -> File {
    let path = std::env::var("WASMBENCH_AUDIT_LOG").expect(
        "WASMBENCH_AUDIT_LOG names no file: run 'make selftest' on a cluster that was started \
         with 'hack/cluster up --audit'",
    );
    File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All completed requests of `user` in this log.
pub fn calls_of(user: &str, log: impl std::io::Read) -> Vec<Call> {
    let quoted = format!("\"{user}\"");
    let lines = BufReader::new(log).lines().map_while(Result::ok);
    lines
        .filter(|line| line.contains(&quoted))
        // The last line may be incomplete.
        .filter_map(|line| serde_json::from_str::<Event>(&line).ok())
        .filter(|event| event.user.username == user)
        .filter_map(call)
        .collect()
}

fn call(event: Event) -> Option<Call> {
    let received = event.request_received_timestamp.as_nanosecond();
    let answered = match (event.verb.as_str(), event.stage.as_str()) {
        ("watch", "ResponseStarted") => received,
        ("watch", _) | (_, "ResponseStarted") => return None,
        _ => event.stage_timestamp.as_nanosecond(),
    };
    Some(Call {
        verb: event.verb,
        uri: event.uri,
        received,
        answered,
    })
}

/// The calls that were received, answered or in progress between two times.
pub fn within(calls: &[Call], start: i128, end: i128) -> Vec<&Call> {
    let touches = |call: &&Call| call.received <= end && start <= call.answered;
    calls.iter().filter(touches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: &str = "system:serviceaccount:ops:wasmbench";

    fn line(user: &str, verb: &str, stage: &str, received: u8, at: u8) -> String {
        format!(
            r#"{{"stage":"{stage}","verb":"{verb}","requestURI":"/x","user":{{"username":"{user}"}},"requestReceivedTimestamp":"2026-01-01T00:00:{received:02}.000000Z","stageTimestamp":"2026-01-01T00:00:{at:02}.000000Z"}}"#
        )
    }

    fn between(log: &[String], from: u8, to: u8) -> usize {
        let calls = calls_of(US, log.join("\n").as_bytes());
        let at = |second: u8| {
            let text = format!("2026-01-01T00:00:{second:02}Z");
            text.parse::<Timestamp>().unwrap().as_nanosecond()
        };
        within(&calls, at(from), at(to)).len()
    }

    #[test]
    fn a_call_counts_where_it_begins_where_it_ends_and_in_between() {
        let log = [line(US, "list", "ResponseComplete", 10, 20)];
        assert_eq!(between(&log, 5, 12), 1);
        assert_eq!(between(&log, 12, 18), 1);
        assert_eq!(between(&log, 18, 30), 1);
        assert_eq!(between(&log, 21, 30), 0);
    }

    #[test]
    fn a_watch_counts_where_it_is_opened_only() {
        let log = [
            line(US, "watch", "ResponseStarted", 10, 10),
            line(US, "watch", "ResponseComplete", 10, 40),
        ];
        assert_eq!(between(&log, 9, 11), 1);
        assert_eq!(between(&log, 20, 50), 0);
    }

    #[test]
    fn calls_of_others_and_broken_lines_do_not_count() {
        let log = [
            line("admin", "list", "ResponseComplete", 10, 20),
            format!("{{\"user\":\"{US}\""),
        ];
        assert_eq!(between(&log, 0, 59), 0);
    }
}
