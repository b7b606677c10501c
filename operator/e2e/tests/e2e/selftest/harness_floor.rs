//! The harness's part of a cold start, compared with a service that only listens.

use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{runs, selftest};
use wasmbench_model::wire::cold_start::{ColdSample, ColdStartDocument, ColdStep};
use wasmbench_model::wire::record::{Point, Record};

const NATIVE: &str = r"
blocks: 3
seed: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {coldStart: {samples: 3, concurrency: [1, 3]}}
";

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_pod_of_the_harness_floor_starts_as_the_native_one_does() {
    with_namespace("floor", |client, namespace| async move {
        runs::create(&client, &namespace, "floor", NATIVE).await;
        let run = runs::finished(&client, &namespace, "floor", 420).await;
        check_floor(&runs::records(&client, &run).await);
    })
    .await;
}

/// A pod of the harness's floor starts like the native one: both only listen. The shortest starts
/// are compared, because disturbances on a node make starts longer and never shorter.
fn check_floor(records: &[Record]) {
    for concurrency in [1, 3] {
        let point = Point::ColdStart { concurrency };
        let cells = records.iter().map(|record| (&record.trial.cell, record));
        let documents: Vec<&ColdStartDocument> = cells
            .filter(|(cell, _)| cell.variant == "native" && cell.point == point)
            .filter_map(|(_, record)| record.cold_start())
            .collect();
        let native = shortest(documents.iter().flat_map(|document| &document.samples));
        let floor = shortest(documents.iter().flat_map(|document| &document.floor));
        let ratio = floor / native;
        selftest::found(
            "harness floor / native start",
            &format!("{ratio:.2}"),
            "0.5 to 2",
        );
        assert!((0.5..2.0).contains(&ratio), "{floor} {native}");
    }
}

/// The shortest time to listening in the samples that count, in nanoseconds.
fn shortest<'a>(samples: impl Iterator<Item = &'a ColdSample>) -> f64 {
    let pods = samples
        .filter(|sample| sample.counts())
        .flat_map(|sample| &sample.pods);
    let times = pods.filter_map(|pod| pod.since_create(ColdStep::Listening));
    times.min().expect("a time") as f64
}
