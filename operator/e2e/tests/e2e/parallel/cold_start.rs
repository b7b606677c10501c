//! Cold starts: measurements are complete and in order, and nothing is left behind.

use kube::Client;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::processes::{probe_of, send_signal};
use wasmbench_e2e::{PATIENCE, eventually, runs};
use wasmbench_model::wire::cold_start::{Clock, ColdPod, ColdSample, ColdStep};
use wasmbench_model::wire::record::Record;

use super::compare_starts::compare_starts;

const BOTH: &str = r"
blocks: 2
seed: 1
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded, engine: {allocator: Pooling}}
workloads: [{name: hello, expect: {body: hello}}]
sweeps:
  coldStart: {samples: 2, concurrency: [1, 2], timeoutSeconds: 120}
";

/// The time that `timeoutSeconds` gives the pods of a sample, in nanoseconds.
const SLOWEST: i64 = 120_000_000_000;

/// Reasons for which a busy node makes points of cold starts invalid.
const OF_THE_NODE: [&str; 2] = ["NodeNoisy", "ClockTooCoarse"];

fn samples(record: &Record) -> &[ColdSample] {
    let document = record.cold_start();
    &document
        .unwrap_or_else(|| panic!("{}: no document", record.trial))
        .samples
}

#[tokio::test]
async fn both_presets_are_cold_started_and_every_timeline_is_in_order() {
    with_namespace("cold", |client, namespace| async move {
        let (run, records) = runs::measured(&client, &namespace, ("chill", BOTH), 420, 8).await;
        for record in &records {
            let concurrency = if record.trial.to_string().contains("cold-c2") {
                2
            } else {
                1
            };
            let samples = samples(record);
            assert_eq!(samples.len(), 3, "{}", record.trial);
            for (number, sample) in samples.iter().enumerate() {
                assert_eq!(sample.discarded, number == 0);
                assert_eq!(sample.pods.len(), concurrency);
                // Nobody set the clock, although a stall between reading both clocks looks the
                // same.
                assert!(sample.clock_shift_nanoseconds.abs() < SLOWEST, "{sample:?}");
                let node = sample.node.expect("the node's CPU time");
                assert!(node.cpu.busy_nanoseconds > 0, "{sample:?}");
                sample.pods.iter().for_each(check_timeline);
            }
        }
        check_status(&run);
        check_report(&namespace).await;
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
        let at_one_point = BOTH.replace("[1, 2]", "[1]");
        compare_starts(&client, &namespace, &run, &at_one_point).await;
    })
    .await;
}

fn check_timeline(pod: &ColdPod) {
    let at = |step| {
        let moment = pod.steps.get(&step);
        moment
            .unwrap_or_else(|| panic!("no {step:?} in {pod:#?}"))
            .nanoseconds
    };
    let sent = at(ColdStep::CreateSent);
    assert!(
        sent >= 0 && sent <= at(ColdStep::CreateAccepted),
        "{pod:#?}"
    );
    // A late stamp is replaced by the time of the response.
    let listening = pod.steps[&ColdStep::Listening];
    assert!(
        listening.clock == Clock::LogStamp
            || listening.nanoseconds == at(ColdStep::FirstCorrectAnswer),
        "{pod:#?}"
    );
    // The confirmation may arrive late at a busy probe.
    assert!(sent < at(ColdStep::Listening), "{pod:#?}");
    assert!(at(ColdStep::Listening) - sent < SLOWEST, "{pod:#?}");
    assert!(
        at(ColdStep::Listening) <= at(ColdStep::FirstCorrectAnswer),
        "{pod:#?}"
    );
    assert!(
        at(ColdStep::AddressPublished) <= at(ColdStep::FirstCorrectAnswer),
        "{pod:#?}"
    );
    for step in [
        ColdStep::Scheduled,
        ColdStep::SandboxReady,
        ColdStep::ReadyPublished,
    ] {
        assert!(at(step) >= sent, "{pod:#?}");
        assert_eq!(pod.steps[&step].clock, Clock::WatchArrival);
    }
    assert!(
        at(ColdStep::DeleteSent) >= at(ColdStep::FirstCorrectAnswer),
        "{pod:#?}"
    );
    assert!(
        at(ColdStep::DeletionFinished) >= at(ColdStep::DeleteSent),
        "{pod:#?}"
    );
    assert!(pod.image_id.is_some() && pod.attempts >= 1, "{pod:#?}");
    // The images of the presets are on the node before the run.
    assert_eq!(pod.class, Some(ColdStartClass::ImageCached), "{pod:#?}");
}

