//! Functions of the action protocol: native ones each in a pod of its own, many Wasm ones in one
//! pod. Both are started, called and counted by the same sweeps as services.

use std::collections::BTreeSet;

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{engines, runs};
use wasmbench_model::wire::cold_start::{ColdPod, ColdStep};
use wasmbench_model::wire::record::Record;

/// The engines whose images are always built.
const USUAL: &str = "\
- {name: wasmtime, preset: action-wasmtime}
- {name: wasmi, preset: action-wasmi}";

const OF_WASMER: &str = "\
- {name: wasmer, preset: action-wasmer}
- {name: wasmer-jit, preset: action-wasmer, engine: {compile: Jit}}";

const INTERPRETED: &str = "\
- {name: wamr, preset: action-wamr}
- {name: wasmi, preset: action-wasmi}";

fn spec(variants: &str) -> String {
    FUNCTIONS.replace("VARIANTS", variants)
}

const FUNCTIONS: &str = r"
blocks: 1
seed: 1
baseline: native
noiseFloor: false
resources: {requests: {cpu: 10m, memory: 16Mi}, limits: {memory: 512Mi}}
variants:
- {name: native, preset: action-native}
VARIANTS
workloads:
- {name: hello, action: {parameters: {work: hello}}, expect: {sameAcrossVariants: true}}
sweeps:
  coldStart: {samples: 1, concurrency: [2], timeoutSeconds: 120}
  warmLatency: {requests: 20, warmupRequests: 5}
  density: {instances: [1, 4], requests: 20}
";

async fn measured(client: &Client, namespace: &str, variants: &str) -> (BenchmarkRun, Vec<Record>) {
    // Three variants, each with cold starts of two at once, a load and a climb.
    let (run, records) =
        runs::measured(client, namespace, ("functions", &spec(variants)), 600, 9).await;
    let loads = records.iter().filter(|record| record.load().is_some());
    engines::assert_as_claimed(&run, &loads.cloned().collect::<Vec<_>>());
    (run, records)
}

/// A start consists of sending the code and the first response; for native functions, a pod comes
/// first.
fn check_start(pod: &ColdPod, is_native: bool) {
    let at = |step| pod.steps.get(&step).map(|moment| moment.nanoseconds);
    let order = [
        ColdStep::CreateSent,
        ColdStep::InitSent,
        ColdStep::Listening,
        ColdStep::FirstCorrectAnswer,
        ColdStep::DeletionFinished,
    ];
    let moments: Option<Vec<i64>> = order.map(at).into_iter().collect();
    let moments = moments.unwrap_or_else(|| panic!("a step is missing in {pod:#?}"));
    assert!(moments.is_sorted(), "{pod:#?}");
    assert_eq!(
        at(ColdStep::ReadyPublished).is_some(),
        is_native,
        "{pod:#?}"
    );
}

fn check(records: &[Record]) {
    let mut answers = BTreeSet::new();
    for record in records {
        let is_native = record.trial.cell.variant == "native";
        if let Some(document) = record.cold_start() {
            for sample in &document.samples {
                sample
                    .pods
                    .iter()
                    .for_each(|pod| check_start(pod, is_native));
            }
            assert_eq!(!document.floor.is_empty(), is_native, "{}", record.trial);
            answers.extend(
                document
                    .answer
                    .as_ref()
                    .map(|answer| answer.body_sha256.clone()),
            );
        }
        if let Some(document) = record.density() {
            let instances: Vec<u32> = document.steps.iter().map(|step| step.instances).collect();
            assert_eq!(instances, [1, 4], "{}", record.trial);
            let memory: Vec<u64> = document
                .steps
                .iter()
                .filter_map(|step| step.memory)
                .map(|memory| memory.pods_bytes)
                .collect();
            println!("{}: {memory:?} bytes", record.trial);
            assert!(memory.first() < memory.last(), "{memory:?}");
        }
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[tokio::test]
async fn functions_in_one_process_are_started_called_and_counted_like_native_ones() {
    with_namespace("actions", |client, namespace| async move {
        let (run, records) = measured(&client, &namespace, USUAL).await;
        check(&records);
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
#[ignore = "needs Wasmer's library, minutes of compiling: make test-systems"]
async fn functions_of_wasmer_are_started_called_and_counted_like_native_ones() {
    with_namespace("actions-wasmer", |client, namespace| async move {
        let (_, records) = measured(&client, &namespace, OF_WASMER).await;
        check(&records);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs WAMR, which is compiled from C: make test-systems"]
async fn functions_of_wamr_are_started_called_and_counted_like_native_ones() {
    with_namespace("actions-wamr", |client, namespace| async move {
        let (_, records) = measured(&client, &namespace, INTERPRETED).await;
        check(&records);
    })
    .await;
}
