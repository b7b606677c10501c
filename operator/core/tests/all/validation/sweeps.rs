//! Loads, density and precision.

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::{Network, Workload};
use wasmbench_core::validate::validate;

use super::cold_refused;
use crate::common;

#[test]
fn more_connections_than_the_administrator_allows_are_refused() {
    let mut config = common::config();
    config.limits.connections = 20;
    let invalid = validate(&common::parse(common::RUN), &config).unwrap_err();
    assert_eq!(invalid.field, "spec.sweeps.throughput.connections");
    assert!(invalid.message.contains("50 connections") && invalid.message.contains("20"));
}

#[test]
fn a_precision_that_cannot_be_reached_is_refused() {
    let refusal = |change: &dyn Fn(&mut BenchmarkRun)| {
        let mut run = common::precise(7, 20);
        change(&mut run);
        let refused = validate(&run, &common::config()).err();
        refused.map(|invalid| invalid.field).unwrap_or_default()
    };
    let precision = |run: &mut BenchmarkRun, target: &str, most| {
        let precision = run.spec.precision.as_mut().unwrap();
        precision.target_relative_interval = Some(target.into());
        precision.max_blocks = most;
    };
    assert_eq!(refusal(&|_| ()), "");
    let target = "spec.precision.targetRelativeInterval";
    assert_eq!(refusal(&|run| precision(run, "0.05", 20)), target);
    assert_eq!(refusal(&|run| precision(run, "60%", 20)), target);
    let most = "spec.precision.maxBlocks";
    assert_eq!(refusal(&|run| precision(run, "5%", 7)), most);
    assert_eq!(refusal(&|run| run.spec.blocks = 21), most);
    assert_eq!(
        refusal(&|run| run.spec.variants.truncate(1)),
        "spec.precision"
    );
}

#[test]
fn density_is_bounded_by_the_crd_and_tighter_by_the_administrator() {
    use wasmbench_api::density::{Density, DensityStop};
    let wrong = |sweep: Density, limit: u32| {
        let field = cold_refused(|run, config| {
            run.spec.sweeps.density = Some(sweep.clone());
            run.spec.sweeps.cold_start = None;
            config.limits.density_instances = limit;
        });
        field.to_string()
    };
    let climb = |instances: &[u32]| Density {
        instances: instances.to_vec(),
        requests: 10,
        stop: DensityStop::default(),
    };
    assert!(wrong(climb(&[1, 6]), 5).contains("6 instances"));
    for instances in [&[4][..], &[0, 4], &[4, 4]] {
        assert!(wrong(climb(instances), 5).contains("at least two"));
    }
    let mut few = climb(&[1, 2]);
    few.requests = 9;
    assert!(wrong(few, 5).contains("10 or more"));
    let mut all = climb(&[1, 2]);
    all.stop.available_memory_percent = 91;
    assert!(wrong(all, 5).contains("availableMemoryPercent"));
}

#[test]
fn density_needs_pods_with_networks_of_their_own() {
    let invalid = cold_refused(|run, config| {
        run.spec.sweeps.cold_start = None;
        run.spec.sweeps.density =
            serde_json::from_value(serde_json::json!({"instances": [1, 2]})).ok();
        run.spec.placement.get_or_insert_default().network = Network::Host;
        config.host_network = true;
    });
    assert_eq!(invalid.field, "spec.sweeps.density");
    assert!(invalid.message.contains("set network to Pod"), "{invalid}");
}

