//! A whole run against a simulated cluster, with everything that goes wrong in a real one: the
//! operator dies between any two steps, pods crash, vanish, never start, images do not exist, the
//! user suspends and resumes. Whatever happens: one subject is loaded at a time, nothing is
//! removed before its record is stored, every trial ends with exactly one record, and the run
//! terminates.

use jiff::Timestamp;
use proptest::prelude::*;
use rand::RngExt;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Blocks, Plan, Stage, Wake, blocks, plan};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered::Likeness;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::failure::FailureReason;
use wasmbench_model::wire::record::TrialId;

use crate::common;
use crate::scouted::{right, wrong};
use crate::simulated_world::{Fault, Hostility, Objects, World, objects, phase};

/// Stands in for the widths of a run's intervals: plans from the records alone, and differently from
/// run to run, how many blocks are needed.
fn planned_blocks(run: &ValidatedRun, observed: &Observed, complete: u32) -> u32 {
    let mut measured = observed.records.iter().filter(|(trial, ended)| {
        assert!(
            trial.block <= complete,
            "{trial} was measured before it was decided for"
        );
        **ended == Ended::Measured
    });
    let enough = 8 + u32::try_from(run.seed % 6).expect("a small number");
    if measured.any(|(trial, _)| trial.block == complete) {
        enough.clamp(complete, run.spec.most_blocks())
    } else {
        complete
    }
}

/// What the controller does before each plan. Runs with an even seed belong to an operator that was
/// restarted since it planned: it knows the plan again at the end of the block.
fn decide_blocks(run: &ValidatedRun, observed: &mut Observed) {
    let (blocks, planned) = match blocks(run, observed) {
        Blocks::Decided(blocks) => {
            let known = observed.planned_blocks.filter(|_| run.seed % 2 != 0);
            (known.unwrap_or_default().max(blocks), known)
        }
        Blocks::Complete(complete) => {
            let planned = planned_blocks(run, observed, complete);
            (planned, Some(planned))
        }
    };
    observed.blocks = blocks;
    observed.planned_blocks = planned;
}

/// Runs to the end and returns the number of plans that it took.
pub fn simulate(run: &mut ValidatedRun, world: &mut World) -> usize {
    for round in 0..20_000 {
        if world.happens(world.hostility.suspends) {
            run.spec.suspend = !run.spec.suspend;
        }
        decide_blocks(run, &mut world.observed);
        let plan = plan(run, &world.observed, world.now);
        phase::check(&plan, &world.observed);
        if plan.stage == Stage::Done {
            return round;
        }
        // A plan without steps that waits for nothing would hang a real run.
        let survives = if world.happens(world.hostility.operator_dies) {
            world.random.random_range(0..=plan.steps.len())
        } else {
            plan.steps.len()
        };
        for step in &plan.steps[..survives] {
            world.carry_out(run, step);
        }
        world.note(&plan);
        world.pass_time();
    }
    panic!(
        "the run does not end: {} of {} trials",
        world.stored.len(),
        run.planned(world.observed.blocks).len()
    );
}

pub fn check_end(run: &ValidatedRun, world: &World) {
    assert_eq!(
        world.stored.len(),
        run.planned(world.observed.blocks).len(),
        "trials without a record"
    );
    assert!(
        world.stored.values().all(|count| *count == 1),
        "a trial with two records"
    );
    assert!(world.observed.probes.is_empty(), "probes are left");
    let pods = world
        .observed
        .subjects
        .iter()
        .chain(&world.observed.cold_subjects);
    for subject in pods {
        let held = world.staying.contains(&subject.pod.uid);
        assert!(held && !subject.pod.works(), "{subject:?} is left");
    }
    assert!(
        world.observed.upstreams.is_empty(),
        "an echo server is left"
    );
    assert_eq!(world.held(), None, "the node is not given back");
}

/// The different ways in which trials of a run ended, each once.
pub fn ends(world: &World) -> Vec<&Ended> {
    let mut found = vec![];
    for ended in world.observed.records.values() {
        if !found.contains(&ended) {
            found.push(ended);
        }
    }
    found
}

pub const FRIENDLY: Hostility = Hostility {
    operator_dies: 0,
    pod_crashes: 0,
    pod_vanishes: 0,
    image_missing: 0,
    probe_fails: 0,
    suspends: 0,
    pod_stays: 0,
    pod_altered: 0,
    probe_altered: 0,
    operator_updated: 0,
    report_refused: 0,
    objects: Objects {
        job_without_pod: 0,
        result_removed: 0,
        upstream_refused: 0,
        records_refused: 0,
        upstream_ends: 0,
        write_is_late: 0,
        lateness: 0,
        leftovers: 0,
    },
};

