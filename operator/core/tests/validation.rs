//! What is refused, with which field and remedy, and what an accepted run means.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

mod common;

use std::collections::BTreeSet;

use proptest::prelude::*;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Network;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::validate::{Invalid, ValidatedRun, cells_of, validate};
use wasmbench_core::wire::record::{Cell, TrialId};
use wasmbench_core::wire::request::MeterLevel;

fn refused(change: impl Fn(&mut wasmbench_api::BenchmarkRun)) -> Invalid {
    let mut run = common::parse(common::RUN);
    change(&mut run);
    validate(&run, &common::config()).expect_err("the run is wrong")
}

#[test]
fn a_baseline_that_is_no_variant_is_refused() {
    let invalid = refused(|run| run.spec.baseline = Some("achilles".into()));
    assert_eq!(invalid.field, "spec.baseline");
    assert!(invalid.message.contains("achilles"), "{invalid}");
}

#[test]
fn a_baseline_run_must_be_another_run_of_the_namespace() {
    for name in ["other/before", "-before", "Before", ""] {
        let invalid = refused(|run| run.spec.baseline_run_name = Some(name.into()));
        assert_eq!(invalid.field, "spec.baselineRunName", "{name}");
    }
    let itself = refused(|run| run.spec.baseline_run_name = run.metadata.name.clone());
    assert!(itself.message.contains("with itself"), "{itself}");
    let mut run = common::parse(common::RUN);
    run.spec.baseline_run_name = Some("before.2".into());
    assert!(validate(&run, &common::config()).is_ok());
}

#[test]
fn a_name_that_stands_twice_is_refused() {
    let invalid = refused(|run| run.spec.variants[1].name = "tortoise".into());
    assert_eq!(invalid.field, "spec.variants.name");
}

#[test]
fn a_name_that_is_no_label_is_refused() {
    let invalid = refused(|run| run.spec.workloads[0].name = "../../etc".into());
    assert_eq!(invalid.field, "spec.workloads.name");
}

#[test]
fn more_connections_than_the_administrator_allows_are_refused() {
    let mut config = common::config();
    config.limits.connections = 20;
    let invalid = validate(&common::parse(common::RUN), &config).unwrap_err();
    assert_eq!(invalid.field, "spec.sweeps.throughput.connections");
    assert!(invalid.message.contains("50 connections") && invalid.message.contains("20"));
}

#[test]
fn own_containers_are_refused_where_the_administrator_says_so() {
    let mut config = common::config();
    config.limits.own_containers = false;
    let invalid = validate(&common::parse(common::RUN), &config).unwrap_err();
    assert_eq!(invalid.field, "spec.variants[2].container");
}

#[test]
fn more_trials_than_the_administrator_allows_are_refused() {
    let mut config = common::config();
    config.limits.trials = 35;
    let invalid = validate(&common::parse(common::RUN), &config).unwrap_err();
    assert_eq!(invalid.field, "spec.blocks");
    assert!(invalid.message.contains("36 trials"), "{invalid}");
}

