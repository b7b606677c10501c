//! Climbs whose steps show little: failed requests, and results that cannot be read.

use serde_json::{Value, json};

use wasmbench_model::wire::record::Record;
use wasmbench_report::report_files_of;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::{Doubt, Reason};

const VARIANTS: [&str; 2] = ["light", "heavy"];
const MIB: u64 = 1 << 20;

fn run() -> RunInput {
    RunInput {
        namespace: "default".into(),
        name: "idle".into(),
        uid: "u1".into(),
        seed: 1,
        spec: serde_json::from_value(json!({
            "blocks": 5, "noiseFloor": false,
            "variants": VARIANTS.map(|name| json!({"name": name, "preset": "native"})),
            "workloads": [{"name": "hello"}],
            "sweeps": {"density": {"instances": [1, 2, 5]}},
        }))
        .unwrap(),
    }
}

fn fortio(name: &str) -> Value {
    let text = match name {
        "ok" => include_str!("../fixtures/fortio/ok.json"),
        _ => include_str!("../fixtures/fortio/errors.json"),
    };
    serde_json::from_str(text).unwrap()
}

/// A climb in which the first instance answered every request, over windows of two seconds on two
/// quiet CPUs.
fn climb(variant: &str, block: u32, position: u32) -> Record {
    let per = if variant == "heavy" { 24 } else { 10 } * MIB + u64::from(block) * 10_000;
    let step = |instances: u64| {
        json!({
            "instances": instances, "added": 1, "allAnsweredNanoseconds": 900_000_000u64,
            "memory": {"podsBytes": 30 * MIB + instances * per},
            "first": {
                "startUnixNanoseconds": 0, "durationNanoseconds": 2_000_000_000u64,
                "resolutionSeconds": 0.00001, "repeats": 0, "fortio": fortio("ok"),
                "subject": {"cgroupVersion": 2, "cpuNanoseconds": 1_000_000_000u64,
                    "memoryBytes": MIB},
                "generatorCpuNanoseconds": 1_000_000_000u64,
                "node": {"busyNanoseconds": 2_100_000_000u64, "stealNanoseconds": 0},
            },
        })
    };
    serde_json::from_value(json!({
        "schema": "wasmbench.dev/record/v2", "runUid": "u1", "operatorVersion": "0.1.0",
        "trial": {"variant": variant, "workload": "hello", "sweep": "density", "block": block},
        "position": position, "outcome": "measured",
        "recordedAt": "2026-01-05T10:00:00Z",
        "density": {
            "schema": "wasmbench.dev/density/v1", "probeVersion": "0.1.0",
            "steps": [step(1), step(2), step(5)],
            "environment": {"facts": {"cpus": "0-1"}},
        },
    }))
    .unwrap()
}

/// The summary if `change` is applied to the window of step `at` (from 0) of `heavy` in these
/// blocks.
fn with_step(at: usize, blocks: &[u32], change: impl Fn(&mut Value)) -> Summary {
    let mut records = vec![];
    for block in 1..=5 {
        for variant in VARIANTS {
            let position = u32::try_from(records.len()).unwrap();
            records.push(climb(variant, block, position));
        }
    }
    let is_changed =
        |r: &&mut Record| r.trial.cell.variant == "heavy" && blocks.contains(&r.trial.block);
    for record in records.iter_mut().filter(is_changed) {
        let first = &mut record.density_mut().unwrap().steps[at].first;
        let mut window = serde_json::to_value(&*first).unwrap();
        change(&mut window);
        *first = serde_json::from_value(window).unwrap();
    }
    summarize(&run(), &records)
}

fn found(summary: &Summary, reason: Reason) -> Vec<&Doubt> {
    let doubts = summary.doubts.iter();
    doubts.filter(|doubt| doubt.reason == reason).collect()
}

fn is_compared(summary: &Summary) -> bool {
    let mut compared = summary.comparisons.iter();
    compared.any(|one| one.variant == "heavy")
}

#[test]
fn climbs_without_problems_are_compared_without_a_doubt_or_note() {
    let summary = with_step(0, &[], |_| ());
    assert!(is_compared(&summary));
    assert_eq!(summary.trustworthy, Some(true));
    assert_eq!(found(&summary, Reason::ErrorsInLoad), Vec::<&Doubt>::new());
}

#[test]
fn a_variant_whose_first_instance_sometimes_fails_is_not_compared() {
    let summary = with_step(2, &[2, 3], |window| window["fortio"] = fortio("errors"));
    let heavy = &summary.density[1];
    assert_eq!(heavy.invalid_because, [Reason::ErrorsInLoad]);
    assert!(!is_compared(&summary));
    assert_eq!(summary.trustworthy, Some(false));
    let doubts = found(&summary, Reason::ErrorsInLoad);
    assert!(doubts[0].breaks_trust);
    let place = "density of heavy on hello (at 5 instances in 2 block(s), 2352 failed requests)";
    assert!(doubts[0].message.contains(place), "{doubts:?}");
    let report = &report_files_of(&summary).unwrap()["report.md"];
    let message = "heavy: requests to the first instance failed at 5 instances in 2 block(s)";
    assert!(report.contains(message), "{report}");
}

#[test]
fn an_unreadable_load_keeps_its_variant_out_of_comparisons() {
    let plants: [fn(&mut Value); 2] = [
        |window| window["fortio"] = json!({}),
        |window| {
            let empty = json!({"Count": 0, "Sum": 0, "Data": null});
            window["fortio"]["DurationHistogram"] = empty.clone();
            window["fortio"]["ErrorsDurationHistogram"] = empty;
            window["fortio"]["RetCodes"] = json!({});
        },
    ];
    for plant in plants {
        let summary = with_step(0, &[4], plant);
        assert!(!is_compared(&summary));
        let doubts = found(&summary, Reason::ErrorsInLoad);
        let place = "at 1 instances in 1 block(s), 1 unreadable result(s)";
        assert!(doubts[0].message.contains(place), "{doubts:?}");
    }
}
