//! A Prometheus that accepts every ServiceMonitor and every rule of the cluster finds those of the
//! chart.

use std::collections::BTreeSet;

use serde_json::Value;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::prometheus::{api_data, metrics_are_clean, query};
use wasmbench_e2e::{PATIENCE, eventually, operator_namespace};

/// The elements of a list; empty if the value is no list.
fn elements(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Names of the alerts among these rules; `name` is the field that holds them in the cluster or in
/// Prometheus.
fn alerts<'a>(groups: &'a [Value], name: &str) -> BTreeSet<&'a str> {
    let rules = groups.iter().flat_map(|group| elements(&group["rules"]));
    rules.filter_map(|rule| rule[name].as_str()).collect()
}

/// The groups of all PrometheusRules of the release.
async fn groups_of_chart() -> Vec<Value> {
    let namespace = operator_namespace();
    let rules = ["get", "prometheusrules", "-n", &namespace, "-o", "json"];
    let output = kubectl(&rules).await;
    assert!(output.ok, "{output:?}");
    let list: Value = serde_json::from_str(&output.stdout).expect("a list");
    let objects = elements(&list["items"]).iter();
    let groups = objects.flat_map(|object| elements(&object["spec"]["groups"]));
    groups.cloned().collect()
}

#[tokio::test]
#[ignore = "needs Prometheus: make test-ui"]
async fn the_service_monitor_is_picked_up_and_its_target_is_up() {
    let expression = format!("up{{namespace=\"{}\"}}", operator_namespace());
    let what = "the operator is a target of Prometheus, and up";
    let series = eventually(PATIENCE, what, || async {
        let series = query(&expression).await?;
        let is_up = |series: &Value| series["value"][1] == "1";
        (!series.is_empty() && series.iter().all(is_up)).then_some(series)
    })
    .await;
    assert_eq!(series.len(), 1, "{series:#?}");
    assert_eq!(series[0]["metric"]["service"], "wasmbench-metrics");
}

#[tokio::test]
#[ignore = "needs Prometheus: make test-ui"]
async fn every_alert_rule_of_the_chart_is_loaded_and_evaluated_without_an_error() {
    let groups = groups_of_chart().await;
    let written = alerts(&groups, "alert");
    assert!(!written.is_empty(), "{groups:#?}");
    let what = "Prometheus has evaluated the alerts of the chart";
    let loaded = eventually(PATIENCE, what, || async {
        let answer = api_data("rules").await?;
        let loaded = elements(&answer["groups"]).to_vec();
        let has_run = |rule: &Value| rule["health"] != "unknown";
        let mut rules = loaded.iter().flat_map(|group| elements(&group["rules"]));
        let complete = written.is_subset(&alerts(&loaded, "name")) && rules.all(has_run);
        complete.then_some(loaded)
    })
    .await;
    let rules = loaded.iter().flat_map(|group| elements(&group["rules"]));
    let failed: Vec<&Value> = rules.filter(|rule| rule["health"] != "ok").collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test]
#[ignore = "needs Prometheus: make test-ui"]
async fn promtool_finds_nothing_wrong_with_the_metrics() {
    metrics_are_clean().await;
}

#[tokio::test]
#[ignore = "needs Prometheus: make test-ui"]
async fn prometheus_finds_the_alertmanager() {
    eventually(PATIENCE, "an Alertmanager takes alerts", || async {
        let found = api_data("alertmanagers").await?;
        let active = elements(&found["activeAlertmanagers"]);
        (!active.is_empty()).then_some(())
    })
    .await;
}
