//! The instruments themselves: what measuring costs, and how precise it is. Each test prints what
//! it found. Run only by `make selftest`.

use wasmbench_e2e::audit::{self, Call};
use wasmbench_e2e::namespace::{with_namespace, with_namespace_of};
use wasmbench_e2e::operator::image;
use wasmbench_e2e::others::{Gateway, Task, exact_quantile};
use wasmbench_e2e::{operator_namespace, runs, selftest, windows};
use wasmbench_model::wire::cold_start::{ColdPod, ColdSample, ColdStep};
use wasmbench_model::wire::record::Record;

/// Windows of a minute in total, so that watches, which live for 200 s, end in some of them.
const WINDOWS: &str = r"
blocks: 3
noiseFloor: false
variants:
- {name: a, preset: native}
- {name: b, preset: native}
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [4], durationSeconds: 10, warmupSeconds: 1}}
";

#[tokio::test]
#[ignore = "needs a cluster with an audit log: make selftest"]
async fn the_operator_makes_no_call_in_a_timed_window() {
    with_namespace("silence", |client, namespace| async move {
        runs::create(&client, &namespace, "silence", WINDOWS).await;
        let run = runs::finished(&client, &namespace, "silence", 400).await;
        let records = runs::records(&client, &run).await;
        let user = format!("system:serviceaccount:{}:wasmbench", operator_namespace());
        let calls = audit::calls_of(&user, audit::log());

        let windows: Vec<(i128, i128)> = records.iter().map(windows::whole).collect();
        let inside: Vec<Vec<&Call>> = windows
            .iter()
            .map(|(start, end)| audit::within(&calls, *start, *end))
            .collect();
        let begin = windows.iter().map(|(start, _)| *start).min().expect("one");
        let end = windows.iter().map(|(_, end)| *end).max().expect("one");
        let between = audit::within(&calls, begin, end);
        let watches = between.iter().filter(|call| call.verb == "watch").count();
        let per_window: Vec<String> = inside.iter().map(|calls| calls.len().to_string()).collect();
        selftest::found(
            "API calls of the operator in a timed window",
            &format!(
                "{} in {} windows; {} outside of them, {watches} of these open a watch again",
                per_window.join(", "),
                windows.len(),
                between.len(),
            ),
            "0 in each",
        );
        assert_eq!(windows.len(), 6);
        assert!(!between.is_empty(), "the log has no call of {user}");
        assert!(inside.iter().all(Vec::is_empty), "{inside:#?}");
    })
    .await;
}

