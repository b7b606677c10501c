//! A service that speaks TLS is measured like one that does not, and a wrong scheme is named.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::runs;

fn container(image: &str, arguments: &[&str], scheme: &str) -> Value {
    json!({ "image": image, "args": arguments, "scheme": scheme })
}

/// The only request that `/strict` takes (`hack/misbehave`), sent to one image that is spoken to in
/// four ways.
fn spec(image: &str) -> String {
    json!({
        "blocks": 2,
        "seed": 1,
        "baseline": "plain",
        "noiseFloor": false,
        // Long enough for a service that has nothing to do before it listens.
        "subjectReadyTimeoutSeconds": 5,
        "variants": [
            {"name": "plain", "container": container(image, &[], "HTTP")},
            {"name": "secured", "container": container(image, &["--tls"], "HTTPS")},
            {"name": "scheme-missing", "container": container(image, &["--tls"], "HTTP")},
            {"name": "scheme-wrong", "container": container(image, &[], "HTTPS")},
        ],
        "workloads": [{
            "name": "order",
            "path": "/strict",
            "method": "POST",
            "headers": [
                {"name": "Host", "value": "shop.example.com"},
                {"name": "Content-Type", "value": "application/json"},
                {"name": "X-Api-Key", "value": "let me in"},
            ],
            "body": r#"{"items": [1, 2, 3], "name": "pen"}"#,
            "expect": {"json": {"/total": 42}, "sameAcrossVariants": true},
        }],
        "sweeps": {"warmLatency": {"requests": 50}},
    })
    .to_string()
}

#[tokio::test]
async fn https_is_measured_whatever_the_certificate_and_a_wrong_scheme_is_named() {
    with_namespace("tls", |client, namespace| async move {
        let image = test_image(&client, "misbehave").await;
        runs::create(&client, &namespace, "tls", &spec(&image)).await;
        let run = runs::finished(&client, &namespace, "tls", 300).await;
        let records = runs::records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        let measured = outcomes.values().filter(|word| *word == "Measured");
        assert_eq!(measured.count(), 4, "{outcomes:#?}");

        let status = run.status.expect("a status");
        let skipped: BTreeMap<&str, (&str, &str)> = status
            .skipped
            .iter()
            .map(|one| (&*one.variant, (&*one.reason, &*one.message)))
            .collect();
        for (variant, remedy) in [
            ("scheme-missing", "set container.scheme to HTTPS"),
            ("scheme-wrong", "leave out container.scheme"),
        ] {
            let (reason, message) = skipped.get(variant).expect("it is skipped");
            assert_eq!(*reason, "TlsMismatch", "{variant}: {message}");
            assert!(message.contains(remedy), "{variant}: {message}");
        }
        assert_eq!(skipped.len(), 2, "{skipped:#?}");
    })
    .await;
}
