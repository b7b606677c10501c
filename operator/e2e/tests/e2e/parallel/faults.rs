//! Faults are marked with their reason, and the rest of the run continues.

use wasmbench_api::conditions;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::{image, pulled_image};
use wasmbench_e2e::processes::{probe_of, send_signal};
use wasmbench_e2e::{PATIENCE, eventually, runs};
use wasmbench_model::wire::record::Record;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;

#[tokio::test]
async fn broken_variants_are_marked_and_the_others_measured() {
    with_namespace("faults", |client, namespace| async move {
        let (image, named) = (image(&client, "native").await, pulled_image());
        let spec = format!(
            r"
blocks: 1
subjectReadyTimeoutSeconds: 30
variants:
- {{name: good, preset: native}}
- {{name: no-image, container: {{image: localhost/wasmbench/does-not-exist:1}}}}
- {{name: crashes, container: {{image: '{image}', args: [--no-such-flag]}}}}
- {{name: named-user, container: {{image: '{named}'}}}}
- {{name: no-class, container: {{image: '{image}', runtimeClassName: no-such-class}}}}
workloads:
- {{name: hello, expect: {{body: hello}}}}
- {{name: liar, expect: {{body: goodbye}}}}
sweeps:
  warmLatency: {{requests: 50, warmupRequests: 10}}
"
        );
        runs::create(&client, &namespace, "broken", &spec).await;
        let run = runs::finished(&client, &namespace, "broken", 300).await;
        let records = runs::all_records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        assert_eq!(outcomes.len(), 5 + 10, "{outcomes:#?}");
        let mut scouts = records.iter().filter_map(Record::scout);
        let scout = scouts
            .find(|scout| scout.failure.is_none())
            .expect("the good one's");
        let observed = &scout.workloads[0];
        assert_eq!(
            (observed.answers.len(), &observed.failure),
            (2, &None),
            "{scout:#?}"
        );
        let idle = scout.idle.expect("the node is read");
        assert!(idle.own_nanoseconds.is_some(), "{idle:?}");
        let outcomes_of = |prefix: &str| -> Vec<&str> {
            let mine = outcomes
                .iter()
                .filter(|(trial, _)| trial.starts_with(prefix));
            mine.map(|(_, outcome)| outcome.as_str()).collect()
        };
        assert_eq!(outcomes_of("good/hello/"), ["Measured"]);
        // The scout saw it before any load.
        assert_eq!(outcomes_of("good/liar/"), ["Skipped WrongAnswer"]);
        assert_eq!(
            outcomes_of("no-class/"),
            ["Skipped RuntimeClassNotFound"; 3]
        );
        for (prefix, reason) in [
            ("no-image/", "ImageUnavailable"),
            ("crashes/", "SubjectCrashed"),
            ("named-user/", "SubjectNotStarted"),
        ] {
            let found = outcomes_of(prefix);
            assert!(
                found.iter().all(|outcome| outcome.ends_with(reason)),
                "{prefix} {found:?}"
            );
            assert!(
                found.contains(&&*format!("Failed {reason}")),
                "{prefix} {found:?}"
            );
        }
        let succeeded = runs::condition(&run, conditions::SUCCEEDED).expect("set");
        assert_eq!(
            (&*succeeded.status, &*succeeded.reason),
            ("False", "Incomplete")
        );
        let skipped = &run.status.as_ref().expect("a status").skipped;
        let message = |variant: &str| {
            let mut all = skipped.iter();
            let found = all.find(|skipped| skipped.variant == variant);
            found
                .unwrap_or_else(|| panic!("{variant}: {skipped:#?}"))
                .message
                .as_str()
        };
        for variant in ["no-image", "crashes"] {
            assert!(!message(variant).is_empty(), "{skipped:#?}");
        }
        let user = message("named-user");
        assert!(user.contains("container.runAsUser"), "{user}");
        let remedy = "install the shim and its RuntimeClass";
        assert!(message("no-class").contains(remedy), "{skipped:#?}");
        assert!(
            left_of(&client, run.metadata.uid.as_deref().expect("uid"))
                .await
                .is_empty()
        );
    })
    .await;
}

#[tokio::test]
async fn a_variant_that_never_listens_is_marked_and_the_other_measured() {
    with_namespace("deaf", |client, namespace| async move {
        let image = image(&client, "native").await;
        // A single trial of each: one waits in vain for as long as the other may need.
        let spec = format!(
            r"
blocks: 1
subjectReadyTimeoutSeconds: 40
variants:
- {{name: good, preset: native}}
- {{name: deaf, container: {{image: '{image}', port: 9999}}}}
workloads: [{{name: hello, expect: {{body: hello}}}}]
sweeps: {{warmLatency: {{requests: 50, warmupRequests: 10}}}}
"
        );
        runs::create(&client, &namespace, "deaf", &spec).await;
        let run = runs::finished(&client, &namespace, "deaf", 300).await;
        let outcomes = runs::outcomes(&runs::records(&client, &run).await);
        let found: Vec<&String> = outcomes.values().collect();
        // In the order of their names.
        assert_eq!(found, ["Failed NeverListened", "Measured"], "{outcomes:#?}");
        let skipped = &run.status.as_ref().expect("a status").skipped;
        assert_eq!(skipped.len(), 1, "{skipped:#?}");
        assert!(
            skipped[0].variant == "deaf" && !skipped[0].message.is_empty(),
            "{skipped:#?}"
        );
        let succeeded = runs::condition(&run, conditions::SUCCEEDED).expect("set");
        assert_eq!(
            (&*succeeded.status, &*succeeded.reason),
            ("False", "Incomplete")
        );
    })
    .await;
}