fn check_status(run: &wasmbench_api::BenchmarkRun) {
    let status = run.status.as_ref().expect("a status");
    assert_eq!(status.summary.len(), 2, "{status:#?}");
    let all = || status.summary.iter().flat_map(|row| &row.cold_start);
    for reasons in all().filter_map(|point| point.invalid.as_deref()) {
        let mut reasons = reasons.split(", ");
        assert!(reasons.all(|r| OF_THE_NODE.contains(&r)), "{status:#?}");
    }
    for row in &status.summary {
        let points: Vec<u32> = row
            .cold_start
            .iter()
            .map(|point| point.concurrency)
            .collect();
        assert_eq!(points, [1, 2], "{row:#?}");
        for point in &row.cold_start {
            assert_eq!(
                (point.trials, point.failed_trials, point.samples),
                (2, 0, 4)
            );
            let time = point.listening.as_ref().expect("a time");
            let range = 10_000.0..120_000_000.0;
            assert!(range.contains(&time.p50_microseconds), "{point:#?}");
            assert!(
                time.p90_microseconds
                    .is_some_and(|p90| time.p50_microseconds <= p90 * 1.5),
                "{point:#?}"
            );
            let answer = point.answer.as_ref().expect("a time");
            assert!(
                answer.p50_microseconds >= time.p50_microseconds,
                "{point:#?}"
            );
            // A point that a busy node invalidated for one of the two variants has no ratio.
            let mut points = all().filter(|other| other.concurrency == point.concurrency);
            let compared = points.all(|other| other.invalid.is_none());
            let is_other = row.variant == "embedded";
            assert_eq!(time.versus_baseline.is_some(), is_other && compared);
            let ratios = [time, answer].into_iter();
            for ratio in ratios.filter_map(|time| time.versus_baseline.as_ref()) {
                assert!(!ratio.judged.verdict.is_empty(), "{point:#?}");
            }
            assert_eq!(
                point.makespan_microseconds.is_some(),
                point.concurrency == 2
            );
        }
    }
    let floor: Vec<u32> = status.harness_floor.iter().map(|f| f.concurrency).collect();
    assert_eq!(floor, [1, 2], "{status:#?}");
    let mut floors = status.harness_floor.iter();
    assert!(floors.all(|floor| floor.listening.is_some()), "{status:#?}");
    // If a busy node has invalidated all points, there is nothing to report.
    let is_invalid = all().all(|point| point.invalid.is_some());
    let verdict = status.verdict.as_deref().unwrap_or_default();
    // Two blocks may decide nothing.
    let is_short = verdict.ends_with("undecided: too few blocks");
    assert!(
        is_invalid || is_short || verdict.contains("cold start to "),
        "{verdict}"
    );
}

async fn check_report(namespace: &str) {
    let path = r"jsonpath={.data.report\.md}";
    let report = kubectl(&[
        "get",
        "configmap",
        "chill-report",
        "-n",
        namespace,
        "-o",
        path,
    ])
    .await;
    for text in [
        "## Cold start",
        "firstCorrectAnswer",
        "logStamp",
        "Makespan",
        "Harness floor",
    ] {
        assert!(report.stdout.contains(text), "{text}: {}", report.stdout);
    }
    let check = kubectl(&["wasmbench", "report", "chill", "-n", namespace, "--check"]).await;
    assert!(check.ok, "{check:?}");
    let shown = kubectl(&["wasmbench", "get", "chill", "-n", namespace]).await;
    assert!(shown.stdout.contains("COLD START"), "{shown:?}");
}

