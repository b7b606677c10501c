//! The peak of a load on a schedule: what invalidates it also invalidates the rate derived from it.

use serde_json::{Value, json};

use wasmbench_model::wire::record::Record;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;

const SECOND: u64 = 1_000_000_000;

fn run() -> RunInput {
    RunInput {
        namespace: "default".into(),
        name: "tails".into(),
        uid: "u1".into(),
        seed: 1,
        spec: serde_json::from_value(json!({
            "blocks": 5, "noiseFloor": false,
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello"}],
            "sweeps": {"openLoop": {"ratesPercentOfPeak": [90]}},
        }))
        .unwrap(),
    }
}

/// A trial on four quiet CPUs with this `peak` of five seconds.
fn record(block: u32, peak: &Value) -> Record {
    let fortio = include_str!("../fixtures/fortio/ok.json");
    let fortio: Value = serde_json::from_str(fortio).unwrap();
    let times = json!({"p50Microseconds": 100.0, "p90Microseconds": 150.0,
        "p99Microseconds": 400.0, "maxMicroseconds": 900.0});
    serde_json::from_value(json!({
        "schema": "wasmbench.dev/record/v1", "runUid": "u1", "operatorVersion": "0.1.0",
        "trial": {"variant": "native", "workload": "hello", "sweep": "openLoop",
            "percentOfPeak": 90, "block": block},
        "position": block, "outcome": "measured", "recordedAt": "2026-01-05T10:00:00Z",
        "document": {
            "schema": "wasmbench.dev/load/v1", "probeVersion": "0.1.0", "fortioVersion": "1.68.2",
            "readiness": {"waitedMicroseconds": 900, "attempts": 1},
            "timed": {
                "startUnixNanoseconds": 0, "durationNanoseconds": 2 * SECOND,
                "resolutionSeconds": 0.00001, "repeats": 0, "fortio": fortio,
                "subject": {"cgroupVersion": 2, "cpuNanoseconds": SECOND, "memoryBytes": 4096},
                "generatorCpuNanoseconds": SECOND,
                "node": {"busyNanoseconds": 2 * SECOND + SECOND / 10, "stealNanoseconds": 0},
                "openLoop": {
                    "peak": peak, "connections": 50, "requestedRps": 18_000.0,
                    "achievedShare": 0.999, "requests": 25_000, "waitedShare": 0.02,
                    "service": times, "fromSchedule": times, "generatorDelay": times,
                },
            },
            "environment": {"facts": {"cpus": "0-3"}},
        },
    }))
    .unwrap()
}

/// The summary if `with` is applied to the peak in the first `changed` of five blocks.
fn with_peak(changed: u32, with: &Value) -> Summary {
    let record = |block| {
        let mut peak = json!({"rps": 20_000.0, "durationNanoseconds": 5 * SECOND, "failed": 0,
            "generatorCpuNanoseconds": 5 * SECOND, "othersCpuShare": 0.02, "stealShare": 0.0});
        for (key, value) in with
            .as_object()
            .unwrap()
            .iter()
            .filter(|_| block <= changed)
        {
            peak[key] = value.clone();
        }
        record(block, &peak)
    };
    summarize(&run(), &(1..=5).map(record).collect::<Vec<_>>())
}

fn invalid_because(changed: u32, with: &Value) -> Vec<Reason> {
    with_peak(changed, with).cells[0].invalid_because.clone()
}

#[test]
fn a_quiet_peak_or_one_with_only_a_rate_is_not_doubted() {
    let quiet = with_peak(0, &json!({}));
    assert_eq!(quiet.trustworthy, Some(true), "{:?}", quiet.doubts);
    let old = json!({"rps": 20_000.0, "durationNanoseconds": 5 * SECOND});
    let records: Vec<Record> = (1..=5).map(|block| record(block, &old)).collect();
    let summary = summarize(&run(), &records);
    assert_eq!(summary.cells[0].invalid_because, []);
    assert_eq!(summary.cells[0].detail.others_cpu_share_max, Some(0.0125));
}

#[test]
fn times_of_single_requests_are_exact_whatever_buckets_the_histogram_has() {
    let peak = json!({"rps": 20_000.0, "durationNanoseconds": 5 * SECOND});
    let in_one_bucket = |block| {
        let mut record = record(block, &peak);
        let document = record.load_mut().unwrap();
        let fortio = &mut document.timed.as_mut().unwrap().fortio;
        let histogram = &mut fortio["DurationHistogram"];
        let (count, max) = (histogram["Count"].clone(), histogram["Max"].clone());
        histogram["Data"] = json!([{"Start": 0.0, "End": max, "Percent": 100.0, "Count": count}]);
        record
    };
    let records: Vec<Record> = (1..=5).map(in_one_bucket).collect();
    let summary = summarize(&run(), &records);
    assert_eq!(summary.cells[0].invalid_because, []);
    let median = summary.cells[0].detail.p50_microseconds.unwrap().median;
    assert!((median - 100.0).abs() < 1e-9, "{median}");
}

#[test]
fn one_failed_request_at_the_peak_makes_the_point_invalid() {
    let summary = with_peak(1, &json!({"failed": 20}));
    assert_eq!(summary.cells[0].invalid_because, [Reason::ErrorsInLoad]);
    assert_eq!(summary.cells[0].detail.errors, 20);
    assert_eq!(summary.trustworthy, Some(false));
}

#[test]
fn trials_with_a_noisy_peak_count_and_many_are_doubted() {
    for noise in [json!({"othersCpuShare": 0.4}), json!({"stealShare": 0.1})] {
        let one = with_peak(1, &noise);
        assert_eq!((one.trials.valid, one.trials.invalid), (5, 0));
        assert_eq!(one.trustworthy, Some(true));
        let two = with_peak(2, &noise);
        assert!(two.cells[0].ranked);
        assert_eq!(two.trustworthy, Some(false));
        assert!(
            two.doubts
                .iter()
                .any(|doubt| doubt.reason == Reason::NodeNoisy)
        );
    }
}

#[test]
fn a_peak_set_by_the_generator_is_not_the_subjects_peak() {
    let used = |tenths: u64| json!({"generatorCpuNanoseconds": tenths * SECOND / 2});
    assert_eq!(
        invalid_because(1, &used(33)),
        [Reason::LoadGeneratorSaturated]
    );
    assert_eq!(invalid_because(5, &used(31)), []);
}
