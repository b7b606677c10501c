//! What a trial costs in addition to its timed window, and what Wasm costs where services run: in
//! pods. Run only by `make bench`.

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::status::SummaryRow;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::{at_least, at_most, missing};
use wasmbench_model::wire::record::Record;

/// Length of a timed window, in seconds.
const WINDOW: u32 = 10;

/// The gateway under the shims, compared with the same source as a native program.
const SHIMS: &str = r"
blocks: 5
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: wasmtime, preset: wasmtime-shim}
- {name: wasmtime-http, preset: wasmtime-shim-http}
- {name: wasmedge, preset: wasmedge-shim, engine: {compile: Aot}}
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [100], durationSeconds: 5, warmupSeconds: 1}}
";

const STARTS: &str = r"
blocks: 5
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: wasmtime, preset: wasmtime-shim}
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {coldStart: {samples: 5, concurrency: [1], class: CompileCached}}
";

/// Six trials without the warm-up, which users request and can shorten: what is left is the
/// harness, including the calibration of the histogram.
pub(super) fn trials(window_seconds: u32) -> String {
    format!(
        r"
blocks: 3
variants:
- {{name: native, preset: native}}
- {{name: embedded, preset: wasmtime-embedded, engine: {{allocator: Pooling}}}}
workloads: [{{name: hello, expect: {{body: hello}}}}]
sweeps: {{throughput: {{connections: [100], durationSeconds: {window_seconds}, warmupSeconds: 0}}}}
"
    )
}

/// The run of this spec after it has ended, and its records, scouts included.
async fn measured(
    client: &Client,
    namespace: &str,
    spec: &str,
    seconds: u64,
) -> (BenchmarkRun, Vec<Record>) {
    runs::create(client, namespace, "bench", spec).await;
    let run = runs::finished(client, namespace, "bench", seconds).await;
    let records = runs::all_records(client, &run).await;
    (run, records)
}

/// The time from the last scout, before the first trial's preparation, to the report, without windows that a noisy node
/// disturbed and that were measured again: their cost is not the harness's.
fn seconds(run: &BenchmarkRun, records: &[Record]) -> f64 {
    let status = run.status.as_ref().expect("a status");
    let scouts = records.iter().filter(|record| record.trial.is_scout());
    let start = scouts.map(|record| record.recorded_at).max();
    let start = start.expect("a scout");
    let end = status.completion_time.as_ref().expect("an end");
    let timed = records
        .iter()
        .filter_map(|record| record.load()?.timed.as_ref());
    let repeated: u64 = timed
        .filter_map(|timed| Some(timed.discarded?.duration_nanoseconds))
        .sum();
    end.0.duration_since(start).as_secs_f64() - repeated as f64 / 1e9
}

fn row<'a>(run: &'a BenchmarkRun, variant: &str) -> Option<&'a SummaryRow> {
    let mut rows = run.status.as_ref()?.summary.iter();
    rows.find(|row| row.variant == variant)
}

/// A variant's CPU time per request as a multiple of the native one's; `None` if there is no valid
/// point.
fn cpu(run: &BenchmarkRun, variant: &str) -> Option<f64> {
    let mut ratios = row(run, variant)?.versus_baseline.iter();
    let ratio = ratios.find(|ratio| ratio.metric == "cpuPerRequest")?;
    Some(ratio.judged.ratio)
}

/// A variant's time from create to listening as a multiple of the native one's.
fn listening(run: &BenchmarkRun, variant: &str) -> Option<f64> {
    let time = row(run, variant)?.cold_start.first()?.listening.as_ref()?;
    Some(time.versus_baseline.as_ref()?.judged.ratio)
}

fn cpu_at_most(run: &BenchmarkRun, variant: &str, name: &str, bound: f64) -> bool {
    cpu(run, variant).map_or_else(
        || missing(name),
        |ratio| at_most(name, ratio, "ratio", bound),
    )
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn a_trial_takes_little_more_than_its_window() {
    with_namespace("trials", |client, namespace| async move {
        let (run, mut records) = measured(&client, &namespace, &trials(WINDOW), 300).await;
        let all = seconds(&run, &records);
        records.retain(|record| !record.trial.is_scout());
        runs::assert_measured(&records, 6);
        let windows = f64::from(WINDOW) * records.len() as f64;
        let overhead = (all - windows) / records.len() as f64;
        let keep = [
            at_most("trial-overhead", overhead, "s/trial", 3.0),
            at_least("timed-share", windows / all, "ratio", 0.7),
            cpu_at_most(
                &run,
                "embedded",
                "embedded-pooling-vs-native-cpu-c100-in-pods",
                1.6,
            ),
        ];
        assert!(keep.iter().all(|keeps| *keeps));
    })
    .await;
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn gateways_under_the_shims_keep_up_with_the_native_one() {
    with_namespace("shims", |client, namespace| async move {
        let (run, _) = measured(&client, &namespace, SHIMS, 1200).await;
        let keep = [
            cpu_at_most(&run, "wasmtime", "wasmtime-shim-vs-native-cpu-c100", 1.8),
            cpu_at_most(
                &run,
                "wasmedge",
                "wasmedge-shim-aot-vs-native-cpu-c100",
                2.5,
            ),
            // It creates an instance per request.
            cpu_at_most(
                &run,
                "wasmtime-http",
                "wasmtime-shim-http-vs-native-cpu-c100",
                4.0,
            ),
        ];
        assert!(keep.iter().all(|keeps| *keeps));
    })
    .await;
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn a_gateway_under_the_shim_listens_as_soon_as_the_native_one() {
    with_namespace("starts", |client, namespace| async move {
        let (run, _) = measured(&client, &namespace, STARTS, 1200).await;
        let name = "wasmtime-shim-vs-native-listening";
        let found = listening(&run, "wasmtime");
        let keeps = found.map_or_else(|| missing(name), |ratio| at_most(name, ratio, "ratio", 1.0));
        assert!(keeps);
    })
    .await;
}
