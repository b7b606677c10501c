//! The instrument checked by planted differences: what is put into a subject must be found, and
//! what is not there must not. Each test prints what it found. They need a quiet node and take
//! minutes, so they run only by `make selftest`.

use std::time::Duration;

use k8s_openapi::api::core::v1::{LimitRange, Pod};
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::conditions::TRUSTWORTHY;
use wasmbench_api::status::{JudgedRatio, SummaryRow};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::{image, test_image};
use wasmbench_e2e::selftest::found;
use wasmbench_e2e::{eventually, operator_namespace, runs};
use wasmbench_model::noise::limits::OTHERS_CPU_LIMIT;
use wasmbench_model::noise::{self, Noise};
use wasmbench_model::wire::record::Record;
use wasmbench_results::read::fortio;

/// Six equals: five comparisons of four metrics.
const EQUALS: &str = r"
blocks: 6
noiseFloor: false
variants:
- {name: a, preset: native}
- {name: b, preset: native}
- {name: c, preset: native}
- {name: d, preset: native}
- {name: e, preset: native}
- {name: f, preset: native}
workloads: [{name: hello, expect: {body: hello}}]
sweeps:
  warmLatency: {requests: 3000, warmupRequests: 500}
  throughput: {connections: [8], durationSeconds: 3, warmupSeconds: 1}
";

fn rows(run: &BenchmarkRun) -> &[SummaryRow] {
    &run.status.as_ref().expect("a status").summary
}

fn row<'a>(run: &'a BenchmarkRun, variant: &str) -> &'a SummaryRow {
    let mut rows = rows(run).iter();
    rows.find(|row| row.variant == variant).expect("a row")
}

fn ratio<'a>(run: &'a BenchmarkRun, variant: &str, metric: &str) -> &'a JudgedRatio {
    let mut ratios = row(run, variant).versus_baseline.iter();
    let found = ratios.find(|ratio| ratio.metric == metric);
    &found.expect("a ratio").judged
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn equal_variants_hardly_ever_differ() {
    with_namespace("equals", |client, namespace| async move {
        runs::create(&client, &namespace, "equals", EQUALS).await;
        let run = runs::finished(&client, &namespace, "equals", 1200).await;
        let ratios: Vec<&JudgedRatio> = rows(&run)
            .iter()
            .flat_map(|row| &row.versus_baseline)
            .map(|ratio| &ratio.judged)
            .collect();
        let different: Vec<&&JudgedRatio> = ratios
            .iter()
            .filter(|r| ["Faster", "Slower", "Smaller", "Larger"].contains(&&*r.verdict))
            .collect();
        let figure = format!("{} of {} differ", different.len(), ratios.len());
        found(
            "equals",
            &figure,
            "0 of 20, and in one of 20 self-tests more",
        );
        let ends = ratios.iter().filter_map(|ratio| ratio.low.zip(ratio.high));
        let hold = ends
            .filter(|(low, high)| *low <= 1.0 && 1.0 <= *high)
            .count();
        let (low, high) = share_between(hold, ratios.len());
        let figure = format!(
            "{hold} of {} ({:.0} to {:.0} %)",
            ratios.len(),
            low * 100.0,
            high * 100.0
        );
        found("intervals of equals that hold 1", &figure, "95 %");
        assert_eq!(ratios.len(), 20);
        assert!(high >= 0.95, "{ratios:#?}");
        assert!(different.len() < 2, "{different:#?}");
    })
    .await;
}

/// The 95 % interval of a share (Wilson, 1927), as if the comparisons were independent.
fn share_between(hits: usize, all: usize) -> (f64, f64) {
    let (share, count, z) = (hits as f64 / all as f64, all as f64, 1.96_f64);
    let middle = share + z * z / (2.0 * count);
    let half = z * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    let scale = 1.0 + z * z / count;
    ((middle - half) / scale, (middle + half) / scale)
}

fn handicaps(image: &str) -> String {
    let variant = |name: &str, args: &str| {
        format!("- {{name: {name}, container: {{image: '{image}', args: [{args}]}}}}\n")
    };
    let variants = [
        variant("plain", ""),
        variant("tenth", "--extra-iterations=2000"),
        variant("quarter", "--extra-iterations=5000"),
        variant("heavy", "--ballast-mib=20"),
    ];
    format!(
        r"
blocks: 10
noiseFloor: false
resources: {{limits: {{memory: 128Mi}}}}
variants:
{}
workloads: [{{name: compute, path: '/compute?iters=20000', expect: {{sameAcrossVariants: true}}}}]
sweeps:
  throughput: {{connections: [4], durationSeconds: 3, warmupSeconds: 1}}
",
        variants.concat()
    )
}

