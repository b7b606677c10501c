//! How long trials of the samples take, compared with what `kubectl wasmbench plan` says before. Run only by
//! `make bench`.

use std::path::Path;

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::plan::expected_trial_seconds;
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::{missing, within};
use wasmbench_model::images::Images;
use wasmbench_model::pace::Noted;
use wasmbench_model::wire::record::{Outcome, Record};

/// One of each sweep, and how many of its blocks are measured: an estimate is for each trial.
const SAMPLES: [(&str, u32); 6] = [
    ("quickstart", 3),
    ("wasm-shim", 1),
    ("open-loop", 2),
    ("cold-start", 2),
    ("density", 2),
    ("payload", 1),
];

/// An estimate is right within this share.
const WITHIN: f64 = 0.2;
const LONGEST_TRIAL_SECONDS: u64 = 300;

/// The spec of a sample with so many blocks, as JSON, which is YAML too.
fn spec_of(sample: &str, blocks: u32) -> String {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests/samples");
    let text = std::fs::read_to_string(samples.join(format!("{sample}.yaml")));
    let run: Value = serde_yaml::from_str(&text.expect("a sample")).expect("YAML");
    let mut spec = run["spec"].clone();
    spec["blocks"] = json!(blocks);
    spec.to_string()
}

/// The run as the plan sees it: neither images nor accounts change how long it takes.
fn planned(run: &BenchmarkRun) -> ValidatedRun {
    let config = json!({
        "operatorNamespace": "any", "coldStartServiceAccount": "any",
        "images": Images::in_registry("example.com", "1"),
    });
    let config: OperatorConfig = serde_json::from_value(config).expect("a configuration");
    validate(run, &config).expect("a valid run")
}

/// Seconds that the measured trials took, and those that were expected of them. A trial begins when the one before has its
/// record; those with a window that was measured again are left out.
fn taken_and_expected(run: &ValidatedRun, mut records: Vec<Record>) -> (f64, f64) {
    records.sort_by_key(|record| record.recorded_at);
    let (mut taken, mut expected) = (0.0, 0.0);
    for pair in records.windows(2) {
        let (before, record) = (&pair[0], &pair[1]);
        let is_plain = Noted::from(record).repeated_windows == 0;
        if record.outcome != Outcome::Measured || record.trial.is_scout() || !is_plain {
            continue;
        }
        taken += seconds_between(before.recorded_at, record.recorded_at);
        expected += expected_trial_seconds(run, &record.trial) as f64;
    }
    (taken, expected)
}

fn seconds_between(from: Timestamp, upto: Timestamp) -> f64 {
    upto.duration_since(from).as_secs_f64()
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn trials_of_the_samples_take_as_long_as_their_plan_says() {
    with_namespace("estimate", |client, namespace| async move {
        let mut keeps = vec![];
        for (sample, blocks) in SAMPLES {
            let spec = spec_of(sample, blocks);
            let created = runs::create(&client, &namespace, sample, &spec).await;
            runs::finished(&client, &namespace, sample, LONGEST_TRIAL_SECONDS).await;
            let records = runs::all_records(&client, &created).await;
            let (taken, expected) = taken_and_expected(&planned(&created), records);
            let name = format!("estimate-{sample}-taken-vs-planned");
            keeps.push(if expected > 0.0 {
                within(
                    &name,
                    taken / expected,
                    "ratio",
                    &(1.0 - WITHIN..=1.0 + WITHIN),
                )
            } else {
                missing(&name)
            });
        }
        assert!(keeps.iter().all(|keeps| *keeps));
    })
    .await;
}
