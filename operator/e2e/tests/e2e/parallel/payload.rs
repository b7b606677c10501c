//! Payload: bodies up to 1 MiB come back from a native gateway, from one that passes them through an
//! instance, and from a server that is Wasm itself; each has a fixed cost and a cost per megabyte.

use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_model::wire::record::{Point, Record};

/// `actions` is never planned, because functions have no echo.
const BODIES: &str = r"
blocks: 2
seed: 1
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded, engine: {allocator: Pooling}}
- {name: server, preset: wasmedge-server}
- {name: actions, preset: action-native}
workloads: [{name: echo, path: '/echo?text', expect: {body: text}}]
sweeps:
  payload: {bytes: [0, 16384, 1048576], connections: 2, durationSeconds: 1, warmupSeconds: 1}
";
const SIZES: [u32; 3] = [0, 16_384, 1_048_576];
/// What the embedded gateway puts before every body.
const PREFIX: u64 = 5;

fn check(record: &Record) {
    let trial = &record.trial;
    assert_eq!(trial.cell.point, Point::Payload);
    let document = record.load().expect("a document");
    assert_eq!(document.failure, None, "{trial}");
    let sizes: Vec<u32> = document.sizes.iter().map(|size| size.bytes).collect();
    assert_eq!(sizes, SIZES, "{trial}");
    let prefix = if trial.cell.variant == "embedded" {
        PREFIX
    } else {
        0
    };
    for size in &document.sizes {
        assert_eq!(size.answer_bytes, u64::from(size.bytes) + prefix, "{trial}");
        assert!(size.requests > 0 && size.failed == 0, "{trial}: {size:?}");
        let subject = size.window.subject.as_ref().expect("counters");
        assert!(subject.cpu_nanoseconds > 0, "{trial}: {size:?}");
    }
}

#[tokio::test]
async fn bodies_come_back_from_every_kind_of_gateway_and_cost_per_request_and_per_megabyte() {
    with_namespace("payload", |client, namespace| async move {
        let (run, records) = runs::measured(&client, &namespace, ("bodies", BODIES), 420, 6).await;
        records.iter().for_each(check);

        let status = run.status.as_ref().expect("a status");
        let not_applicable = &status.not_applicable;
        assert!(
            not_applicable.iter().any(|one| one.variant == "actions"),
            "{not_applicable:?}"
        );
        for variant in ["native", "embedded", "server"] {
            let row = status.summary.iter().find(|row| row.variant == variant);
            let found = row.and_then(|row| row.payload.as_ref()).expect("a payload");
            println!("{variant}: {found:?}");
            assert_eq!((found.trials, found.sizes.len()), (2, SIZES.len()));
            let slope = found.cpu_microseconds_per_megabyte.expect("a cost per MB");
            assert!(
                slope > 0.0 && found.fixed_cpu_microseconds.is_some(),
                "{found:?}"
            );
        }
        let shown = kubectl(&["wasmbench", "get", "bodies", "-n", &namespace]).await;
        println!("{}", shown.stdout);
        for text in ["PAYLOAD", "CPU/MB", "1.00 MiB at"] {
            assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
        }
        let report = kubectl(&["wasmbench", "report", "bodies", "-n", &namespace]).await;
        assert!(
            report.stdout.contains("## What bytes cost"),
            "{}",
            report.stdout
        );
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}