/// Whether the interval contains `truth`. In addition to the chain of SHA-256, a request costs one
/// percent for HTTP, which the handicap does not raise.
fn holds(ratio: &JudgedRatio, truth: f64) -> bool {
    let (low, high) = (
        ratio.low.expect("an interval"),
        ratio.high.expect("an interval"),
    );
    low <= truth * 1.005 && truth * 0.995 <= high
}

fn figure(ratio: &JudgedRatio) -> String {
    let (low, high) = (
        ratio.low.unwrap_or(f64::NAN),
        ratio.high.unwrap_or(f64::NAN),
    );
    format!(
        "{:.3}x ({low:.3}-{high:.3}), {}",
        ratio.ratio, ratio.verdict
    )
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn planted_work_and_memory_are_found() {
    with_namespace("handicap", |client, namespace| async move {
        let image = image(&client, "native").await;
        let spec = handicaps(&image);
        let run = runs::finished_on_quiet_node(&client, &namespace, "handicaps", &spec, 900).await;

        let tenth = ratio(&run, "tenth", "cpuPerRequest");
        found("a tenth more CPU time", &figure(tenth), "1.100x, Larger");
        let quarter = ratio(&run, "quarter", "cpuPerRequest");
        found(
            "a quarter more CPU time",
            &figure(quarter),
            "1.250x, Larger",
        );
        let rate = ratio(&run, "quarter", "throughputRps");
        found(
            "a quarter more work, by rate",
            &figure(rate),
            "0.800x, Slower",
        );
        let memory = |variant: &str| {
            let load = row(&run, variant).throughput.as_ref().expect("throughput");
            load.points[0].memory_bytes.expect("memory") as f64 / f64::from(1 << 20)
        };
        let ballast = memory("heavy") - memory("plain");
        found(
            "20 MiB more memory",
            &format!("{ballast:.2} MiB"),
            "20 within 1",
        );
        let own = probe_share(&runs::records(&client, &run).await);
        let share = format!("{:.2} % of a core", own * 100.0);
        found(
            "CPU time of the probe in a timed window",
            &share,
            "at most 1 %",
        );

        for (found, truth, verdict) in [
            (tenth, 1.10, "Larger"),
            (quarter, 1.25, "Larger"),
            (rate, 0.80, "Slower"),
        ] {
            assert_eq!(found.verdict, verdict, "{found:?}");
            assert!(holds(found, truth), "{truth} is not in {found:?}");
        }
        assert!((19.0..=21.0).contains(&ballast), "{ballast} MiB");
        assert!(own <= 0.01, "{own}");
    })
    .await;
}

/// The largest share of a core that the probe itself used in a timed window; each record must
/// report it.
fn probe_share(records: &[Record]) -> f64 {
    let shares = records.iter().map(|record| {
        let document = record.load().expect("a document");
        let window = document.timed.as_ref().expect("a timed window");
        let used = window
            .probe_cpu_nanoseconds
            .expect("the probe's own CPU time");
        used as f64 / window.duration_nanoseconds as f64
    });
    let shares: Vec<f64> = shares.collect();
    assert!(shares.iter().all(|share| *share > 0.0), "{shares:?}");
    shares.into_iter().fold(0.0, f64::max)
}

const SHORT: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [16], durationSeconds: 4, warmupSeconds: 1}}
";

/// What the run reports about the reason for which it is not trusted, and why its only point is
/// invalid, if it is. Mere notes begin with another word.
async fn doubt(client: &Client, namespace: &str, reason: &str) -> (String, String) {
    runs::create(client, namespace, "doubted", SHORT).await;
    let run = runs::finished(client, namespace, "doubted", 120).await;
    let trust = runs::condition(&run, TRUSTWORTHY).expect("set");
    assert_eq!(trust.status, "False", "{trust:?}");
    let load = row(&run, "native").throughput.as_ref().expect("throughput");
    let invalid = load.points[0].invalid.clone().unwrap_or_default();
    let start = format!("{reason}:");
    let mut lines = trust.message.lines();
    let line = lines.find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("{trust:?}"));
    (line.to_owned(), invalid)
}