#[test]
fn in_a_friendly_world_every_trial_is_measured() {
    for mut run in [common::validated(), common::validated_cold()] {
        let mut world = World::new(&run, 1, FRIENDLY);
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        assert_eq!(ends(&world), [&Ended::Measured]);
    }
}

#[test]
fn a_killed_cold_start_probe_leaves_nothing_behind() {
    let mut run = common::validated_cold();
    let hostility = Hostility {
        probe_fails: 30,
        pod_vanishes: 40,
        operator_dies: 30,
        ..FRIENDLY
    };
    for seed in 0..20 {
        let mut world = World::new(&run, seed, hostility);
        simulate(&mut run, &mut world);
        check_end(&run, &world);
    }
}

#[test]
fn the_node_is_released_although_the_report_fails_and_a_pod_stays() {
    let mut run = common::validated();
    let hostility = Hostility {
        pod_stays: 100,
        report_refused: 100,
        ..FRIENDLY
    };
    let mut world = World::new(&run, 1, hostility);
    for _ in 0..2_000 {
        let plan = plan(&run, &world.observed, world.now);
        for step in &plan.steps {
            world.carry_out(&run, step);
        }
        world.pass_time();
        run.spec.suspend = false;
        if world.stored.len() == run.planned(0).len() && world.held().is_none() {
            assert!(!world.observed.report && !world.staying.is_empty());
            return;
        }
    }
    panic!("the node is held: {:?}", world.observed.leases);
}

#[test]
fn no_load_goes_to_an_altered_pod() {
    let mut run = common::validated();
    let hostility = Hostility {
        pod_altered: 100,
        ..FRIENDLY
    };
    let mut world = World::new(&run, 1, hostility);
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    let altered = |trial: &TrialId, is: fn(FailureReason) -> Ended| {
        world.observed.records[trial] == is(FailureReason::SubjectAltered)
    };
    let failed = run
        .order
        .iter()
        .filter(|trial| altered(trial, Ended::Failed));
    let upstream = |trial: &TrialId| run.has_upstream(trial);
    // Each variant is tried once; the echo server is altered too, which its own workload says.
    let failed: Vec<&TrialId> = failed.collect();
    assert!(failed.len() <= run.variants.len(), "{failed:?}");
    for trial in run.order.iter().filter(|trial| !upstream(trial)) {
        let is = altered(trial, Ended::Failed) || altered(trial, Ended::Skipped);
        assert!(is, "{trial}: {:?}", world.observed.records[trial]);
    }
    assert!(!ends(&world).contains(&&Ended::Measured));
}

#[test]
fn a_trial_of_an_altered_pod_ends_before_any_deadline() {
    for altered_probe in [false, true] {
        let mut run = common::validated();
        let hostility = Hostility {
            pod_altered: if altered_probe { 0 } else { 100 },
            probe_altered: if altered_probe { 100 } else { 0 },
            ..FRIENDLY
        };
        let mut world = World::new(&run, 1, hostility);
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        let took = world.now.duration_since(Timestamp::UNIX_EPOCH).as_secs();
        assert!(took < 200, "{took} s");
    }
}

#[test]
fn an_altered_probe_gives_no_number_and_the_run_tries_no_other() {
    for mut run in [common::validated(), common::validated_cold()] {
        let hostility = Hostility {
            probe_altered: 100,
            ..FRIENDLY
        };
        let mut world = World::new(&run, 1, hostility);
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        let reason = || FailureReason::ProbeAltered;
        let failed = world.observed.records.values();
        let failed = failed.filter(|ended| **ended == Ended::Failed(reason()));
        assert_eq!(failed.count(), 1);
        for ended in ends(&world) {
            let altered = [Ended::Failed(reason()), Ended::Skipped(reason())];
            assert!(altered.contains(ended), "{ended:?}");
        }
    }
}

#[test]
fn an_update_of_the_operator_costs_at_most_a_trial_and_no_variant() {
    let mut run = common::validated();
    let mut world = World::new(&run, 3, FRIENDLY);
    while world.observed.subjects.is_empty() {
        let plan = plan(&run, &world.observed, world.now);
        for step in &plan.steps {
            world.carry_out(&run, step);
        }
        world.pass_time();
    }
    for subject in &mut world.observed.subjects {
        subject.pod.likeness = Likeness::Outdated;
    }
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    let lost = Ended::Failed("SubjectLost".into());
    let all = world.observed.records.values();
    assert_eq!(all.filter(|ended| **ended == lost).count(), 1);
    assert_eq!(ends(&world).len(), 2, "{:?}", ends(&world));
}

#[test]
fn cold_starts_without_permission_are_skipped_and_the_rest_is_measured() {
    let mut run = common::validated_cold();
    let mut world = World::new(&run, 1, FRIENDLY);
    world.observed.forbidden.pods = true;
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert!(!world.observed.records.is_empty());
    for (trial, ended) in &world.observed.records {
        let expected = if trial.cell.point.probe_creates_pods() {
            Ended::Skipped("NotAllowed".into())
        } else {
            Ended::Measured
        };
        assert_eq!(*ended, expected, "{trial}");
    }
}

