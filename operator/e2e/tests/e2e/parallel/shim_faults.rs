//! Faults of Wasm in place of a container are reported with a remedy, and the other variants are
//! measured.

use kube::Client;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::runtime_class::{self, ShimOnNodes};
use wasmbench_e2e::{runs, wasm_image};
use wasmbench_model::wire::record::{Outcome, Record};

/// A runtime that the local cluster's containerd has configured but whose shim does not exist.
const BROKEN: &str = "wasmbench-broken";
const SWEEP: &str = r"
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 20, warmupRequests: 2}}
";

/// Longer than the kubelet of a busy node takes to notice that a container has ended, so that the
/// crash is known when the load is over. Then nothing needs to wait for it. The service waits too, because
/// a busy one would take CPU time from that kubelet.
const LASTING: &str = r"
workloads: [{name: sleep, path: '/sleep?ms=10', expect: {body: slept}}]
sweeps: {throughput: {connections: [1], durationSeconds: 20, warmupSeconds: 0}}
";

/// How long a pod may take to come up, and how long one that never does is waited for.
const SECONDS: u32 = 30;

/// Reason and message of the variant's failed trial; the others of a broken variant are skipped.
fn failure<'a>(records: &'a [Record], variant: &str) -> (&'a str, &'a str) {
    let mut mine = records
        .iter()
        .filter(|record| record.trial.cell.variant == variant);
    let failed = mine.find_map(|record| match &record.outcome {
        Outcome::Failed { reason, message } => Some((reason.as_str(), message.as_str())),
        Outcome::Measured | Outcome::Skipped { .. } => None,
    });
    failed.unwrap_or_else(|| panic!("{variant} did not fail: {:#?}", runs::outcomes(records)))
}

fn is_measured(records: &[Record], variant: &str) -> bool {
    let mut mine = records
        .iter()
        .filter(|record| record.trial.cell.variant == variant);
    mine.any(|record| record.outcome == Outcome::Measured)
}

/// A variant with the user's own image, under a RuntimeClass.
fn under(class: &str, name: &str, image: &str, more: &str) -> String {
    format!(
        "- {{name: {name}, container: {{image: '{image}', runtimeClassName: {class}{more}}}}}\n"
    )
}

/// Measures the variants together with a good one, and checks that each of them ended with its message.
async fn crash_with(
    name: &str,
    client: &Client,
    namespace: &str,
    variants: &str,
    words: &[(&str, &str)],
) {
    let spec =
        format!("blocks: 1\nvariants:\n- {{name: good, preset: native}}\n{variants}{LASTING}");
    runs::create(client, namespace, name, &spec).await;
    let run = runs::finished(client, namespace, name, 300).await;
    let records = runs::all_records(client, &run).await;
    assert!(is_measured(&records, "good"));
    for (variant, word) in words {
        let (reason, message) = failure(&records, variant);
        assert_eq!(reason, "SubjectCrashed", "{variant}: {message}");
        assert!(message.contains(word), "{variant}: {message}");
    }
}

const LATE: &str = ", args: [--abort-at-request, '100']";

#[tokio::test]
async fn a_wasmtime_guest_that_cannot_run_or_traps_fails_with_its_own_message() {
    with_namespace("guests", |client, namespace| async move {
        let folder = tempfile::tempdir().unwrap();
        let traps = r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#;
        let traps = wat::parse_str(traps).unwrap();
        let library = wat::parse_str("(module (func (export \"add\")))").unwrap();
        let component = wat::parse_str("(component)").unwrap();
        let files = [
            ("traps", traps.as_slice()),
            ("library", library.as_slice()),
            ("component", component.as_slice()),
            ("text", b"this is no Wasm".as_slice()),
        ];
        let [traps, library, component, text] = wasm_image::load(folder.path(), files).await;
        let server = image(&client, "server").await;
        let variants = [
            under("wasmtime", "traps", &traps, ""),
            under("wasmtime", "library", &library, ""),
            under("wasmtime", "component", &component, ""),
            under("wasmtime", "text", &text, ""),
            under("wasmtime", "late", &server, LATE),
        ];
        let trap = "wasm trap: wasm `unreachable` instruction executed";
        let words = [
            ("traps", trap),
            ("library", "exports no function '_start'"),
            ("component", "no command"),
            ("text", "neither a Wasm module nor a Wasm component"),
            ("late", trap),
        ];
        crash_with("guests", &client, &namespace, &variants.concat(), &words).await;
    })
    .await;
}

