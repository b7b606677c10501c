//! `cost --records-from`: what a run's numbers cost on a node, and the message if no cost can be
//! computed.

use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;
use wasmbench_model::wire::record::Record;

use crate::report_from_files::{
    everything, kubectl_wasmbench, record_maps, save, saved_run, stderr, stdout,
};
use crate::results_support::{all_measured, run};

const NODE: [&str; 6] = ["--node-price", "0.10/h", "--vcpus", "4", "--memory", "16Gi"];

fn cost(directory: &TempDir, more: &[&str]) -> Output {
    let directory = directory.path().to_str().unwrap();
    let fixed = ["cost", "gateway-overhead", "--records-from", directory];
    kubectl_wasmbench(&[&fixed, more].concat())
}

fn saved() -> TempDir {
    save(saved_run(true), everything())
}

fn json(more: &[&str]) -> Value {
    let printed = cost(&saved(), &[&NODE, more, &["-o", "json"]].concat());
    serde_json::from_str(&stdout(&printed)).unwrap()
}

#[test]
fn costs_come_after_trust_and_before_what_they_assume() {
    let printed = cost(&saved(), &NODE);
    assert_eq!(printed.status.code(), Some(0), "{}", stderr(&printed));
    insta::assert_snapshot!(stdout(&printed));
}

#[test]
fn a_price_of_a_month_and_a_busier_node_change_the_costs_as_they_should() {
    let median =
        |document: &Value, list: &str| document[list][0]["cost"]["median"].as_f64().unwrap();
    let (hour, month) = (json(&[]), {
        let printed = cost(
            &saved(),
            &[
                "--node-price",
                "146/month",
                "--vcpus",
                "4",
                "--memory",
                "16Gi",
                "-o",
                "json",
            ],
        );
        serde_json::from_str::<Value>(&stdout(&printed)).unwrap()
    });
    let half = json(&["--utilisation", "50%"]);
    for (document, list, times) in [
        (&month, "millionRequests", 2.0),
        (&month, "instanceMonth", 2.0),
        (&half, "millionRequests", 2.0),
        (&half, "instanceMonth", 1.0),
    ] {
        let ratio = median(document, list) / median(&hour, list);
        assert!((ratio - times).abs() < 1e-3, "{list}: {ratio}");
    }
    let ratio =
        |document: &Value| document["millionRequests"][1]["versusBaseline"]["ratio"].clone();
    assert_eq!(ratio(&month), ratio(&hour));
}

#[test]
fn costs_for_programs_name_what_was_measured_where() {
    let document = json(&[]);
    assert_eq!(document["schema"], "wasmbench.dev/cost/v1");
    let requests = document["millionRequests"].as_array().unwrap();
    assert_eq!(requests.len(), 4, "two variants under two workloads");
    let embedded = &requests[1];
    assert_eq!(
        (&embedded["variant"], &embedded["workload"]),
        (&"embedded".into(), &"hello".into())
    );
    assert_eq!(embedded["metric"], "cpuPerRequest");
    assert_eq!(embedded["sweep"], "throughput");
    assert!(embedded["measured"]["median"].as_f64().unwrap() > 0.0);
    let node = &document["node"];
    assert_eq!(
        (&node["vcpus"], &node["cpuUtilisation"]),
        (&4.into(), &1.into())
    );
}

#[test]
fn invalid_options_are_named_with_an_example() {
    let refusal = |more: &[&str]| {
        let printed = cost(&saved(), more);
        assert_eq!(printed.status.code(), Some(2));
        stderr(&printed)
    };
    let wrong = |option: &str, value: &str| {
        let mut node = NODE;
        let place = node.iter().position(|one| *one == option).unwrap();
        node[place + 1] = value;
        refusal(&node)
    };
    for (option, value, remedy) in [
        ("--node-price", "0.10", "0.10/h or 73/month"),
        ("--vcpus", "0", "above 0"),
        ("--memory", "16 GB", "16Gi"),
    ] {
        let message = wrong(option, value);
        assert!(
            message.contains(option) && message.contains(remedy),
            "{message}"
        );
    }
    assert!(
        refusal(&NODE[2..]).contains("--node-price"),
        "it is required"
    );
}

#[test]
fn without_a_cluster_the_size_of_the_node_has_to_be_given() {
    let printed = cost(&saved(), &["--node-price", "$0.10/h", "--vcpus", "4"]);
    assert_eq!(printed.status.code(), Some(1));
    assert!(
        stderr(&printed).contains("--vcpus 4 --memory 16Gi"),
        "{}",
        stderr(&printed)
    );
}

#[test]
fn a_rate_is_priced_by_the_month() {
    let document = json(&["--rate", "500"]);
    assert_eq!(document["rate"], 500.0);
    assert_eq!(document["rateMonth"].as_array().unwrap().len(), 4);
    assert_eq!(json(&[])["rateMonth"], Value::Null);
}

#[test]
fn the_costs_of_a_run_without_resource_readings_are_unknown() {
    let mut records: Vec<Record> = all_measured(&run());
    for record in &mut records {
        record.load_mut().unwrap().timed.as_mut().unwrap().subject = None;
    }
    let printed = cost(&save(saved_run(true), record_maps(&records)), &NODE);
    assert_eq!(printed.status.code(), Some(1));
    assert!(
        stderr(&printed).contains("meter.level"),
        "{}",
        stderr(&printed)
    );
}