#[test]
fn what_the_api_server_would_refuse_in_a_pod_is_refused_at_once() {
    use wasmbench_api::run::TolerationOperator::Exists;
    use wasmbench_api::run::{CpuAndMemory, Placement, SubjectResources, Toleration};
    let amounts = |cpu: &str, memory: &str| {
        let (cpu, memory) = (Some(cpu.to_owned()), Some(memory.to_owned()));
        Some(CpuAndMemory { cpu, memory })
    };
    let with = |requests, limits| {
        refused(move |run| {
            let (requests, limits): (Option<CpuAndMemory>, _) =
                (Clone::clone(&requests), Clone::clone(&limits));
            run.spec.resources = Some(SubjectResources { requests, limits });
        })
        .field
    };
    let cpu = with(amounts("1500m", "1Mi"), amounts("1", "1Mi"));
    assert_eq!(cpu, "spec.resources.requests.cpu");
    let memory = with(amounts("1", "1Gi"), amounts("1", "1G"));
    assert_eq!(memory, "spec.resources.requests.memory");
    assert_eq!(
        with(None, amounts("1", "0")),
        "spec.resources.limits.memory"
    );
    assert_eq!(
        with(None, amounts("1", "512")),
        "spec.resources.limits.memory"
    );

    let selector = |key: &str, value: &str| {
        let node_selector = [(key.to_owned(), value.to_owned())].into();
        refused(move |run| {
            let node_selector = Clone::clone(&node_selector);
            run.spec.placement = Some(Placement {
                node_selector,
                ..Placement::default()
            });
        })
        .field
    };
    assert_eq!(selector("a/b/c", "x"), "spec.placement.nodeSelector");
    assert_eq!(
        selector("disk", "fast disk"),
        "spec.placement.nodeSelector.disk"
    );

    let toleration = |toleration: Toleration| {
        refused(move |run| {
            let tolerations = vec![toleration.clone()];
            run.spec.placement = Some(Placement {
                tolerations,
                ..Placement::default()
            });
        })
        .field
    };
    let (key, value) = (Some("bench".to_owned()), Some("yes".to_owned()));
    let exists = Toleration {
        key,
        value,
        operator: Some(Exists),
        effect: None,
    };
    assert_eq!(toleration(exists), "spec.placement.tolerations[0].value");
    assert_eq!(
        toleration(Toleration::default()),
        "spec.placement.tolerations[0].key"
    );

    let invalid = refused(|run| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.image = "https://registry.example.com/service:1".into();
    });
    assert_eq!(invalid.field, "spec.variants[2].container.image");
}