#[test]
fn a_run_whose_records_reach_the_limit_skips_the_rest_and_ends() {
    let mut run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    world.observed.records_full = true;
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    let skipped = Ended::Skipped("RecordsFull".into());
    assert_eq!(ends(&world), [&skipped]);
}

#[test]
fn a_variant_without_its_runtime_class_is_skipped_and_the_others_continue() {
    let mut run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    world.observed.runtime_classes.clear();
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(ends(&world).len(), 2, "skipped and measured ones");
    for (trial, ended) in &world.observed.records {
        let expected = if trial.cell.variant == "mine" {
            Ended::Skipped("RuntimeClassNotFound".into())
        } else {
            Ended::Measured
        };
        assert_eq!(*ended, expected, "{trial}");
    }
}

#[test]
fn wrong_answers_seen_by_a_scout_are_skipped_and_the_rest_is_measured() {
    let mut run = common::validated();
    run.spec.workloads[1].expect.same_across_variants = true;
    let mut world = World::new(&run, 1, FRIENDLY);
    let answers = |relay| vec![right("greet", "hello"), relay];
    world.scouts = [
        ("tortoise", answers(right("relay", "one"))),
        ("hare", answers(right("relay", "another"))),
        (
            "mine",
            vec![wrong("greet", "WrongAnswer"), right("relay", "one")],
        ),
    ]
    .map(|(variant, saw)| (variant.to_owned(), saw))
    .into();
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    for (trial, ended) in &world.observed.records {
        let cell = &trial.cell;
        let expected = match (cell.variant.as_str(), cell.workload.as_str()) {
            ("hare", "relay") => Ended::Skipped("ResponseMismatch".into()),
            ("mine", "greet") => Ended::Skipped("WrongAnswer".into()),
            _ => Ended::Measured,
        };
        assert_eq!(*ended, expected, "{trial}");
    }
}

#[test]
fn trials_that_a_scout_could_not_check_are_still_tried() {
    let mut run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    for trial in run.order.iter().filter(|trial| trial.is_scout()) {
        let failed = Ended::Failed("NeverListened".into());
        world.observed.records.insert(trial.clone(), failed);
        world.stored.insert(trial.clone(), 1);
    }
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    let blocks = world.observed.records.iter();
    let mut blocks = blocks.filter(|(trial, _)| !trial.is_scout());
    assert!(blocks.all(|(_, ended)| *ended == Ended::Measured));
}

#[test]
fn a_precise_run_gets_the_blocks_it_needs_wherever_the_operator_dies() {
    let hostility = Hostility {
        operator_dies: 40,
        suspends: 2,
        ..FRIENDLY
    };
    for (seed, expected) in [(12, 8), (13, 9), (17, 13)] {
        for world_seed in 0..4 {
            let mut run = common::validated_precise(seed, 20);
            let mut world = World::new(&run, world_seed, hostility);
            simulate(&mut run, &mut world);
            check_end(&run, &world);
            assert_eq!(
                world.observed.blocks, expected,
                "seed {seed}, world {world_seed}"
            );
            let (scouts, cells) = (3, 3);
            assert_eq!(world.stored.len(), scouts + cells * expected as usize);
        }
    }
}

#[test]
fn a_precise_run_ends_with_its_budget() {
    let mut run = common::validated_precise(17, 10);
    let mut world = World::new(&run, 1, FRIENDLY);
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(world.observed.blocks, 10);
}

#[test]
fn trials_are_skipped_block_by_block() {
    let mut run = common::validated_precise(15, 20);
    let mut world = World::new(&run, 1, FRIENDLY);
    world.observed.runtime_classes.clear();
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(world.observed.blocks, 11);
    let skipped = world.observed.records.values();
    let skipped = skipped.filter(|ended| matches!(ended, Ended::Skipped(_)));
    assert_eq!(skipped.count(), world.stored.len() / 3);
}

#[test]
fn a_plan_is_known_during_its_blocks_and_never_beyond_the_budget() {
    for (most, expected) in [(20, 13), (10, 10)] {
        let run = common::validated_precise(17, most);
        let mut world = World::new(&run, 1, FRIENDLY);
        let mut known = vec![];
        for _ in 0..20_000 {
            decide_blocks(&run, &mut world.observed);
            let plan = plan(&run, &world.observed, world.now);
            if plan.stage == Stage::Done {
                break;
            }
            let begun = world.observed.records.keys().map(|trial| trial.block).max();
            if begun > Some(8) {
                known.push((world.observed.blocks, world.observed.planned_blocks));
            }
            for step in &plan.steps {
                world.carry_out(&run, step);
            }
            world.pass_time();
        }
        known.dedup();
        assert_eq!(known, [(expected, Some(expected))], "at most {most}");
    }
}

