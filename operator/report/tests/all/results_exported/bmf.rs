//! Bencher Metric Format.

use serde_json::Value;
use wasmbench_report::export::bmf::{bmf, left_out};
use wasmbench_results::summary::Summary;

use super::support::{mixed, nothing, untrusted, with_a_lost_trial};

fn parsed(summary: &Summary) -> Value {
    serde_json::from_str(&bmf(summary).unwrap()).unwrap()
}

#[test]
fn bmf_of_a_mixed_run() {
    insta::assert_snapshot!(bmf(&mixed()).unwrap());
}

#[test]
fn invalid_points_and_variants_without_a_number_are_no_benchmarks() {
    let found = parsed(&mixed());
    let names: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert!(found.get("embedded/hello/warm").is_some(), "{names:?}");
    assert!(
        found.get("embedded/hello/throughput-c10").is_none(),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.starts_with("shim/")),
        "{names:?}"
    );
}

#[test]
fn what_is_not_trusted_is_left_out_and_said() {
    let summary = with_a_lost_trial();
    assert!(parsed(&summary).get("embedded/hello/warm").is_none());
    assert!(parsed(&summary).get("native/hello/warm").is_some());
    let said = left_out(&summary).unwrap();
    assert!(
        said.starts_with("1 of 12 valid points are left out"),
        "{said}"
    );
    assert_eq!(left_out(&mixed()), None);
}

#[test]
fn a_ratio_of_too_few_blocks_is_left_out_beside_its_number() {
    let found = parsed(&untrusted());
    let measures = found["embedded/hello/warm"].as_object().unwrap();
    assert!(measures.contains_key("warm-p50-microseconds"));
    assert!(!measures.contains_key("warm-p50-ratio"));
}

#[test]
fn a_run_without_records_has_no_benchmarks() {
    assert_eq!(parsed(&nothing()), serde_json::json!({}));
}

#[test]
fn every_number_lies_within_its_interval() {
    let found = parsed(&mixed());
    let benchmarks = found.as_object().unwrap().values();
    let measures = benchmarks.flat_map(|one| one.as_object().unwrap());
    let mut looked_at = 0;
    for (name, value) in measures {
        let number = |key: &str| value[key].as_f64().unwrap();
        let (low, high) = (number("lower_value"), number("upper_value"));
        assert!((low..=high).contains(&number("value")), "{name}: {value}");
        looked_at += 1;
    }
    assert!(looked_at > 30, "{looked_at}");
}
