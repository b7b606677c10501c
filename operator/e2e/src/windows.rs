//! When fortio ran within a timed window.

use jiff::Timestamp;
use serde_json::Value;
use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::record::Record;

/// Start and end of the timed window of a trial under load, in nanoseconds since the Unix epoch.
pub fn whole(record: &Record) -> (i128, i128) {
    let document = record.load().expect("a document");
    let timed = document.timed.as_ref().expect("a timed window");
    let parts = parts(timed);
    let (first, last) = (parts.first(), parts.last());
    (first.expect("a run").0, last.expect("a run").1)
}

/// Start and end of each run of fortio, in nanoseconds since the Unix epoch.
pub fn parts(timed: &TimedWindow) -> Vec<(i128, i128)> {
    let part = |fortio: &Value| {
        let start = fortio["StartTime"].as_str().expect("a start");
        let start: Timestamp = start.parse().expect("a time");
        let length = fortio["ActualDuration"].as_i64().expect("a length");
        (
            start.as_nanosecond(),
            start.as_nanosecond() + i128::from(length),
        )
    };
    timed.runs().map(part).collect()
}