async fn cold_subjects(client: &Client, uid: &str) -> usize {
    let left = left_of(client, uid).await;
    left.iter().filter(|one| one.contains("-cold-c1-")).count()
}

#[tokio::test]
async fn a_probe_that_is_killed_leaves_no_pod_and_one_record() {
    with_namespace("coldkill", |client, namespace| async move {
        let spec = "
blocks: 2
variants: [{name: native, preset: native}]
workloads: [{name: hello}]
sweeps: {coldStart: {samples: 3}}
";
        let run = runs::create(&client, &namespace, "victim", spec).await;
        let uid = run.metadata.uid.expect("a uid");
        runs::measuring(&client, &namespace, "victim", 60).await;
        eventually(PATIENCE, "a cold subject and its probe", || async {
            // The Job, its pod and the pod that it created.
            let probe = probe_of(&client, &uid).await?;
            let is_there = cold_subjects(&client, &uid).await > 2;
            (is_there && send_signal("KILL", probe)).then_some(())
        })
        .await;
        let run = runs::finished(&client, &namespace, "victim", 240).await;
        let outcomes = runs::outcomes(&runs::records(&client, &run).await);
        // In the first trial, unless this machine took too long to see it.
        let mut found: Vec<&String> = outcomes.values().collect();
        found.sort();
        assert_eq!(found, ["Failed ProbeFailed", "Measured"], "{outcomes:#?}");
        assert_eq!(left_of(&client, &uid).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_suspended_run_has_no_pods_and_a_deleted_one_leaves_none() {
    with_namespace("coldstop", |client, namespace| async move {
        let spec = "
blocks: 5
variants: [{name: native, preset: native}]
workloads: [{name: hello}]
sweeps: {coldStart: {samples: 20, concurrency: [2]}}
";
        let run = runs::create(&client, &namespace, "halted", spec).await;
        let uid = run.metadata.uid.expect("a uid");
        eventually(PATIENCE, "a probe and cold subjects", || async {
            (left_of(&client, &uid).await.len() > 4).then_some(())
        })
        .await;
        let patch = ["patch", "brun", "halted", "-n", &namespace, "--type=merge"];
        let suspend = [&patch[..], &["-p", r#"{"spec":{"suspend":true}}"#]].concat();
        assert!(kubectl(&suspend).await.ok);
        eventually(PATIENCE, "nothing is left", || async {
            left_of(&client, &uid).await.is_empty().then_some(())
        })
        .await;
        let resume = [&patch[..], &["-p", r#"{"spec":{"suspend":false}}"#]].concat();
        assert!(kubectl(&resume).await.ok);
        eventually(PATIENCE, "a probe and cold subjects", || async {
            (left_of(&client, &uid).await.len() > 4).then_some(())
        })
        .await;
        let delete = ["delete", "brun", "halted", "-n", &namespace, "--wait=false"];
        assert!(kubectl(&delete).await.ok);
        eventually(PATIENCE, "nothing is left", || async {
            left_of(&client, &uid).await.is_empty().then_some(())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn an_image_that_does_not_exist_is_skipped_with_its_reason() {
    with_namespace("coldimage", |client, namespace| async move {
        let spec = "
blocks: 1
variants:
- {name: native, preset: native}
- {name: ghost, container: {image: 'localhost/wasmbench/ghost:1'}}
workloads: [{name: hello}]
sweeps: {coldStart: {samples: 1, timeoutSeconds: 60}}
";
        runs::create(&client, &namespace, "haunted", spec).await;
        let run = runs::finished(&client, &namespace, "haunted", 240).await;
        let outcomes = runs::outcomes(&runs::all_records(&client, &run).await);
        let ghost: Vec<&String> = outcomes
            .iter()
            .filter_map(|(trial, outcome)| trial.starts_with("ghost").then_some(outcome))
            .collect();
        // In the order of their names: the scout, and the trial that it saves.
        let expected = ["Failed ImageUnavailable", "Skipped ImageUnavailable"];
        assert_eq!(ghost, expected, "{outcomes:#?}");
        let skipped = &run.status.as_ref().expect("a status").skipped;
        assert_eq!(skipped[0].variant, "ghost");
    })
    .await;
}