#[tokio::test]
async fn a_child_that_never_ends_is_killed_at_its_timeout_and_answered_504() {
    with_namespace("hung", |client, namespace| async move {
        let image = image(&client, "wasmedge-cli").await;
        // Its child is a server that never ends and must not find its port taken.
        let spec = format!(
            r"
blocks: 1
variants:
- name: hangs
  container:
    image: '{image}'
    port: 9000
    args: [--listen, '0.0.0.0:9000', --children, '1', --child-timeout-ms, '300', --module, /server.wasm]
workloads:
- {{name: hung, expect: {{status: 504, body: the child process did not answer in time}}}}
sweeps:
  warmLatency: {{requests: 20, warmupRequests: 1}}
"
        );
        let (run, _) = runs::measured(&client, &namespace, ("hung", &spec), 300, 1).await;
        let status = run.status.as_ref().expect("a status");
        let row = status.summary.first();
        let point = row.and_then(|row| row.warm_latency.as_ref());
        let median = point.map_or(0.0, |point| point.p50_microseconds);
        assert!((300_000.0..9_000_000.0).contains(&median), "{status:#?}");
    })
    .await;
}

#[tokio::test]
async fn a_run_that_no_node_fits_stalls_at_once_and_names_the_labels_it_requires() {
    with_namespace("nonode", |client, namespace| async move {
        let spec = r"
placement: {nodeSelector: {disk: made-of-cheese}}
variants: [{name: native, preset: native}]
workloads: [{name: hello}]
sweeps: {warmLatency: {requests: 50}}
";
        runs::create(&client, &namespace, "nowhere", spec).await;
        let stalled = eventually(PATIENCE, "the run stalls", || async {
            let run = runs::get(&client, &namespace, "nowhere").await;
            runs::condition(&run, conditions::STALLED).filter(|stalled| stalled.status == "True")
        })
        .await;
        assert_eq!(stalled.reason, conditions::NO_MATCHING_NODE);
        let message = stalled.message;
        assert!(message.contains("disk=made-of-cheese"), "{message}");
    })
    .await;
}

#[tokio::test]
async fn a_probe_that_hangs_is_stopped_at_its_deadline_and_the_run_goes_on() {
    with_namespace("hang", |client, namespace| async move {
        let spec = r"
blocks: 2
subjectReadyTimeoutSeconds: 40
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [1], durationSeconds: 1, warmupSeconds: 0}}
";
        let run = runs::create(&client, &namespace, "hanging", spec).await;
        let uid = run.metadata.uid.expect("a uid");
        runs::measuring(&client, &namespace, "hanging", 60).await;
        let frozen = eventually(PATIENCE, "a probe runs", || async {
            let probe = probe_of(&client, &uid).await?;
            // As a bug of the kernel or a full disk would.
            send_signal("STOP", probe).then_some(probe)
        })
        .await;
        let run = runs::finished(&client, &namespace, "hanging", 300).await;
        let outcomes = runs::outcomes(&runs::records(&client, &run).await);
        let mut found: Vec<&String> = outcomes.values().collect();
        found.sort();
        assert_eq!(
            found,
            ["Failed ProbeDeadlineExceeded", "Measured"],
            "pid {frozen}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_foreign_report_of_the_same_name_is_kept_and_reported() {
    with_namespace("taken", |client, namespace| async move {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
        let foreign = serde_json::from_value(serde_json::json!({
            "metadata": {"name": "busy-report"}, "data": {"diary": "do not touch"}
        }));
        maps.create(&kube::api::PostParams::default(), &foreign.expect("a map"))
            .await
            .expect("ok");
        let spec = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello}]
sweeps: {warmLatency: {requests: 50}}
";
        runs::create(&client, &namespace, "busy", spec).await;
        eventually(
            PATIENCE,
            "the run reports that the name is taken",
            || async {
                let run = runs::get(&client, &namespace, "busy").await;
                let stalled = runs::condition(&run, conditions::STALLED)?;
                (stalled.status == "True" && stalled.message.contains("busy-report")).then_some(())
            },
        )
        .await;
        let kept = maps
            .get("busy-report")
            .await
            .expect("still there")
            .data
            .expect("data");
        assert_eq!(kept["diary"], "do not touch");
        maps.delete("busy-report", &kube::api::DeleteParams::default())
            .await
            .expect("deleted");
        runs::finished(&client, &namespace, "busy", 60).await;
    })
    .await;
}
