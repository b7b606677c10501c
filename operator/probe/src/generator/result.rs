//! What the probe itself needs from the generator's JSON, which is in fortio's format: when the window was, how many requests were
//! answered as expected, and where the latencies lie. Everything else is passed on untouched. Pure;
//! a missing part is an error or absent, never a zero.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::child::Error;
use crate::buckets::Distribution;

/// One run of the generator.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Version of fortio's runner.
    pub version: String,
    /// Start on the wall clock, nanoseconds since the Unix epoch.
    pub start_unix_nanoseconds: i64,
    /// Length on the monotonic clock.
    pub duration: Duration,
    /// Requests sent.
    pub requests: u64,
    /// Requests answered with the expected status.
    pub expected: u64,
    /// Latencies, in seconds; absent without any request.
    pub distribution: Option<Distribution>,
    /// All that the generator printed.
    pub json: Value,
}

impl Run {
    /// Reads the generator's output; a request was answered as expected if its status was `status`.
    pub fn parse(output: &[u8], status: u16) -> Result<Self, Error> {
        let json: Value = serde_json::from_slice(output).map_err(|error| {
            let head = String::from_utf8_lossy(&output[..output.len().min(80)]).into_owned();
            Error::Output(format!("{error}; it begins with '{}'", head.escape_debug()))
        })?;
        let missing = |what: &str| Error::Output(format!("it has no {what}"));
        let start: Timestamp = json["StartTime"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| missing("StartTime"))?;
        let start_unix_nanoseconds =
            i64::try_from(start.as_nanosecond()).map_err(|_| missing("StartTime in this age"))?;
        let nanoseconds = json["ActualDuration"].as_u64().filter(|length| *length > 0);
        let histogram = &json["DurationHistogram"];
        let codes = json["RetCodes"].as_object();
        let expected = codes.and_then(|codes| codes.get(&status.to_string())?.as_u64());
        Ok(Self {
            version: json["Version"].as_str().unwrap_or_default().to_owned(),
            start_unix_nanoseconds,
            duration: Duration::from_nanos(nanoseconds.ok_or_else(|| missing("ActualDuration"))?),
            requests: histogram["Count"]
                .as_u64()
                .ok_or_else(|| missing("DurationHistogram"))?,
            expected: expected.unwrap_or_default(),
            distribution: distribution([histogram]),
            json,
        })
    }

    /// Requests per second.
    pub fn rps(&self) -> f64 {
        self.requests as f64 / self.duration.as_secs_f64()
    }

    /// The number of answers by status, as text for people.
    pub fn codes(&self) -> String {
        let codes = self.json["RetCodes"].as_object();
        let one = |(code, count): (&String, &Value)| match code.as_str() {
            "-1" => format!("{count} without an answer"),
            code => format!("{count} with status {code}"),
        };
        codes
            .map(|codes| codes.iter().map(one).collect::<Vec<_>>().join(", "))
            .unwrap_or_default()
    }
}

/// Percentiles of several runs with the same buckets, taken together; `None` without any request.
pub fn distribution<'a>(histograms: impl IntoIterator<Item = &'a Value>) -> Option<Distribution> {
    let mut buckets: Vec<Bucket> = histograms
        .into_iter()
        .filter_map(|one| one["Data"].as_array())
        .flatten()
        .filter_map(Bucket::from_json)
        .collect();
    buckets.sort_by(|one, other| one.end.total_cmp(&other.end));
    let at = |share| quantile(&buckets, share);
    Some(Distribution {
        p50: at(0.5)?,
        p99: at(0.99)?,
        p999: at(0.999)?,
    })
}

/// A bucket of a histogram, in seconds. The first and last buckets are cut off where the latencies
/// end.
#[derive(Clone, Copy)]
struct Bucket {
    start: f64,
    end: f64,
    count: f64,
}

impl Bucket {
    fn from_json(json: &Value) -> Option<Self> {
        Some(Self {
            start: json["Start"].as_f64()?,
            end: json["End"].as_f64()?,
            count: json["Count"].as_f64().filter(|count| *count > 0.0)?,
        })
    }
}