#[test]
fn a_precision_that_cannot_be_reached_is_refused() {
    let refusal = |change: &dyn Fn(&mut wasmbench_api::BenchmarkRun)| {
        let mut run = common::precise(7, 20);
        change(&mut run);
        let refused = validate(&run, &common::config()).err();
        refused.map(|invalid| invalid.field).unwrap_or_default()
    };
    let precision = |run: &mut wasmbench_api::BenchmarkRun, target: &str, most| {
        let precision = run.spec.precision.as_mut().unwrap();
        precision.target_relative_interval = target.into();
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
fn the_blocks_that_precision_may_add_count_against_the_limit_and_change_no_order() {
    let (mut config, run) = (common::config(), common::precise(7, 20));
    let valid = validate(&run, &config).unwrap();
    assert_eq!((valid.planned(0).len(), valid.order.len()), (24, 60));
    let longer = validate(&common::precise(7, 50), &config).unwrap();
    assert_eq!(longer.planned(20), valid.order);
    config.limits.trials = 59;
    let refused = validate(&run, &config).unwrap_err();
    assert!(refused.message.contains("60 trials"), "{refused}");
    assert!(refused.message.contains("precision.maxBlocks"), "{refused}");
}

fn cold_refused(
    change: impl Fn(&mut wasmbench_api::BenchmarkRun, &mut wasmbench_core::config::OperatorConfig),
) -> Invalid {
    let (mut run, mut config) = (common::cold(), common::config());
    change(&mut run, &mut config);
    validate(&run, &config).expect_err("the run is wrong")
}

#[test]
fn cold_starts_are_refused_where_the_administrator_does_not_allow_them() {
    let invalid = cold_refused(|_, config| config.cold_start_service_account = None);
    assert_eq!(invalid.field, "spec.sweeps.coldStart");
    assert!(invalid.message.contains("coldStart.enabled"), "{invalid}");
}

#[test]
fn more_pods_at_once_than_the_administrator_allows_are_refused() {
    let invalid = cold_refused(|_, config| config.limits.cold_start_concurrency = 3);
    assert_eq!(invalid.field, "spec.sweeps.coldStart.concurrency");
    assert!(invalid.message.contains("4 pods"), "{invalid}");
}

#[test]
fn the_nodes_network_needs_the_administrator_and_takes_one_pod_at_once() {
    let on_host = |run: &mut BenchmarkRun| {
        run.spec.placement.get_or_insert_default().network = Network::Host;
    };
    let invalid = cold_refused(|run, _| on_host(run));
    assert_eq!(invalid.field, "spec.placement.network");
    assert!(invalid.message.contains("hostNetwork.enabled"), "{invalid}");
    let invalid = cold_refused(|run, config| {
        on_host(run);
        config.host_network = true;
    });
    assert_eq!(invalid.field, "spec.sweeps.coldStart.concurrency");
}

#[test]
fn rules_of_the_crd_on_cold_starts_are_checked_again() {
    use wasmbench_api::cold_start::ColdStart;
    let field = |change: fn(&mut ColdStart)| {
        cold_refused(|run, _| change(run.spec.sweeps.cold_start.as_mut().unwrap())).field
    };
    let (samples, concurrency) = (
        "spec.sweeps.coldStart.samples",
        "spec.sweeps.coldStart.concurrency",
    );
    assert_eq!(field(|sweep| sweep.samples = 0), samples);
    assert_eq!(field(|sweep| sweep.samples = 251), samples);
    assert_eq!(field(|sweep| sweep.concurrency = vec![]), concurrency);
    assert_eq!(field(|sweep| sweep.concurrency = vec![2, 2]), concurrency);
}

#[test]
fn the_class_compile_cached_needs_containerds_socket() {
    use wasmbench_api::cold_start::ColdStartClass;
    let compiled = |run: &mut BenchmarkRun| {
        let sweep = run.spec.sweeps.cold_start.as_mut().unwrap();
        sweep.class = ColdStartClass::CompileCached;
    };
    let invalid = cold_refused(|run, _| compiled(run));
    assert_eq!(invalid.field, "spec.sweeps.coldStart.class");
    assert!(invalid.message.contains("meter.level"), "{invalid}");
    let mut run = common::cold();
    compiled(&mut run);
    let mut config = common::config();
    config.containerd_socket = Some("/run/containerd/containerd.sock".into());
    assert_eq!(validate(&run, &config).err(), None);
}

/// What is said of a run of the class `NodeCold` after this change; nothing where it is valid.
fn node_cold_refusal(
    change: impl Fn(&mut BenchmarkRun, &mut wasmbench_core::config::OperatorConfig),
) -> Option<Invalid> {
    let (mut run, mut config) = (common::cold(), common::config());
    config.containerd_socket = Some("/run/containerd/containerd.sock".into());
    let sweep = run.spec.sweeps.cold_start.as_mut().unwrap();
    sweep.class = wasmbench_api::cold_start::ColdStartClass::NodeCold;
    change(&mut run, &mut config);
    validate(&run, &config).err()
}

#[test]
fn the_class_node_cold_needs_containerds_socket() {
    assert_eq!(node_cold_refusal(|_, _| ()), None);
    let invalid = node_cold_refusal(|_, config| config.containerd_socket = None).unwrap();
    assert_eq!(invalid.field, "spec.sweeps.coldStart.class");
    assert!(invalid.message.contains("meter.level"), "{invalid}");
}

#[test]
fn the_class_node_cold_needs_images_that_can_be_pulled() {
    let invalid = node_cold_refusal(|run, _| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.image = "localhost/team/mine:1".into();
    });
    let invalid = invalid.unwrap();
    assert_eq!(invalid.field, "spec.variants[2].container.image");
    assert!(invalid.message.contains("ImageCached"), "{invalid}");
    let invalid = node_cold_refusal(|_, config| config.images.native = "localhost/native:1".into());
    let invalid = invalid.unwrap();
    assert_eq!(invalid.field, "spec.variants[0].preset");
    assert!(invalid.message.contains("image.registry"), "{invalid}");
    let invalid = node_cold_refusal(|_, config| config.images.pull_policy = "Never".into());
    assert!(invalid.unwrap().message.contains("pullPolicy"));
    // A registry on the node itself is one.
    let registry = node_cold_refusal(|run, _| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.image = "localhost:5000/mine:1".into();
    });
    assert_eq!(registry, None);
}

#[test]
fn a_container_too_large_for_the_request_of_a_cold_start_is_refused() {
    let invalid = cold_refused(|run, _| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.args = vec!["x".repeat(50 * 1024)];
    });
    assert_eq!(invalid.field, "spec.variants[2].container");
}