#[test]
fn records_are_read_only_between_blocks() {
    let mut run = common::validated_precise(17, 20);
    let mut world = World::new(&run, 1, FRIENDLY);
    let mut decided = vec![];
    for _ in 0..20_000 {
        if let Blocks::Complete(block) = blocks(&run, &world.observed) {
            assert!(
                world
                    .observed
                    .subjects
                    .iter()
                    .all(|s| s.trial.block <= block)
            );
            decided.push(block);
        }
        decide_blocks(&run, &mut world.observed);
        let plan = plan(&run, &world.observed, world.now);
        if plan.stage == Stage::Done {
            break;
        }
        for step in &plan.steps {
            world.carry_out(&run, step);
        }
        world.pass_time();
    }
    run.spec.suspend = false;
    // Once after each block: the first object of the next one shows that it was decided on.
    assert_eq!(decided, [8, 9, 10, 11, 12, 13]);
}

#[test]
fn a_waiting_plan_names_what_it_waits_for() {
    for run in [common::validated(), common::validated_cold()] {
        waits_for_something(run);
    }
}

fn waits_for_something(mut run: ValidatedRun) {
    let mut world = World::new(&run, 3, FRIENDLY);
    for _ in 0..500 {
        let plan: Plan = plan(&run, &world.observed, world.now);
        if plan.stage == Stage::Done {
            return;
        }
        if plan.steps.is_empty() && plan.wake == Wake::OnChange {
            let moving = world
                .observed
                .subjects
                .iter()
                .any(|s| s.pod.deleting.is_some())
                || !world.observed.probes.is_empty();
            assert!(moving, "waits for nothing: {:?}", plan.stage);
        }
        for step in &plan.steps {
            world.carry_out(&run, step);
        }
        world.pass_time();
        run.spec.suspend = false;
    }
    panic!("the run does not end");
}

#[test]
fn a_run_loses_no_trial_whatever_happens_to_its_node() {
    use Fault::{Cordon, CutOff, Drain, Reboot, Taint};
    for fault in [Cordon, Taint, Drain, CutOff, Reboot] {
        for at in 0..60 {
            let mut run = common::validated();
            let mut world = World::new(&run, at, FRIENDLY);
            for step in 0..=at {
                if step == at {
                    world.inject(fault, 24);
                }
                let plan = plan(&run, &world.observed, world.now);
                for step in &plan.steps {
                    world.carry_out(&run, step);
                }
                world.note(&plan);
                world.pass_time();
            }
            simulate(&mut run, &mut world);
            check_end(&run, &world);
            assert_eq!(ends(&world), [&Ended::Measured], "{fault:?} at step {at}");
        }
    }
}

#[test]
fn a_run_whose_node_is_deleted_ends_with_a_report_of_its_records() {
    let run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    let mut gone_at = None;
    for _ in 0..2_000 {
        if world.stored.len() == 3 && gone_at.is_none() {
            world.inject(Fault::Deletion, u32::MAX);
            gone_at = Some(world.now);
        }
        let plan = plan(&run, &world.observed, world.now);
        if let Stage::GaveUp { message } = &plan.stage {
            let took = world.now.duration_since(gone_at.unwrap()).as_mins();
            assert_eq!((took, world.stored.len()), (10, 3), "{message}");
            assert!(world.observed.report && world.held().is_none());
            assert!(message.contains("bench-1"), "{message}");
            return;
        }
        for step in &plan.steps {
            world.carry_out(&run, step);
        }
        world.note(&plan);
        world.pass_time();
    }
    panic!("the run does not end");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_trial_gets_exactly_one_record_whatever_happens(
        seed in any::<u64>(),
        operator_dies in 0u32..60,
        pod_crashes in 0u32..20,
        pod_vanishes in 0u32..20,
        image_missing in 0u32..10,
        probe_fails in 0u32..40,
        suspends in 0u32..5,
        pod_stays in 0u32..10,
        pod_altered in 0u32..10,
        probe_altered in 0u32..10,
        operator_updated in 0u32..5,
        report_refused in 0u32..90,
        objects in objects(),
        kind in 0..2,
        precise in proptest::option::weighted(0.2, 8u32..12),
    ) {
        let hostility = Hostility {
            operator_dies, pod_crashes, pod_vanishes, image_missing, probe_fails, suspends,
            pod_stays, pod_altered, probe_altered, operator_updated, report_refused, objects,
        };
        let mut run = match (kind, precise) {
            (0, _) => common::validated_cold(),
            (_, None) => common::validated(),
            (_, Some(most)) => common::validated_precise(i64::from(most), most),
        };
        let mut world = World::new(&run, seed, hostility);
        simulate(&mut run, &mut world);
        check_end(&run, &world);
    }
}