#[test]
fn an_open_loop_is_bounded_by_the_crd_and_tighter_by_the_administrator() {
    use wasmbench_api::open_loop::{OpenLoop, Target};
    let wrong = |change: &dyn Fn(&mut OpenLoop)| {
        let mut sweep: OpenLoop = serde_json::from_value(serde_json::json!({})).unwrap();
        change(&mut sweep);
        let field = cold_refused(|run, config| {
            run.spec.sweeps.open_loop = Some(sweep.clone());
            run.spec.sweeps.cold_start = None;
            config.limits.connections = 60;
            config.limits.duration_seconds = 20;
        });
        field.to_string()
    };
    for rates in [&[][..], &[0, 50], &[50, 100]] {
        let message = wrong(&|sweep| sweep.rates_percent_of_peak = Some(rates.to_vec()));
        assert!(message.contains("from 1 to 99"), "{message}");
    }
    for rates in [&[][..], &[0, 50], &[50, 200_001]] {
        let message = wrong(&|sweep| sweep.rates = Some(rates.to_vec()));
        assert!(message.contains("from 1 to 200000"), "{message}");
    }
    assert!(wrong(&|sweep| sweep.rates_percent_of_peak = Some(vec![50, 50])).contains("twice"));
    assert!(wrong(&|sweep| sweep.rates = Some(vec![200, 200])).contains("twice"));
    let both = wrong(&|sweep| {
        sweep.rates = Some(vec![200]);
        sweep.rates_percent_of_peak = Some(vec![50]);
    });
    assert!(both.contains("either rates"), "{both}");
    assert!(both.contains("or ratesPercentOfPeak"), "{both}");
    assert!(wrong(&|sweep| sweep.connections = 61).contains("allows 60"));
    assert!(wrong(&|sweep| sweep.connections = 0).contains("1 or more"));
    assert!(wrong(&|sweep| sweep.duration_seconds = 21).contains("allows 20 s"));
    assert!(wrong(&|sweep| sweep.peak_seconds = 21).contains("allows 20 s"));
    let ladder = |p99: &str, rates: &[u32]| {
        let rates = rates.to_vec();
        wrong(&|sweep| {
            sweep.target = Some(Target { p99: p99.into() });
            sweep.rates = Some(rates.clone()).filter(|rates| !rates.is_empty());
        })
    };
    assert!(ladder("50", &[]).contains("from 1ms to 5000ms"));
    assert!(ladder("50ms", &[200]).contains("list two or more"));
    assert!(ladder("50ms", &[1, 200]).contains("each 2 or more"));
    let long = ladder("50ms", &[10, 200]);
    assert!(long.contains("take 105 s at 10 requests/s"), "{long}");
    let shares = wrong(&|sweep| {
        sweep.target = Some(Target { p99: "50ms".into() });
        sweep.rates_percent_of_peak = Some(vec![50]);
    });
    assert!(
        shares.contains("leave out rates and ratesPercentOfPeak"),
        "{shares}"
    );
}

#[test]
fn a_payload_is_bounded_by_the_crd_and_tighter_by_the_administrator() {
    use wasmbench_api::payload::Payload;
    let refusal = |workloads: usize, change: &dyn Fn(&mut Payload)| {
        let mut sweep: Payload = serde_json::from_value(serde_json::json!({})).unwrap();
        change(&mut sweep);
        let field = cold_refused(|run, config| {
            let first = run.spec.workloads[0].clone();
            run.spec.workloads = (0..workloads)
                .map(|index| Workload {
                    name: format!("w{index}"),
                    ..first.clone()
                })
                .collect();
            run.spec.sweeps.payload = Some(sweep.clone());
            run.spec.sweeps.cold_start = None;
            config.limits.connections = 60;
            config.limits.duration_seconds = 20;
        });
        field.to_string()
    };
    assert!(refusal(2, &|_| ()).contains("set one workload"));
    for bytes in [&[][..], &[1024], &[0, 0], &[0, 1_048_577]] {
        let message = refusal(1, &|sweep| sweep.bytes = bytes.to_vec());
        assert!(
            message.contains("at least two different sizes"),
            "{message}"
        );
    }
    assert!(refusal(1, &|sweep| sweep.connections = 61).contains("allows 60"));
    assert!(refusal(1, &|sweep| sweep.connections = 0).contains("1 or more"));
    assert!(refusal(1, &|sweep| sweep.duration_seconds = 21).contains("allows 20 s"));
}
