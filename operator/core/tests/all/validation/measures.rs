//! Measures that are compared only if the spec names them.

use wasmbench_api::run::Metric;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::validate::validate;
use wasmbench_model::wire::request::MeterLevel;

use crate::common;

/// Why a run of these measures is refused; empty if it is not.
fn refused(measures: &[Metric], sweeps: &str, config: &OperatorConfig) -> String {
    let mut run = common::parse(common::RUN);
    run.spec.additional_measures = measures.to_vec();
    run.spec.sweeps = serde_yaml::from_str(sweeps).unwrap();
    let refused = validate(&run, config).err();
    refused.map_or_else(String::new, |refused| refused.to_string())
}

const WARM: &str = "{warmLatency: {requests: 100}}";
const THROUGHPUT: &str = "{throughput: {connections: [10]}}";

#[test]
fn an_additional_measure_that_no_sweep_gives_is_refused() {
    let config = common::config();
    let measures = [Metric::CpuUse];
    assert_eq!(refused(&measures, THROUGHPUT, &config), "");
    let warm = refused(&measures, WARM, &config);
    let expected = "spec.additionalMeasures: the run has no sweep that measures cpuUse: add spec.sweeps.throughput";
    assert!(warm.starts_with(expected), "{warm}");
    assert!(warm.ends_with("or remove the measure"), "{warm}");
    let switches = [
        Metric::ContextSwitchesPerCpuSecond,
        Metric::PageFaultsPerRequest,
        Metric::SystemCpuPerRequest,
    ];
    for sweeps in [WARM, THROUGHPUT] {
        assert_eq!(refused(&switches, sweeps, &config), "");
    }
}

#[test]
fn instance_time_needs_a_server_of_kernels() {
    let found = refused(&[Metric::InstanceTimePerRequest], WARM, &common::config());
    assert!(
        found.contains("add a variant with a preset kernel-"),
        "{found}"
    );
}

#[test]
fn counters_of_the_node_need_a_probe_that_may_read_them() {
    let blind = OperatorConfig {
        meter: MeterLevel::None,
        ..common::config()
    };
    for measure in [
        Metric::ContextSwitchesPerCpuSecond,
        Metric::PageFaultsPerRequest,
        Metric::SystemCpuPerRequest,
        Metric::CpuUse,
    ] {
        let found = refused(&[measure], THROUGHPUT, &blind);
        assert!(found.contains("meter.level"), "{found}");
    }
}
