//! Pods that something changed on their way: an injected container is refused by name, at once, and
//! what a LimitRange adds is named.

use k8s_openapi::api::core::v1::LimitRange;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use wasmbench_e2e::injector::{CONTAINER, inject};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_model::wire::record::{Outcome, Record};

/// A variant into whose pods a container is injected, and one that is left alone.
/// The injected container never starts: whoever waited for the pods would wait for ten minutes.
fn spec(sweep: &str) -> String {
    format!(
        r"
blocks: 1
subjectReadyTimeoutSeconds: 600
variants:
- {{name: good, preset: native}}
- {{name: injected, preset: native}}
workloads: [{{name: sleep, path: '/sleep?ms=20', expect: {{body: slept}}}}]
sweeps: {{{sweep}}}
"
    )
}

/// Asserts that the injected variant was tried once, by its scout, and not measured, and that the
/// message says why.
fn assert_refused(records: &[Record]) {
    let outcomes = runs::outcomes(records);
    let outcomes_of = |prefix: &str| -> Vec<&str> {
        let mine = outcomes
            .iter()
            .filter(|(trial, _)| trial.starts_with(prefix));
        let mut found: Vec<&str> = mine.map(|(_, outcome)| outcome.as_str()).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(outcomes_of("good/"), ["Measured"; 2], "{outcomes:#?}");
    let refused = ["Failed SubjectAltered", "Skipped SubjectAltered"];
    assert_eq!(outcomes_of("injected/"), refused, "{outcomes:#?}");
    let message = records.iter().find_map(|record| match &record.outcome {
        Outcome::Failed { message, .. } => Some(message),
        Outcome::Measured | Outcome::Skipped { .. } => None,
    });
    let message = message.expect("a message");
    let named = format!("the container '{CONTAINER}' was added. Exempt namespace");
    assert!(message.contains(&named), "{message}");
}

#[tokio::test]
async fn a_subject_with_an_injected_container_is_refused_and_the_other_measured() {
    with_namespace("altered", |client, namespace| async move {
        inject(&client, &namespace, "injected").await;
        let warm = spec("warmLatency: {requests: 50, warmupRequests: 10}");
        runs::create(&client, &namespace, "warm", &warm).await;
        let run = runs::finished(&client, &namespace, "warm", 300).await;
        assert_refused(&runs::all_records(&client, &run).await);
        let skipped = &run.status.as_ref().expect("a status").skipped;
        let skipped: Vec<&str> = skipped.iter().map(|one| one.variant.as_str()).collect();
        assert_eq!(skipped, ["injected"]);
    })
    .await;
}

#[tokio::test]
async fn a_cold_start_with_an_injected_container_is_refused_and_the_other_measured() {
    with_namespace("alteredcold", |client, namespace| async move {
        inject(&client, &namespace, "injected").await;
        let cold = spec("coldStart: {samples: 1, timeoutSeconds: 300}");
        runs::create(&client, &namespace, "cold", &cold).await;
        let run = runs::finished(&client, &namespace, "cold", 250).await;
        assert_refused(&runs::all_records(&client, &run).await);
    })
    .await;
}

#[tokio::test]
async fn defaults_of_a_limit_range_are_recorded_and_are_no_alteration() {
    with_namespace("limited", |client, namespace| async move {
        let range = json!({
            "metadata": { "name": "defaults" },
            "spec": { "limits": [{ "type": "Container", "default": { "cpu": "500m" } }] },
        });
        let range: LimitRange = serde_json::from_value(range).expect("a LimitRange");
        let api: Api<LimitRange> = Api::namespaced(client.clone(), &namespace);
        let created = api.create(&PostParams::default(), &range).await;
        created.expect("the LimitRange is created");
        let spec = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 50, warmupRequests: 10}, coldStart: {samples: 1}}
";
        let (_, records) = runs::measured(&client, &namespace, ("limited", spec), 300, 2).await;
        for record in &records {
            let subject = record.subject.as_ref().expect("facts of the subject");
            let limit = subject.limited_by().expect("a limit");
            assert_eq!(
                limit.to_string(),
                "LimitRange: limits.cpu 500m",
                "{record:#?}"
            );
        }
    })
    .await;
}
