//! A second installation in the cluster: its operator ends.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use serde_json::json;
use wasmbench_controller::operator;
use wasmbench_core::build::leader;

use crate::apiserver_mock::conversation;

/// What the operator of a second installation says if the cluster has this Lease. It makes one call.
async fn refusal(lease: Lease) -> String {
    let leases = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList", "metadata": {}, "items": [lease],
    });
    let calls = vec![("GET", "/apis/coordination.k8s.io/v1/leases", 200, leases)];
    let (context, server) = conversation(calls);
    let refused = operator::run(context, "second").await.unwrap_err();
    server.await.unwrap();
    format!("{refused:#}")
}

#[tokio::test]
async fn a_second_operator_ends_without_a_lease_of_its_own() {
    let counts = Duration::from_secs(20);
    let lease = leader::taken(None, "elsewhere", "first", counts, Timestamp::now());
    let text = refusal(lease).await;
    assert!(
        text.contains("already installed in namespace elsewhere"),
        "{text}"
    );
}
