//! Expectations.

use wasmbench_api::BenchmarkRun;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::validate::validate;
use wasmbench_model::wire::request::MeterLevel;

use crate::common;

#[test]
fn an_expectation_must_refer_to_a_comparison() {
    let refusal = |expectation: serde_json::Value| {
        let mut run = common::parse(common::RUN);
        run.spec.expectations = vec![serde_json::from_value(expectation).unwrap()];
        validate(&run, &common::config())
            .err()
            .map(|refused| refused.to_string())
    };
    let gate = |variant: &str, workload: &str, bound: &str| {
        serde_json::json!({
            "name": "gate", "metric": "memory", "variant": variant, "workload": workload,
            "atMost": bound,
        })
    };
    assert_eq!(refusal(gate("hare", "greet", "1.5")), None);
    for (expectation, text) in [
        (
            gate("snail", "greet", "1.5"),
            "'snail' is not one of spec.variants",
        ),
        (
            gate("hare", "hum", "1.5"),
            "'hum' is not one of spec.workloads",
        ),
        (gate("tortoise", "greet", "1.5"), "name another variant"),
        (gate("hare", "greet", "half"), "'half' is not a ratio"),
        (gate("hare", "greet", "20ms"), "'20ms' is not a ratio"),
        (gate("hare", "greet", "5%"), "write a number without a unit"),
    ] {
        let refused = refusal(expectation).unwrap_or_default();
        assert!(refused.contains(text), "{refused}");
    }
}

#[test]
fn a_bound_on_a_start_is_a_difference_with_its_unit() {
    let refusal = |metric: &str, bound: &str| {
        let mut run = common::cold();
        run.spec.workloads[0].max_error_share = Some("1%".into());
        run.spec.expectations = vec![
            serde_json::from_value(serde_json::json!({
                "name": "gate", "metric": metric, "variant": "hare", "workload": "greet",
                "atMost": bound,
            }))
            .unwrap(),
        ];
        let refused = validate(&run, &common::config()).err();
        refused.map_or_else(String::new, |refused| refused.to_string())
    };
    for (metric, bound) in [
        ("coldStartListening", "20ms"),
        ("coldStartAnswer", "-5ms"),
        ("succeeded", "0.5%"),
    ] {
        assert_eq!(refusal(metric, bound), "", "{metric}");
    }
    for (metric, bound, text) in [
        ("coldStartListening", "1.2", "such as 20ms"),
        (
            "coldStartAnswer",
            "20%",
            "'20%' is not a difference in milliseconds",
        ),
        ("succeeded", "0.99", "such as -0.5%"),
    ] {
        let refused = refusal(metric, bound);
        assert!(
            refused.starts_with("spec.expectations[gate]: "),
            "{refused}"
        );
        assert!(refused.contains(text), "{refused}");
    }
}

fn gate_refused(
    mut run: BenchmarkRun,
    metric: &str,
    change: impl Fn(&mut BenchmarkRun, &mut OperatorConfig),
) -> String {
    let gate = serde_json::json!({
        "name": "gate", "metric": metric, "variant": "hare", "workload": "greet", "atMost": "1.5",
    });
    run.spec.expectations = vec![serde_json::from_value(gate).unwrap()];
    let mut config = common::config();
    change(&mut run, &mut config);
    let refused = validate(&run, &config).err();
    refused.map_or_else(String::new, |refused| refused.to_string())
}

#[test]
fn an_expectation_on_a_number_that_no_sweep_gives_is_refused() {
    for metric in ["cpuPerRequest", "memory"] {
        let refused = gate_refused(common::cold(), metric, |run, _| {
            run.spec.sweeps.warm_latency = None;
            run.spec.sweeps.throughput = None;
            run.spec.sweeps.density =
                serde_json::from_value(serde_json::json!({"instances": [1, 2]})).ok();
        });
        let expected =
            format!("spec.expectations[gate]: the run has no sweep that measures {metric}");
        assert!(refused.starts_with(&expected), "{refused}");
        assert!(refused.contains("add spec.sweeps.throughput"), "{refused}");
        let loaded = gate_refused(common::parse(common::RUN), metric, |_, _| ());
        assert_eq!(loaded, "");
    }
    for (metric, sweep) in [
        ("coldStartAnswer", "spec.sweeps.coldStart"),
        ("openLoopP99", "spec.sweeps.openLoop without a target"),
        ("capacity", "spec.sweeps.openLoop with a target"),
        ("payloadFixedCpu", "spec.sweeps.payload"),
    ] {
        let refused = gate_refused(common::parse(common::RUN), metric, |_, _| ());
        assert!(refused.contains(sweep), "{refused}");
    }
}

#[test]
fn an_expectation_on_a_metric_that_no_probe_may_read_is_refused() {
    let blind = |metric| {
        gate_refused(common::parse(common::RUN), metric, |_, config| {
            config.meter = MeterLevel::None;
        })
    };
    assert!(
        blind("memory").contains("meter.level"),
        "{}",
        blind("memory")
    );
    assert_eq!(blind("warmP50"), "");
    let of_density = gate_refused(
        common::parse(common::RUN),
        "memoryPerInstance",
        |run, config| {
            run.spec.sweeps.density =
                serde_json::from_value(serde_json::json!({"instances": [1, 2]})).ok();
            config.meter = MeterLevel::None;
        },
    );
    assert!(of_density.contains("meter.level"), "{of_density}");
}

#[test]
fn an_expectation_needs_a_second_block_for_its_interval() {
    let one = |run: &mut BenchmarkRun| run.spec.blocks = 1;
    let refused = gate_refused(common::parse(common::RUN), "memory", |run, _| one(run));
    assert!(
        refused.starts_with("spec.expectations: one block"),
        "{refused}"
    );
    let precise = gate_refused(common::precise(7, 20), "warmP50", |run, _| one(run));
    assert_eq!(precise, "");
}