/// The value that a share of all latencies does not exceed, interpolated within its bucket as in
/// fortio. Computed here because the list `Percentiles` depends on flags and may be absent.
fn quantile(buckets: &[Bucket], share: f64) -> Option<f64> {
    let wanted = share * buckets.iter().map(|bucket| bucket.count).sum::<f64>();
    let mut below = 0.0;
    for Bucket { start, end, count } in buckets {
        let upto = below + count;
        if upto >= wanted {
            return Some(start + (wanted - below) / count * (end - start));
        }
        below = upto;
    }
    Some(buckets.last()?.end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn output() -> Value {
        json!({
            "StartTime": "2026-11-21T04:08:09.104927623Z",
            "ActualDuration": 2_000_000_000u64,
            "Version": "1.68.2",
            "RetCodes": {"200": 98, "-1": 2},
            "DurationHistogram": {"Count": 100, "Min": 0.001, "Max": 0.01, "Data": [
                {"Start": 0.001, "End": 0.002, "Percent": 60, "Count": 60},
                {"Start": 0.002, "End": 0.004, "Percent": 99, "Count": 39},
                {"Start": 0.009, "End": 0.01, "Percent": 100, "Count": 1},
            ]},
        })
    }

    fn parse(json: &Value) -> Result<Run, String> {
        Run::parse(json.to_string().as_bytes(), 200).map_err(|error| error.to_string())
    }

    #[test]
    fn a_result_is_read() {
        let run = parse(&output()).unwrap();
        assert_eq!(run.start_unix_nanoseconds, 1_795_234_089_104_927_623);
        assert_eq!((run.requests, run.expected), (100, 98));
        assert!((run.rps() - 50.0).abs() < 1e-9);
        let distribution = run.distribution.unwrap();
        assert!(
            (distribution.p50 - 0.001_833).abs() < 1e-5,
            "{distribution:?}"
        );
        assert!(
            (0.0039..=0.004).contains(&distribution.p99) && distribution.p999 > 0.009,
            "{distribution:?}"
        );
        assert_eq!(run.codes(), "2 without an answer, 98 with status 200");
    }

    #[test]
    fn other_statuses_are_not_successes() {
        let run = Run::parse(output().to_string().as_bytes(), 404).unwrap();
        assert_eq!(run.expected, 0);
    }

    #[test]
    fn an_empty_histogram_has_no_percentiles() {
        let mut json = output();
        json["DurationHistogram"] = json!({"Count": 0, "Data": null});
        let run = parse(&json).unwrap();
        assert_eq!((run.distribution, run.requests), (None, 0));
    }

    #[test]
    fn a_missing_field_is_named() {
        for part in ["StartTime", "ActualDuration", "DurationHistogram"] {
            let mut json = output();
            json.as_object_mut().unwrap().remove(part);
            assert!(parse(&json).unwrap_err().contains(part));
        }
    }

    #[test]
    fn text_instead_of_json_is_shown() {
        let error = Run::parse(b"Aborting because\n", 200)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(r"begins with 'Aborting because\n'"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn any_change_of_a_part_is_an_error_or_a_result_but_no_panic(
            part in "(StartTime|ActualDuration|DurationHistogram|RetCodes|Version)",
            value in prop_oneof![
                Just(json!(null)), Just(json!([])), Just(json!("x")), Just(json!(-1)),
                Just(json!({"Count": -1, "Data": [{}]})), Just(json!(1e300)),
            ],
        ) {
            let mut json = output();
            json[part.as_str()] = value;
            let _ = parse(&json);
        }

        #[test]
        fn percentiles_grow(counts in prop::collection::vec(1u32..50, 1..20)) {
            let data: Vec<Value> = counts.iter().enumerate().map(|(at, count)| {
                json!({"Start": at, "End": at + 1, "Count": count})
            }).collect();
            let histogram = json!({"Data": data});
            let distribution = distribution([&histogram]).unwrap();
            prop_assert!(distribution.p50 <= distribution.p99);
            prop_assert!(distribution.p99 <= distribution.p999);
        }
    }
}
