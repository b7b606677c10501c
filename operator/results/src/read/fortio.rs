//! Parses the needed parts of what the load generator prints, which is what fortio's runner reports
//! and what was seen of the answers: its JSON in, plain numbers out. A missing or
//! contradictory part is an error that names the part, never a panic and never a zero.
//!
//! Traps of the format: names are PascalCase; `ActualDuration` is in nanoseconds while histograms
//! are in seconds; `RetCodes` has text keys and -1 for requests without a response; `Data` is null
//! if a histogram is empty; `DurationHistogram` holds the failed requests too.

use std::collections::BTreeMap;

use serde::Deserialize;
use wasmbench_model::wire::document::TimedWindow;

use crate::read::histogram::{Bucket, Histogram};
use crate::read::traffic::{Seen, Traffic};

/// The checked result of the load generator for one window.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Length of the window on the generator's clock, in seconds.
    pub seconds: f64,
    /// Requests with the expected status.
    pub succeeded: u64,
    /// All other requests.
    pub failed: u64,
    /// Failed requests by status; [`NO_ANSWER`] stands for no response. Empty if the generator does not
    /// report it.
    pub failed_by_status: BTreeMap<i32, u64>,
    /// Latency of the successful requests, in microseconds.
    pub latency: Histogram,
    /// Rate times mean latency of all requests as a share of the connections: by Little's law, the
    /// share that was waiting for a response. Absent if the generator does not report its connections.
    pub connections_busy: Option<f64>,
    /// What the generator saw.
    pub traffic: Traffic,
}

/// The status under which the generator counts requests without a response.
pub const NO_ANSWER: i32 = -1;

