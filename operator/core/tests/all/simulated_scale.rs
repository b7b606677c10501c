//! Whole runs that scale an object which is there already, in a simulated cluster: its owner may take it back at
//! any moment, and the operator may die between any two writes. Whatever happens: what is in use is never
//! touched, the node is released only after nothing of the object is left, and every trial has one record.

use wasmbench_core::plan::{Plan, Stage, Step, plan};
use wasmbench_core::scale::Target;
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;

use crate::common;
use crate::simulated_run::{FRIENDLY, check_end, ends, simulate};
use crate::simulated_world::{Hostility, Objects, Owner, World};

/// A run with a variant that scales `deployments/shop`, beside a preset.
fn run() -> ValidatedRun {
    let mut run = common::parse(common::RUN);
    run.spec.variants.truncate(1);
    let own = "{name: shop, scale: {resource: deployments, name: shop, port: 3000}}";
    run.spec.variants.push(serde_yaml::from_str(own).unwrap());
    run.spec.workloads.truncate(1);
    validate(&run, &common::scaling_config()).expect("the fixture is valid")
}

/// A run of that variant alone.
fn run_of_one_variant() -> ValidatedRun {
    let ValidatedRun { mut spec, .. } = run();
    spec.variants.remove(0);
    spec.baseline = None;
    let mut run = common::parse(common::RUN);
    run.spec = spec;
    validate(&run, &common::scaling_config()).expect("the fixture is valid")
}

/// A run whose only sweep is cold starts of two pods at once of that object.
fn cold_run() -> ValidatedRun {
    let mut run = common::parse(common::RUN);
    let own = "[{name: shop, scale: {resource: deployments, name: shop}}]";
    run.spec.variants = serde_yaml::from_str(own).unwrap();
    run.spec.baseline = None;
    run.spec.workloads.truncate(1);
    let sweeps = "coldStart: {samples: 3, concurrency: [2], class: Scaled}";
    run.spec.sweeps = serde_yaml::from_str(sweeps).unwrap();
    validate(&run, &common::scaling_config()).expect("the fixture is valid")
}

fn target(run: &ValidatedRun) -> Target {
    let mut targets = run
        .variants
        .iter()
        .filter_map(|one| one.subject.target.clone());
    targets.next().expect("a variant scales something")
}

fn world(run: &ValidatedRun, seed: u64, hostility: Hostility) -> World {
    let mut world = World::new(run, seed, hostility);
    world.offer(&target(run));
    world
}

fn check_object(run: &ValidatedRun, world: &World) {
    check_end(run, world);
    assert_eq!(world.observed.scaled(), None, "it is still noted");
    let observed = &world.observed.targets[&target(run)];
    let is_owners = observed.set_by_other || !observed.is_offered || observed.uid.is_none();
    assert!(observed.replicas == 0 || is_owners, "{observed:?} is left");
}

#[test]
fn every_trial_has_a_fresh_pod_and_the_object_ends_as_it_was() {
    let mut run = run();
    let mut world = world(&run, 1, FRIENDLY);
    simulate(&mut run, &mut world);
    check_object(&run, &world);
    assert_eq!(ends(&world), [&Ended::Measured]);
}

#[test]
fn the_operator_may_die_between_any_two_writes() {
    let hostility = Hostility {
        operator_dies: 30,
        suspends: 3,
        probe_fails: 5,
        pod_crashes: 2,
        objects: Objects {
            write_is_late: 20,
            result_removed: 10,
            ..FRIENDLY.objects
        },
        ..FRIENDLY
    };
    for seed in 0..40 {
        let mut run = run();
        let mut world = world(&run, seed, hostility);
        simulate(&mut run, &mut world);
        check_object(&run, &world);
    }
}

#[test]
fn its_owner_may_take_it_back_at_any_moment() {
    for seed in 0..40 {
        let mut run = run();
        let hostility = Hostility {
            operator_dies: 10,
            ..FRIENDLY
        };
        let mut world = world(&run, seed, hostility);
        world.owner_acts = 3;
        simulate(&mut run, &mut world);
        check_object(&run, &world);
        for ended in world.observed.records.values() {
            if let Ended::Failed(reason) | Ended::Skipped(reason) = ended {
                assert!(world.has_caused(reason.as_str()), "{reason}");
            }
        }
    }
}

/// Makes plans until one has scaled the object up.
fn until_up(run: &ValidatedRun, world: &mut World) {
    for _ in 0..200 {
        let up = world
            .observed
            .targets
            .values()
            .any(|observed| observed.replicas > 0);
        if up && !world.observed.scaled_subjects.is_empty() {
            return;
        }
        step(run, world);
    }
    panic!("it is never scaled up");
}

fn step(run: &ValidatedRun, world: &mut World) -> Stage {
    let plan = plan(run, &world.observed, world.now);
    for step in &plan.steps {
        world.carry_out(run, step);
    }
    world.pass_time();
    plan.stage
}

