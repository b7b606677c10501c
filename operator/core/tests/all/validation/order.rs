//! Which trials a run has, and in which order.

use std::collections::BTreeSet;

use proptest::prelude::*;
use wasmbench_core::validate::validate;
use wasmbench_model::cells::cells_of;
use wasmbench_model::wire::record::{Cell, TrialId};

use crate::common;

#[test]
fn more_trials_than_the_administrator_allows_are_refused() {
    let mut config = common::config();
    config.limits.trials = 35;
    let invalid = validate(&common::parse(common::RUN), &config).unwrap_err();
    assert_eq!(invalid.field, "spec.blocks");
    assert!(invalid.message.contains("36 trials"), "{invalid}");
}

#[test]
fn blocks_added_for_precision_count_in_limits_and_keep_the_order() {
    let (mut config, run) = (common::config(), common::precise(7, 20));
    let valid = validate(&run, &config).unwrap();
    let scouts = 3;
    let planned = (valid.planned(0).len(), valid.order.len());
    assert_eq!(planned, (scouts + 24, scouts + 60));
    let longer = validate(&common::precise(7, 50), &config).unwrap();
    assert_eq!(longer.planned(20), valid.order);
    config.limits.trials = 59;
    let refused = validate(&run, &config).unwrap_err();
    assert!(refused.message.contains("60 trials"), "{refused}");
    assert!(refused.message.contains("precision.maxBlocks"), "{refused}");
}

#[test]
fn the_seed_defaults_to_one_from_the_runs_uid() {
    let mut run = common::parse(common::RUN);
    run.spec.seed = None;
    let first = validate(&run, &common::config()).unwrap();
    assert_eq!(first, validate(&run, &common::config()).unwrap());
    run.metadata.uid = Some("another".into());
    assert_ne!(first.seed, validate(&run, &common::config()).unwrap().seed);
}

#[test]
fn the_order_for_a_seed_never_changes() {
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
    let trials = valid.order.iter().filter(|trial| !trial.is_scout());
    assert_eq!(of_twin.count(), trials.count() / 4);
}

#[test]
fn each_variant_except_the_twin_is_scouted_once_before_the_first_block() {
    let mut run = common::parse(common::RUN);
    run.spec.noise_floor = Some(true);
    let valid = validate(&run, &common::config()).unwrap();
    let order: Vec<String> = valid.order.iter().map(ToString::to_string).collect();
    let scouts = [
        "tortoise/all/scout/b0",
        "hare/all/scout/b0",
        "mine/all/scout/b0",
    ];
    assert_eq!(order[..3], scouts);
    assert!(valid.order[3..].iter().all(|trial| trial.block > 0));
    assert_eq!(valid.planned(0).len(), 3 + 2 * cells_of(&valid.spec).len());
}

#[test]
fn a_scout_requests_all_workloads_even_if_one_is_named_all() {
    let mut run = common::parse(common::RUN);
    run.spec.workloads[0].name = "all".into();
    let valid = validate(&run, &common::config()).unwrap();
    let scout = &valid.order[0];
    assert_eq!(valid.workload(scout), None);
    let names: Vec<&str> = valid
        .workloads(scout)
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    assert_eq!(names, ["all", "relay"]);
    assert!(valid.has_upstream(scout));
    let mut others = valid.order.iter();
    let other = others.find(|trial| !trial.is_scout() && trial.cell.workload == "all");
    assert!(!valid.has_upstream(other.unwrap()));
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
    fn every_block_has_every_cell_once(seed in 0i64..1_000_000, blocks in 1u32..8) {
        let mut run = common::parse(common::RUN);
        run.spec.seed = Some(seed);
        run.spec.blocks = blocks;
        let valid = validate(&run, &common::config()).unwrap();
        let cells: BTreeSet<_> = cells_of(&valid.spec).into_iter().collect();
        let scouts = valid.order.iter().take_while(|trial| trial.is_scout()).count();
        prop_assert_eq!(scouts, run.spec.variants.len());
        let blocks_of = &valid.order[scouts..];
        for (index, block) in blocks_of.chunks(cells.len()).enumerate() {
            let number = u32::try_from(index).unwrap() + 1;
            prop_assert!(block.iter().all(|trial| trial.block == number));
            let found: BTreeSet<_> = block.iter().map(|trial| trial.cell.clone()).collect();
            prop_assert_eq!(&found, &cells);
        }
        prop_assert_eq!(blocks_of.len(), cells.len() * blocks as usize);
    }

    #[test]
    fn the_text_of_a_trial_parses_back(
        variant in "[a-z0-9]{1,40}", workload in "[a-z0-9]{1,40}",
        point in common::points(), block in 1u32..50,
    ) {
        let trial = TrialId { cell: Cell { variant, workload, point }, block };
        prop_assert_eq!(trial.to_string().parse::<TrialId>().unwrap(), trial);
    }
}