#[test]
fn density_is_bounded_by_the_crd_and_lower_by_the_administrator() {
    use wasmbench_api::density::{Density, DensityStop};
    let wrong = |sweep: Density, limit: u32, account: Option<&str>| {
        let field = cold_refused(|run, config| {
            run.spec.sweeps.density = Some(sweep.clone());
            run.spec.sweeps.cold_start = None;
            config.limits.density_instances = limit;
            config.cold_start_service_account = account.map(ToOwned::to_owned);
        });
        field.to_string()
    };
    let climb = |instances: &[u32]| Density {
        instances: instances.to_vec(),
        requests: 10,
        stop: DensityStop::default(),
    };
    let account = Some("cold");
    assert!(wrong(climb(&[1, 6]), 5, account).contains("6 instances"));
    assert!(wrong(climb(&[1, 2]), 5, None).contains("coldStart.enabled"));
    for instances in [&[4][..], &[0, 4], &[4, 4]] {
        assert!(wrong(climb(instances), 5, account).contains("at least two"));
    }
    let mut few = climb(&[1, 2]);
    few.requests = 9;
    assert!(wrong(few, 5, account).contains("10 or more"));
    let mut all = climb(&[1, 2]);
    all.stop.available_memory_percent = 91;
    assert!(wrong(all, 5, account).contains("availableMemoryPercent"));
}