#[test]
fn an_object_that_its_owner_takes_back_in_mid_run_is_not_touched_and_other_variants_go_on() {
    for act in [Owner::ScalesUp, Owner::Withdraws, Owner::Deletes] {
        let mut run = run();
        let mut world = world(&run, 1, FRIENDLY);
        until_up(&run, &mut world);
        world.owner_does(&target(&run), act);
        simulate(&mut run, &mut world);
        check_object(&run, &world);
        let left: Vec<u32> = world
            .observed
            .targets
            .values()
            .map(|observed| observed.replicas)
            .collect();
        let expected = match act {
            Owner::ScalesUp => 3,
            // What was asked for stays: its owner decides.
            Owner::Withdraws => 1,
            Owner::ScalesDown | Owner::Deletes => 0,
        };
        assert_eq!(left, [expected], "{act:?}");
        let of_preset = |trial: &&TrialId| trial.cell.variant == "tortoise";
        let mut others = run.planned(0).iter().filter(of_preset);
        assert!(others.all(|trial| world.observed.records[trial] == Ended::Measured));
    }
}

#[test]
fn a_run_whose_only_object_is_taken_back_ends_while_its_owner_keeps_the_pods() {
    for act in [Owner::ScalesUp, Owner::Withdraws] {
        let mut run = run_of_one_variant();
        let mut world = world(&run, 1, FRIENDLY);
        until_up(&run, &mut world);
        world.owner_does(&target(&run), act);
        simulate(&mut run, &mut world);
        check_object(&run, &world);
        assert!(!world.target_pods.is_empty(), "{act:?}");
    }
}

#[test]
fn an_object_in_use_is_never_touched() {
    let mut run = run();
    let mut world = world(&run, 1, FRIENDLY);
    world.owner_does(&target(&run), Owner::ScalesUp);
    simulate(&mut run, &mut world);
    let observed = &world.observed.targets[&target(&run)];
    assert!(
        observed.replicas == 3 && observed.set_by_other,
        "{observed:?}"
    );
    let skipped = Ended::Skipped("NotOffered".into());
    let mine = |trial: &&TrialId| trial.cell.variant == "shop";
    let mut mine = run.planned(0).iter().filter(mine);
    assert!(mine.all(|trial| world.observed.records[trial] == skipped));
}

#[test]
fn a_run_says_that_it_waits_for_the_last_pods_of_an_objects_owner() {
    let run = run_of_one_variant();
    let mut world = world(&run, 1, FRIENDLY);
    while world.held().is_none() {
        step(&run, &mut world);
    }
    let found = world.observed.targets.get_mut(&target(&run)).unwrap();
    found.pods = 1;
    let plan = plan(&run, &world.observed, world.now);
    assert_eq!(plan.steps, []);
    let Stage::Measuring { message, .. } = &plan.stage else {
        panic!("{:?}", plan.stage);
    };
    let expected = "the earlier pods of deployments.apps/shop";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_suspended_run_gives_its_node_back_only_after_the_object() {
    let mut run = run();
    let mut world = world(&run, 1, FRIENDLY);
    until_up(&run, &mut world);
    run.spec.suspend = true;
    while world.held().is_some() {
        let observed = plan(&run, &world.observed, world.now);
        let releases = observed
            .steps
            .iter()
            .any(|one| matches!(one, Step::ReleaseNode { .. }));
        assert!(!releases || world.target_pods.is_empty(), "pods are left");
        step(&run, &mut world);
    }
    assert_eq!(world.observed.targets.values().next().unwrap().replicas, 0);
}

#[test]
fn starts_of_what_probes_may_not_scale_are_skipped() {
    let mut run = cold_run();
    let mut world = world(&run, 1, FRIENDLY);
    world.observed.forbidden.scales = true;
    simulate(&mut run, &mut world);
    check_object(&run, &world);
    let skipped = Ended::Skipped("NotAllowed".into());
    let mut starts = run.planned(0).iter();
    assert!(starts.any(|trial| world.observed.records[trial] == skipped));
    for (trial, ended) in &world.observed.records {
        let is_start = trial.cell.point.probe_creates_pods();
        assert_eq!(*ended == skipped, is_start, "{trial}: {ended:?}");
    }
}

#[test]
fn a_probe_scales_only_what_is_noted_and_what_a_killed_one_leaves_is_scaled_down() {
    let run = cold_run();
    let mut world = world(&run, 1, FRIENDLY);
    let launches = |plan: &Plan| {
        let mut steps = plan.steps.iter();
        steps.any(|one| matches!(one, Step::LaunchColdStart { .. }))
    };
    for _ in 0..400 {
        let plan = plan(&run, &world.observed, world.now);
        if launches(&plan) {
            break;
        }
        step(&run, &mut world);
    }
    let (scaled, _) = world
        .observed
        .scaled()
        .expect("it is noted before the probe");
    assert_eq!(scaled.most, 2);
    // The probe scaled it up, and was killed.
    let version = world.observed.targets[&target(&run)]
        .resource_version
        .clone();
    world.change(version.as_ref(), false, 2);
    let next = plan(&run, &world.observed, world.now);
    assert!(!launches(&next), "{next:?}");
    let mut steps = next.steps.iter();
    assert!(
        steps.any(|one| matches!(one, Step::ScaleDown { .. })),
        "{next:?}"
    );
    // Three would not have been the probe's doing.
    let version = world.observed.targets[&target(&run)]
        .resource_version
        .clone();
    world.change(version.as_ref(), true, 3);
    let next = plan(&run, &world.observed, world.now);
    let mut steps = next.steps.iter();
    assert!(
        !steps.any(|one| matches!(one, Step::ScaleDown { .. })),
        "{next:?}"
    );
}