#[test]
#[ignore = "needs a quiet machine: make selftest"]
fn percentiles_are_those_of_every_single_request() {
    let gateway = Gateway::start();
    // fortio writes whole microseconds: no request here takes only a few.
    for (path, connections) in [
        ("/compute?iters=1000", 1),
        ("/", 8),
        ("/compute?iters=2000", 4),
    ] {
        let task = Task {
            path,
            connections,
            seconds: 3,
            warmup_seconds: 1,
            generator_cpu: None,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (load, exact) = task.by_probe_with_log(&gateway, folder.path());
        assert_eq!(load.succeeded, exact.len() as u64);
        for (name, share) in [("p50", 0.50), ("p99", 0.99)] {
            let ours = load.latency.percentile(share).expect("requests");
            let exact = exact_quantile(&exact, share);
            let away = ours / exact - 1.0;
            selftest::found(
                &format!("{name} of {path} over {connections} connections"),
                &format!(
                    "{ours:.1} us, exactly {exact:.1} us, {:+.2} %",
                    away * 100.0
                ),
                "within 5 %",
            );
            assert!(away.abs() <= 0.05, "{away}");
        }
    }
}

/// Rounds in which our pipeline and wrk take turns: a machine's speed varies from one second to the
/// next.
const ROUNDS: usize = 7;

#[test]
#[ignore = "needs a quiet machine: make selftest"]
fn the_rate_is_that_of_wrk() {
    let gateway = Gateway::start();
    // Long requests, so that the gateway rather than the generator limits the rate.
    let task = Task {
        path: "/compute?iters=50000",
        connections: 4,
        seconds: 2,
        warmup_seconds: 1,
        generator_cpu: None,
    };
    let mut before = task.by_wrk(&gateway);
    let mut ratios: Vec<f64> = vec![];
    for _ in 0..ROUNDS {
        let load = task.by_probe(&gateway);
        let after = task.by_wrk(&gateway);
        let ours = load.succeeded as f64 / load.seconds;
        ratios.push(ours / f64::midpoint(before, after));
        before = after;
    }
    ratios.sort_by(f64::total_cmp);
    let (low, middle, high) = (ratios[0], ratios[ROUNDS / 2], ratios[ROUNDS - 1]);
    selftest::found(
        "rate, compared with wrk's",
        &format!("{middle:.3}x of {ROUNDS} rounds ({low:.3}-{high:.3})"),
        "within 5 %",
    );
    assert!((middle - 1.0).abs() <= 0.05, "{ratios:?}");
}

/// Slow enough that the first attempts find nobody listening: then the moment is bounded from both
/// sides.
fn slow_start(image: &str) -> String {
    format!(
        r"
blocks: 2
noiseFloor: false
variants:
- name: slow
  container: {{image: '{image}', listeningLine: ' listening on ', args: ['--start-delay-ms', '500']}}
workloads: [{{name: hello, expect: {{body: hello}}}}]
sweeps:
  coldStart: {{samples: 10}}
"
    )
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn the_clock_of_cold_starts_is_accurate_to_a_millisecond() {
    with_namespace("clock", |client, namespace| async move {
        let image = image(&client, "native").await;
        runs::create(&client, &namespace, "clock", &slow_start(&image)).await;
        let run = runs::finished(&client, &namespace, "clock", 300).await;
        let records = runs::records(&client, &run).await;
        let documents = records.iter().filter_map(Record::cold_start);
        let samples: Vec<&ColdSample> = documents.flat_map(|document| &document.samples).collect();
        let shifts = samples.iter().map(|sample| sample.clock_shift_nanoseconds);
        let shift = shifts.map(i64::abs).max().expect("samples") as f64 / 1e6;
        selftest::found(
            "wall clock compared with the monotonic one, in a cold start",
            &format!("{shift:.2} ms apart at most"),
            "below 5 ms",
        );
        let pods: Vec<&ColdPod> = samples.iter().flat_map(|sample| &sample.pods).collect();
        let (unsure, apart) = (unsure(&pods), apart(&pods));
        selftest::found(
            "uncertainty of the first answer of a cold start",
            &format!(
                "{:.2} ms (median), {:.2} (90 % of the pods), {:.2} (largest), {} pods",
                exact_quantile(&unsure, 0.5),
                exact_quantile(&unsure, 0.9),
                exact_quantile(&unsure, 1.0),
                unsure.len(),
            ),
            "at most 1 ms for 90 %",
        );
        selftest::found(
            "from the line in the log to the first answer",
            &format!(
                "{:.2} ms ({:.2} to {:.2})",
                exact_quantile(&apart, 0.5),
                exact_quantile(&apart, 0.0),
                exact_quantile(&apart, 1.0)
            ),
            "0 to 2 ms",
        );
        assert!(
            unsure.len() >= pods.len() / 2,
            "{} of {}",
            unsure.len(),
            pods.len()
        );
        // An attempt that found the node's CPUs busy is less certain, and marked so in its pod.
        assert!(exact_quantile(&unsure, 0.9) <= 1.0, "{unsure:?}");
        assert!(
            (0.0..=2.0).contains(&exact_quantile(&apart, 0.5)),
            "{apart:?}"
        );
        assert!(shift < 5.0, "{shift}");
    })
    .await;
}

/// A service that listens as soon as it can and is requested before it exists.
const ON_HOST: &str = r"
blocks: 2
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
placement: {network: Host}
sweeps: {coldStart: {samples: 10}}
";

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn the_first_answer_on_the_nodes_network_is_exact() {
    with_namespace_of("privileged", "coldhost", |client, namespace| async move {
        runs::create(&client, &namespace, "bare", ON_HOST).await;
        let run = runs::finished(&client, &namespace, "bare", 300).await;
        let records = runs::records(&client, &run).await;
        let documents = records.iter().filter_map(Record::cold_start);
        let samples = documents.flat_map(|document| &document.samples);
        let counted = samples.filter(|sample| sample.counts());
        let pods: Vec<&ColdPod> = counted.flat_map(|sample| &sample.pods).collect();
        let (unsure, apart) = (unsure(&pods), apart(&pods));
        assert_eq!((unsure.len(), apart.len()), (20, 20));
        selftest::found(
            "uncertainty of the first answer on the node's network",
            &format!(
                "{:.2} ms (median), {:.2} (largest)",
                exact_quantile(&unsure, 0.5),
                exact_quantile(&unsure, 1.0),
            ),
            "below 20 ms for three of four pods",
        );
        selftest::found(
            "from the line in the log to the first answer there",
            &format!(
                "{:.2} ms ({:.2} to {:.2})",
                exact_quantile(&apart, 0.5),
                exact_quantile(&apart, 0.0),
                exact_quantile(&apart, 1.0)
            ),
            "below 50 ms for three of four pods",
        );
        assert!(exact_quantile(&unsure, 0.75) < 20.0, "{unsure:?}");
        assert!(exact_quantile(&apart, 0.75) < 50.0, "{apart:?}");
    })
    .await;
}

/// How much earlier than observed each first response may have been available, in milliseconds, in
/// ascending order.
fn unsure(pods: &[&ColdPod]) -> Vec<f64> {
    let unsure = pods.iter().filter_map(|pod| {
        let answer = pod.steps.get(&ColdStep::FirstCorrectAnswer)?;
        Some(answer.uncertainty_nanoseconds? as f64 / 1e6)
    });
    ascending(unsure)
}

/// The time from the line in the log to the first response, in milliseconds, in ascending order:
/// what the service reports and what is observed from outside are the same moment.
fn apart(pods: &[&ColdPod]) -> Vec<f64> {
    let apart = pods.iter().filter_map(|pod| {
        let answer = pod.since_create(ColdStep::FirstCorrectAnswer)?;
        Some((answer - pod.since_create(ColdStep::Listening)?) as f64 / 1e6)
    });
    ascending(apart)
}

fn ascending(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}
