//! The Prometheus that `hack/ui/stack` starts, queried through the API server.

use serde_json::Value;

use crate::kubectl::{kubectl, run};
use crate::operator_namespace;

/// The folder of manifests uses the same name.
const NAMESPACE: &str = "wasmbench-ui";

/// The field `data` of Prometheus's response under `/api/v1/`; `None` while it does not respond.
pub async fn api_data(path: &str) -> Option<Value> {
    let service = "services/prometheus-operated:9090/proxy/api/v1";
    let path = format!("/api/v1/namespaces/{NAMESPACE}/{service}/{path}");
    let output = kubectl(&["get", "--raw", &path]).await;
    let mut answer: Value = serde_json::from_str(&output.stdout).ok()?;
    (answer["status"] == "success").then(|| answer["data"].take())
}

/// The series that a query returns now; `None` while Prometheus does not respond.
pub async fn query(expression: &str) -> Option<Vec<Value>> {
    let data = api_data(&format!("query?query={}", encoded(expression))).await?;
    data["result"].as_array().cloned()
}

/// Checks with promtool what the operator serves on `/metrics`; panics with the problems found.
pub async fn metrics_are_clean() {
    let namespace = operator_namespace();
    let path =
        format!("/api/v1/namespaces/{namespace}/services/wasmbench-metrics:8080/proxy/metrics");
    let script = format!("kubectl get --raw {path} | promtool check metrics");
    let checked = run("bash", &["-o", "pipefail", "-c", &script]).await;
    let problems = format!("{}{}", checked.stdout, checked.stderr);
    assert!(checked.ok && problems.trim().is_empty(), "{checked:?}");
}

/// The alerts that its Alertmanager holds; `None` while it does not respond.
pub async fn alerts() -> Option<Vec<Value>> {
    let service = "services/alertmanager-operated:9093/proxy/api/v2/alerts";
    let path = format!("/api/v1/namespaces/{NAMESPACE}/{service}");
    let output = kubectl(&["get", "--raw", &path]).await;
    serde_json::from_str(&output.stdout).ok()
}

/// Encodes text as part of a URL's query.
fn encoded(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_encoded_for_a_url() {
        assert_eq!(encoded(r#"up{a="1"} + 1"#), "up%7Ba%3D%221%22%7D%20%2B%201");
    }
}