#[tokio::test]
async fn a_wasmedge_guest_that_cannot_run_or_traps_fails_with_its_own_message() {
    with_namespace("modules", |client, namespace| async move {
        let folder = tempfile::tempdir().unwrap();
        let traps = r#"(module (func (export "_start") unreachable))"#;
        let traps = wat::parse_str(traps).unwrap();
        let files = [
            ("stops", traps.as_slice()),
            ("prose", b"this is no Wasm, either".as_slice()),
        ];
        let [traps, text] = wasm_image::load(folder.path(), files).await;
        let component = image(&client, "server").await;
        let late = image(&client, "server-wasmedge").await;
        let variants = [
            under("wasmedge", "traps", &traps, ""),
            under("wasmedge", "component", &component, ""),
            under("wasmedge", "text", &text, ""),
            under("wasmedge", "late", &late, LATE),
        ];
        let words = [
            ("traps", "unreachable"),
            ("component", "this shim runs modules"),
            ("text", "holds no Wasm module"),
            ("late", "unreachable"),
        ];
        crash_with("modules", &client, &namespace, &variants.concat(), &words).await;
    })
    .await;
}

#[tokio::test]
async fn a_runtime_missing_on_the_node_is_named_with_its_remedy() {
    with_namespace("lacks", |client, namespace| async move {
        runtime_class::create(&client, "e2e-unknown", "e2e-unknown").await;
        runtime_class::create(&client, "e2e-broken", BROKEN).await;
        let server = image(&client, "server").await;
        let spec = |classes: &[&str]| {
            let variant = |class: &&str| {
                format!("- {{name: {class}, container: {{image: '{server}', runtimeClassName: {class}}}}}\n")
            };
            let variants: String = classes.iter().map(variant).collect();
            format!(
                "blocks: 1\nsubjectReadyTimeoutSeconds: {SECONDS}\nvariants:\n\
                 - {{name: good, preset: native}}\n{variants}{SWEEP}"
            )
        };
        let measured = async |name: &str, classes: &[&str]| {
            runs::create(&client, &namespace, name, &spec(classes)).await;
            let run = runs::finished(&client, &namespace, name, 300).await;
            let records = runs::all_records(&client, &run).await;
            assert!(is_measured(&records, "good"));
            records
        };

        let records = measured("missing", &["e2e-unknown", "e2e-broken"]).await;
        let expected = [
            ("e2e-unknown", "does not have the RuntimeClass's handler"),
            ("e2e-broken", "install its program on containerd's PATH"),
        ];
        for (variant, remedy) in expected {
            let (reason, message) = failure(&records, variant);
            assert_eq!(reason, "SubjectNotStarted", "{variant}: {message}");
            assert!(message.contains(remedy), "{variant}: {message}");
        }
        let skipped = |record: &&Record| matches!(record.outcome, Outcome::Skipped { .. });
        // The scouts failed, and saved the trial of each.
        assert_eq!(records.iter().filter(skipped).count(), 2, "{:#?}", runs::outcomes(&records));

        let shim = ShimOnNodes::script(BROKEN, "#!/bin/sh\necho the shim crashes >&2\nexit 1\n");
        let records = measured("crashing", &["e2e-broken"]).await;
        drop(shim);
        let (reason, message) = failure(&records, "e2e-broken");
        assert_eq!(reason, "SubjectNotStarted", "{message}");
        assert!(message.contains("the shim does not work on this node"), "{message}");

        runtime_class::delete(&client, "e2e-unknown").await;
        runtime_class::delete(&client, "e2e-broken").await;
    })
    .await;
}