/// The JSON is not a usable result of the load generator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A part does not have the shape that the generator gives it.
    #[error("the load generator's output has an unknown shape: {0}")]
    Shape(#[source] serde_json::Error),
    /// A part is missing.
    #[error("the load generator's output has no {0}")]
    Missing(&'static str),
    /// Parts contradict each other.
    #[error("the load generator's output contradicts itself: {0}")]
    Contradiction(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RunnerResults {
    actual_duration: Option<i64>,
    duration_histogram: Option<HistogramData>,
    errors_duration_histogram: Option<HistogramData>,
    ret_codes: Option<BTreeMap<String, u32>>,
    num_threads: Option<u32>,
    seen: Option<Seen>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HistogramData {
    // Signed, because fortio counts in an int that can overflow on 32-bit builds.
    count: i64,
    sum: Option<f64>,
    data: Option<Vec<BucketData>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BucketData {
    start: f64,
    end: f64,
    count: i64,
}

/// The combined result of the runs of a window, and the rate of each run, in successful
/// requests per second.
pub fn from_window(window: &TimedWindow, expected_status: u16) -> Result<(Load, Vec<f64>), Error> {
    let all = window
        .runs()
        .map(|json| parse(json, expected_status))
        .collect::<Result<Vec<Load>, Error>>()?;
    let rates = all.iter().map(|load| load.succeeded as f64 / load.seconds);
    Ok((joined(&all), rates.collect()))
}

/// Combines several consecutive runs.
fn joined(all: &[Load]) -> Load {
    let seconds: f64 = all.iter().map(|load| load.seconds).sum();
    let busy: Option<f64> = all
        .iter()
        .map(|load| Some(load.connections_busy? * load.seconds))
        .sum();
    let histograms: Vec<Histogram> = all.iter().map(|load| load.latency.clone()).collect();
    let succeeded: u64 = all.iter().map(|load| load.succeeded).sum();
    let failed: u64 = all.iter().map(|load| load.failed).sum();
    Load {
        seconds,
        succeeded,
        failed,
        failed_by_status: added(all.iter().map(|load| &load.failed_by_status)),
        latency: Histogram::joined(&histograms),
        connections_busy: busy.map(|busy| busy / seconds),
        traffic: Traffic::joined(all.iter().map(|load| &load.traffic)).over(succeeded + failed),
    }
}

/// Counts by status, added up.
pub fn added<'a>(all: impl Iterator<Item = &'a BTreeMap<i32, u64>>) -> BTreeMap<i32, u64> {
    let mut sums = BTreeMap::new();
    for (status, count) in all.flatten() {
        *sums.entry(*status).or_default() += count;
    }
    sums
}

/// Reads the JSON of one run; a request succeeded when it was answered with `expected_status`.
pub fn parse(json: &serde_json::Value, expected_status: u16) -> Result<Load, Error> {
    let results = RunnerResults::deserialize(json).map_err(Error::Shape)?;
    let nanoseconds = results
        .actual_duration
        .ok_or(Error::Missing("ActualDuration"))?;
    if nanoseconds <= 0 {
        return Err(Error::Contradiction(format!(
            "ActualDuration is {nanoseconds} ns"
        )));
    }
    let all = results
        .duration_histogram
        .ok_or(Error::Missing("DurationHistogram"))?;
    let connections = results.num_threads.filter(|connections| *connections > 0);
    let connections_busy = all
        .sum
        .zip(connections)
        .map(|(sum, connections)| sum / (nanoseconds as f64 / 1e9) / f64::from(connections));
    let all = histogram(&all, "DurationHistogram")?;
    let errors = results
        .errors_duration_histogram
        .map(|data| histogram(&data, "ErrorsDurationHistogram"))
        .transpose()?;
    let failed = failed(
        results.ret_codes.as_ref(),
        errors.as_ref(),
        &all,
        expected_status,
    )?;
    let latency = match errors {
        Some(errors) if failed > 0 => all.without(&errors).map_err(Error::Contradiction)?,
        _ => all.clone(),
    };
    let succeeded = all.count() - failed;
    Ok(Load {
        seconds: nanoseconds as f64 / 1e9,
        succeeded,
        failed,
        failed_by_status: failed_by_status(results.ret_codes.as_ref(), expected_status),
        latency,
        connections_busy,
        traffic: results
            .seen
            .map(|seen| Traffic::new(seen, connections.unwrap_or_default().into()))
            .unwrap_or_default(),
    })
}

fn histogram(data: &HistogramData, name: &str) -> Result<Histogram, Error> {
    let microseconds = |bucket: &BucketData| {
        let count = u32::try_from(bucket.count).ok()?.into();
        Some(Bucket {
            start: bucket.start * 1e6,
            end: bucket.end * 1e6,
            count,
        })
    };
    let buckets: Option<Vec<Bucket>> = data.data.iter().flatten().map(microseconds).collect();
    let wrong = |what: &str| Error::Contradiction(format!("{name} {what}"));
    let buckets = buckets.ok_or_else(|| wrong("has a count that is negative or too large"))?;
    let histogram = Histogram::new(buckets).map_err(|what| wrong(&what))?;
    if i64::try_from(histogram.count()).ok() == Some(data.count) {
        Ok(histogram)
    } else {
        let (sum, count) = (histogram.count(), data.count);
        Err(wrong(&format!(
            "has {sum} requests in its buckets and {count} in Count"
        )))
    }
}

/// The number of requests that were not answered with the expected status.
fn failed(
    codes: Option<&BTreeMap<String, u32>>,
    errors: Option<&Histogram>,
    all: &Histogram,
    expected_status: u16,
) -> Result<u64, Error> {
    let Some(codes) = codes else {
        let errors = errors.ok_or(Error::Missing("RetCodes and no ErrorsDurationHistogram"))?;
        return Ok(errors.count());
    };
    let answered: u64 = codes.values().copied().map(u64::from).sum();
    if answered != all.count() {
        return Err(Error::Contradiction(format!(
            "RetCodes has {answered} requests and DurationHistogram {}",
            all.count()
        )));
    }
    let expected = codes.get(&expected_status.to_string()).copied();
    Ok(answered - u64::from(expected.unwrap_or_default()))
}

fn failed_by_status(
    codes: Option<&BTreeMap<String, u32>>,
    expected_status: u16,
) -> BTreeMap<i32, u64> {
    let mut all = BTreeMap::new();
    for (code, count) in codes.into_iter().flatten() {
        let status = code.parse().unwrap_or(NO_ANSWER);
        if status != i32::from(expected_status) {
            *all.entry(status).or_default() += u64::from(*count);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn golden(name: &str) -> Value {
        let text = match name {
            "ok" => include_str!("../../../report/tests/fixtures/fortio/ok.json"),
            "errors" => include_str!("../../../report/tests/fixtures/fortio/errors.json"),
            "exactly" => include_str!("../../../report/tests/fixtures/fortio/exactly.json"),
            _ => include_str!("../../../report/tests/fixtures/fortio/refused.json"),
        };
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn percentiles_without_errors_are_those_of_fortio() {
        for name in ["ok", "exactly"] {
            let json = golden(name);
            let load = parse(&json, 200).unwrap();
            let all = json["DurationHistogram"]["Percentiles"].as_array().unwrap();
            assert!(!all.is_empty(), "{name}");
            for theirs in all {
                let share = theirs["Percentile"].as_f64().unwrap() / 100.0;
                let theirs = theirs["Value"].as_f64().unwrap() * 1e6;
                let ours = load.latency.percentile(share).unwrap();
                assert!(
                    (ours - theirs).abs() < 1e-6 * theirs,
                    "{name} {share}: {ours} {theirs}"
                );
            }
        }
    }

    #[test]
    fn a_closed_loop_keeps_its_connections_busy() {
        for name in ["ok", "errors", "exactly"] {
            let busy = parse(&golden(name), 200).unwrap().connections_busy;
            assert!((0.99..=1.001).contains(&busy.unwrap()), "{name}: {busy:?}");
        }
        let mut json = golden("ok");
        json.as_object_mut().unwrap().remove("NumThreads");
        assert_eq!(parse(&json, 200).unwrap().connections_busy, None);
    }

    #[test]
    fn a_fixed_number_of_requests_is_read_like_a_fixed_time() {
        let load = parse(&golden("exactly"), 200).unwrap();
        assert_eq!((load.succeeded, load.failed), (300, 0));
        assert!(load.seconds > 0.0 && load.seconds < 1.0);
    }

    #[test]
    fn failed_requests_are_taken_out_of_the_latency() {
        let json = golden("errors");
        let load = parse(&json, 200).unwrap();
        assert_eq!(load.failed, json["RetCodes"]["500"].as_u64().unwrap());
        assert_eq!(load.succeeded, json["RetCodes"]["200"].as_u64().unwrap());
        assert_eq!(load.latency.count(), load.succeeded);
    }

    #[test]
    fn a_window_of_refused_connections_has_no_success() {
        let load = parse(&golden("refused"), 200).unwrap();
        assert_eq!((load.succeeded, load.failed), (0, 20));
        assert_eq!(load.latency.percentile(0.5), None);
    }

    #[test]
    fn an_expected_status_that_fortio_calls_an_error_is_a_success() {
        let mut json = golden("refused");
        json["RetCodes"] = json!({"404": 20});
        let load = parse(&json, 404).unwrap();
        assert_eq!((load.succeeded, load.failed), (20, 0));
        assert!(load.latency.percentile(0.5).is_some());
    }

    #[test]
    fn an_unexpected_status_that_fortio_calls_a_success_is_a_failure() {
        let mut json = golden("exactly");
        json["RetCodes"] = json!({"200": 299, "204": 1});
        assert_eq!(parse(&json, 200).unwrap().failed, 1);
    }

    #[test]
    fn every_missing_part_is_named() {
        for part in ["ActualDuration", "DurationHistogram"] {
            let mut json = golden("ok");
            json.as_object_mut().unwrap().remove(part);
            assert!(parse(&json, 200).unwrap_err().to_string().contains(part));
        }
        let mut json = golden("ok");
        json.as_object_mut().unwrap().remove("RetCodes");
        assert_eq!(parse(&json, 200).unwrap().failed, 0);
        json.as_object_mut()
            .unwrap()
            .remove("ErrorsDurationHistogram");
        assert!(
            parse(&json, 200)
                .unwrap_err()
                .to_string()
                .contains("RetCodes")
        );
    }

    #[test]
    fn contradictions_are_refused() {
        let mut json = golden("ok");
        json["DurationHistogram"]["Count"] = json!(1);
        assert!(matches!(parse(&json, 200), Err(Error::Contradiction(_))));
        let mut json = golden("ok");
        json["RetCodes"] = json!({"200": 1});
        assert!(matches!(parse(&json, 200), Err(Error::Contradiction(_))));
        let mut json = golden("ok");
        json["DurationHistogram"]["Data"][0]["Count"] = json!(-5);
        assert!(matches!(parse(&json, 200), Err(Error::Contradiction(_))));
    }

    #[test]
    fn something_else_than_a_result_is_refused() {
        for json in [
            json!(null),
            json!("text"),
            json!([1]),
            json!({"ActualDuration": "1s"}),
        ] {
            assert!(parse(&json, 200).is_err());
        }
    }
}