/// Creates a pod of its own with two threads that never pause.
async fn neighbour(client: &Client, namespace: &str) -> Api<Pod> {
    let image = test_image(client, "misbehave").await;
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "neighbour"},
        "spec": {
            "activeDeadlineSeconds": 120,
            "restartPolicy": "Never",
            "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "busy", "image": image, "args": ["--burn=2"],
                // A CPU request of its own: without one, the kernel gives it only what the subject
                // leaves.
                "resources": {"requests": {"cpu": "300m"}},
                "securityContext": {
                    "allowPrivilegeEscalation": false, "runAsNonRoot": true,
                    "capabilities": {"drop": ["ALL"]},
                },
            }],
        },
    }))
    .expect("a pod");
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    pods.create(&PostParams::default(), &pod).await.expect("ok");
    eventually(Duration::from_mins(1), "the neighbour runs", || async {
        let status = pods.get("neighbour").await.ok()?.status?;
        let containers = status.container_statuses?;
        let mut found = containers.iter().filter_map(|one| one.state.as_ref());
        found.all(|state| state.running.is_some()).then_some(())
    })
    .await;
    pods
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_neighbour_that_burns_cpus_makes_a_run_untrustworthy() {
    with_namespace("neighbour", |client, namespace| async move {
        neighbour(&client, &namespace).await;
        let (doubt, invalid) = doubt(&client, &namespace, "NodeNoisy").await;
        found("a neighbour", &doubt, "NodeNoisy");
        assert_eq!(invalid, "", "noise leaves nothing out");
    })
    .await;
}

/// Long enough that the neighbour runs for most of the first window and is gone in the second.
const LONG: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [16], durationSeconds: 10, warmupSeconds: 1}}
";

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_neighbour_that_leaves_costs_a_repeat_and_its_window_does_not_count() {
    with_namespace("visitor", |client, namespace| async move {
        let pods = neighbour(&client, &namespace).await;
        runs::create(&client, &namespace, "visited", LONG).await;
        runs::measuring(&client, &namespace, "visited", 60).await;
        // The probe's start, the calibration, the warm-up, and more than half of the first window.
        tokio::time::sleep(Duration::from_secs(11)).await;
        let now = DeleteParams::default().grace_period(0);
        pods.delete("neighbour", &now).await.expect("deleted");
        let run = runs::finished(&client, &namespace, "visited", 120).await;
        let records = runs::records(&client, &run).await;
        let timed = records[0].load().expect("measured").timed.as_ref();
        let timed = timed.expect("a window");
        let thrown = timed
            .discarded
            .expect("the noisy window was measured again");
        let environment = &records[0].load().expect("measured").environment;
        let cpus = noise::cpus(&environment.facts["cpus"]).expect("a number of CPUs");
        let kept = Noise::from_window(timed, cpus).others.expect("known");
        let (load, _) = fortio::from_window(timed, 200).expect("fortio's result");
        let rps = load.succeeded as f64 / load.seconds;
        let noisy = thrown.others_cpu_share.expect("known");
        let figure = format!(
            "{:.0} % used by others at {:.0}/s, thrown away; {:.0} % at {rps:.0}/s, kept",
            noisy * 100.0,
            thrown.rps,
            kept * 100.0
        );
        found("a neighbour that leaves", &figure, "the quiet window");
        assert!(thrown.start_unix_nanoseconds < timed.start_unix_nanoseconds);
        assert!(noisy > OTHERS_CPU_LIMIT && kept < noisy, "{figure}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_generator_limited_to_a_tenth_of_a_cpu_is_called_saturated() {
    with_namespace("starved", |client, namespace| async move {
        let limits: Api<LimitRange> = Api::namespaced(client.clone(), &operator_namespace());
        let limit = serde_json::from_value(json!({
            "metadata": {"name": "selftest"},
            "spec": {"limits": [{"type": "Container", "default": {"cpu": "100m"}}]},
        }));
        let limit = limit.expect("a limit");
        limits
            .create(&PostParams::default(), &limit)
            .await
            .expect("ok");
        let reason = "LoadGeneratorSaturated";
        let waited = tokio::spawn(async move { doubt(&client, &namespace, reason).await });
        let doubt = waited.await;
        let deleted = limits.delete("selftest", &DeleteParams::default()).await;
        deleted.expect("the limit is removed");
        let (doubt, invalid) = doubt.expect("the run ends");
        found("a starved generator", &doubt, reason);
        assert!(invalid.contains(reason), "{invalid}: {doubt}");
    })
    .await;
}