#[test]
fn density_needs_a_network_of_each_pods_own() {
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
fn the_seed_of_a_run_that_names_none_comes_from_its_uid() {
    let mut run = common::parse(common::RUN);
    run.spec.seed = None;
    let first = validate(&run, &common::config()).unwrap();
    assert_eq!(first, validate(&run, &common::config()).unwrap());
    run.metadata.uid = Some("another".into());
    assert_ne!(first.seed, validate(&run, &common::config()).unwrap().seed);
}

#[test]
fn the_order_of_a_seed_never_changes() {
    let order: Vec<String> = common::validated()
        .order
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_yaml_snapshot!("order-of-seed-7", order);
}

#[test]
fn the_twin_of_the_baseline_is_measured_like_any_other_variant() {
    let mut run = common::parse(common::RUN);
    run.spec.noise_floor = Some(true);
    let valid = validate(&run, &common::config()).unwrap();
    let subject = |name: &str| {
        let variant = valid.variants.iter().find(|variant| variant.name == name);
        variant.unwrap().subject.clone()
    };
    assert_eq!(subject("baseline-twin"), subject("tortoise"));
    let of_twin = valid
        .order
        .iter()
        .filter(|t| t.cell.variant == "baseline-twin");
    assert_eq!(of_twin.count(), valid.order.len() / 4);
}

#[test]
fn a_variant_cannot_be_named_like_the_twin() {
    let mut run = common::parse(common::RUN);
    run.spec.variants[1].name = "baseline-twin".into();
    let refused = validate(&run, &common::config()).unwrap_err();
    assert!(refused.message.contains("choose another name"), "{refused}");
}

#[test]
fn an_expectation_must_be_about_something_that_is_compared() {
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
    for (expectation, words) in [
        (
            gate("snail", "greet", "1.5"),
            "'snail' is none of spec.variants",
        ),
        (
            gate("hare", "hum", "1.5"),
            "'hum' is none of spec.workloads",
        ),
        (gate("tortoise", "greet", "1.5"), "name another variant"),
        (gate("hare", "greet", "half"), "'half' is no ratio"),
    ] {
        let refused = refusal(expectation).unwrap_or_default();
        assert!(refused.contains(words), "{refused}");
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
        ("openLoopP99", "spec.sweeps.openLoop"),
    ] {
        let refused = gate_refused(common::parse(common::RUN), metric, |_, _| ());
        assert!(refused.contains(sweep), "{refused}");
    }
}

#[test]
fn an_expectation_on_what_no_probe_may_read_is_refused() {
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

#[test]
fn the_trials_of_the_twin_count_against_the_limit() {
    let mut run = common::parse(common::RUN);
    let mut config = common::config();
    config.limits.trials = 40;
    validate(&run, &config).unwrap();
    run.spec.noise_floor = Some(true);
    let refused = validate(&run, &config).unwrap_err();
    assert!(refused.message.contains("48 trials"), "{refused}");
}

proptest! {
    #[test]
    fn every_block_holds_every_cell_once(seed in 0i64..1_000_000, blocks in 1u32..8) {
        let mut run = common::parse(common::RUN);
        run.spec.seed = Some(seed);
        run.spec.blocks = blocks;
        let valid = validate(&run, &common::config()).unwrap();
        let cells: BTreeSet<_> = cells_of(&valid.spec).into_iter().collect();
        for (index, block) in valid.order.chunks(cells.len()).enumerate() {
            let number = u32::try_from(index).unwrap() + 1;
            prop_assert!(block.iter().all(|trial| trial.block == number));
            let found: BTreeSet<_> = block.iter().map(|trial| trial.cell.clone()).collect();
            prop_assert_eq!(&found, &cells);
        }
        prop_assert_eq!(valid.order.len(), cells.len() * blocks as usize);
    }

    #[test]
    fn a_trials_text_reads_back(
        variant in "[a-z0-9]{1,40}", workload in "[a-z0-9]{1,40}",
        point in common::points(), block in 1u32..50,
    ) {
        let trial = TrialId { cell: Cell { variant, workload, point }, block };
        prop_assert_eq!(trial.to_string().parse::<TrialId>().unwrap(), trial);
    }
}

#[test]
fn a_duet_needs_a_load_a_second_subject_its_own_network_and_the_administrators_leave() {
    let refused = |change: &dyn Fn(&mut BenchmarkRun, &mut OperatorConfig)| {
        let (mut run, mut config) = (common::duet(), common::duet_config());
        change(&mut run, &mut config);
        let invalid = validate(&run, &config).expect_err("the run is wrong");
        assert_eq!(invalid.field, "spec.pairing", "{invalid}");
        invalid.message
    };
    assert!(refused(&|run, _| run.spec.sweeps.warm_latency = None).contains("in pairs"));
    assert!(refused(&|run, _| run.spec.variants.truncate(1)).contains("noiseFloor"));
    assert!(refused(&|_, config| config.duet = false).contains("duet.enabled"));
    assert!(refused(&|_, config| config.meter = MeterLevel::None).contains("meter.level"));
    let on_host = |run: &mut BenchmarkRun, config: &mut OperatorConfig| {
        let placement = run.spec.placement.as_mut().unwrap();
        placement.network = Network::Host;
        config.host_network = true;
        run.spec.sweeps.cold_start = None;
    };
    assert!(refused(&on_host).contains("spec.placement.network"));
}

#[test]
fn a_single_variant_makes_duets_with_its_twin() {
    let mut run = common::duet();
    run.spec.variants.truncate(1);
    run.spec.noise_floor = Some(true);
    let valid = validate(&run, &common::duet_config()).unwrap();
    let loads = valid.order.iter();
    let mut loads = loads.filter(|trial| !trial.cell.point.probe_creates_pods());
    assert!(loads.all(|trial| trial.cell.variant == "baseline-twin"));
}

#[test]
fn in_a_duet_run_the_baseline_has_cold_starts_and_no_loads_of_its_own() {
    let (duets, alternating) = (common::validated_duet(), common::validated_cold());
    let of = |run: &ValidatedRun, variant: &str, cold: bool| {
        let trials = run.order.iter().filter(|trial| {
            trial.cell.variant == variant && trial.cell.point.probe_creates_pods() == cold
        });
        trials.count()
    };
    assert_eq!(of(&duets, "tortoise", false), 0);
    for (variant, cold) in [("tortoise", true), ("hare", true), ("hare", false)] {
        assert_eq!(of(&duets, variant, cold), of(&alternating, variant, cold));
    }
}

#[test]
fn an_open_loop_is_bounded_by_the_crd_and_lower_by_the_administrator() {
    use wasmbench_api::open_loop::OpenLoop;
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
        let message = wrong(&|sweep| sweep.rates_percent_of_peak = rates.to_vec());
        assert!(message.contains("from 1 to 99"), "{message}");
    }
    assert!(wrong(&|sweep| sweep.rates_percent_of_peak = vec![50, 50]).contains("twice"));
    assert!(wrong(&|sweep| sweep.connections = 61).contains("allows 60"));
    assert!(wrong(&|sweep| sweep.connections = 0).contains("1 or more"));
    assert!(wrong(&|sweep| sweep.duration_seconds = 21).contains("allows 20 s"));
    assert!(wrong(&|sweep| sweep.peak_seconds = 21).contains("allows 20 s"));
}
