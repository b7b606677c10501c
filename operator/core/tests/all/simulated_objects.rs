//! What goes wrong with single objects of a run, in the simulated cluster: each costs what depends on
//! it and no more, in a bounded time, and never the node.

use jiff::Timestamp;
use wasmbench_core::observed::{JobEnd, LateProbe, PodState};
use wasmbench_core::plan::{Plan, Stage, Step, Wake, plan};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;

use crate::common;
use crate::simulated_run::{FRIENDLY, check_end, ends, simulate};
use crate::simulated_world::{Hostility, Objects, World, occupant};

fn hostile(objects: Objects) -> Hostility {
    Hostility {
        objects,
        ..FRIENDLY
    }
}

/// Plans once, and does it.
fn step(run: &ValidatedRun, world: &mut World) -> Plan {
    let plan = plan(run, &world.observed, world.now);
    for step in &plan.steps {
        world.carry_out(run, step);
    }
    world.pass_time();
    plan
}

/// Goes on until this is so.
fn until(run: &ValidatedRun, world: &mut World, is_so: impl Fn(&World) -> bool) {
    for _ in 0..2_000 {
        if is_so(world) {
            return;
        }
        step(run, world);
    }
    panic!("not so: {:?}", plan(run, &world.observed, world.now));
}

fn seconds(world: &World) -> i64 {
    world.now.duration_since(Timestamp::UNIX_EPOCH).as_secs()
}

fn count(world: &World, ended: &Ended) -> usize {
    let all = world.observed.records.values();
    all.filter(|found| *found == ended).count()
}

fn failed(reason: &str) -> Ended {
    Ended::Failed(reason.into())
}

fn skipped(reason: &str) -> Ended {
    Ended::Skipped(reason.into())
}

#[test]
fn a_refused_echo_server_costs_only_the_trials_that_need_it() {
    let mut run = common::validated();
    let refused = Objects {
        upstream_refused: 100,
        ..Objects::default()
    };
    let mut world = World::new(&run, 1, hostile(refused));
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    let reason = "UpstreamUnavailable";
    assert_eq!(count(&world, &failed(reason)), 1, "it is asked for once");
    for (trial, ended) in &world.observed.records {
        if run.has_upstream(trial) {
            let expected = [failed(reason), skipped(reason)];
            assert!(expected.contains(ended), "{trial}: {ended:?}");
        } else {
            assert_eq!(*ended, Ended::Measured, "{trial}");
        }
    }
}

/// The run, until `is_so` holds of a world in which the echo server runs, which then ends.
fn upstream_ends_when(is_so: impl Fn(&ValidatedRun, &World) -> bool) -> (ValidatedRun, World) {
    let run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    until(&run, &mut world, |world| {
        let runs = world
            .observed
            .upstream()
            .is_some_and(|pod| pod.ip.is_some());
        runs && is_so(&run, world)
    });
    world.observed.upstreams[0].state = PodState::Ended {
        exit_code: Some(137),
        reason: "OOMKilled".into(),
        message: String::new(),
    };
    (run, world)
}

#[test]
fn an_echo_server_that_ends_costs_the_trial_that_used_it_and_is_started_again() {
    let (mut run, mut world) = upstream_ends_when(|run, world| {
        let mut probes = world.observed.probes.iter();
        probes.any(|probe| run.has_upstream(&probe.trial) && !probe.deleting)
    });
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(count(&world, &failed("UpstreamLost")), 1);
    assert_eq!(ends(&world).len(), 2, "{:?}", ends(&world));
}

#[test]
fn an_echo_server_that_ends_between_two_trials_costs_none_of_them() {
    let (mut run, mut world) = upstream_ends_when(|run, world| {
        let mut subjects = world.observed.subjects.iter();
        let ready = subjects.any(|one| run.has_upstream(&one.trial) && one.pod.deleting.is_none());
        ready && world.observed.probes.is_empty()
    });
    let of_the_dead: Vec<String> = world
        .observed
        .subjects
        .iter()
        .map(|s| s.pod.uid.clone())
        .collect();
    until(&run, &mut world, |world| !world.observed.probes.is_empty());
    let target = &world.observed.probes[0].subject_uid;
    assert!(
        !of_the_dead.contains(target),
        "its subject still has the address of the one that ended"
    );
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(ends(&world), [&Ended::Measured]);
}

#[test]
fn an_echo_server_that_keeps_ending_is_started_three_times() {
    let run = common::validated();
    let ends = Objects {
        upstream_ends: 100,
        ..Objects::default()
    };
    let mut world = World::new(&run, 1, hostile(ends));
    let mut starts = 0;
    while world.stored.len() < run.planned(0).len() {
        let plan = step(&run, &mut world);
        let mut steps = plan.steps.iter();
        starts += usize::from(steps.any(|step| matches!(step, Step::StartUpstream { .. })));
        assert!(seconds(&world) < 100_000, "{plan:?}");
    }
    assert_eq!(starts, 3);
    for (trial, ended) in &world.observed.records {
        let is_measured = *ended == Ended::Measured;
        assert_eq!(is_measured, !run.has_upstream(trial), "{trial}: {ended:?}");
    }
}

#[test]
fn a_trial_whose_result_was_removed_is_measured_once_more() {
    for mut run in [common::validated(), common::validated_cold()] {
        let mut world = World::new(&run, 1, FRIENDLY);
        until(&run, &mut world, |world| {
            let mut probes = world.observed.probes.iter();
            probes.any(|probe| probe.pod.as_ref().is_some_and(|pod| !pod.works()))
        });
        let probe = &mut world.observed.probes[0];
        (probe.pod, probe.end) = (None, Some(JobEnd::Completed));
        let trial = probe.trial.clone();
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        assert_eq!(ends(&world), [&Ended::Measured]);
        let twice = |(other, times): (&TrialId, &u32)| *times == 1 + u32::from(*other == trial);
        assert!(world.launched.iter().all(twice), "{:?}", world.launched);
    }
}

#[test]
fn a_trial_whose_results_keep_being_removed_fails_after_two_attempts() {
    for mut run in [common::validated(), common::validated_cold()] {
        let removed = Objects {
            result_removed: 100,
            ..Objects::default()
        };
        let mut world = World::new(&run, 1, hostile(removed));
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        assert!(world.launched.values().all(|times| *times == 2));
        let expected = [failed("ProbeFailed"), skipped("ProbeFailed")];
        assert!(
            ends(&world)
                .into_iter()
                .all(|ended| expected.contains(ended))
        );
    }
}

#[test]
fn a_probe_whose_job_gets_no_pod_fails_within_a_minute_and_ends_its_run() {
    for mut run in [common::validated(), common::validated_cold()] {
        let without = Objects {
            job_without_pod: 100,
            ..Objects::default()
        };
        let mut world = World::new(&run, 1, hostile(without));
        until(&run, &mut world, |world| !world.observed.probes.is_empty());
        let launched = seconds(&world);
        until(&run, &mut world, |world| !world.stored.is_empty());
        let took = seconds(&world) - launched;
        assert!(took <= 60, "{took} s");
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        assert_eq!(count(&world, &failed("ProbeNotStarted")), 1);
    }
}

#[test]
fn a_launch_checks_in_time_whether_its_job_got_a_pod() {
    for run in [common::validated(), common::validated_cold()] {
        let mut world = World::new(&run, 1, FRIENDLY);
        until(&run, &mut world, |world| {
            plan(&run, &world.observed, world.now).starts_probe()
        });
        let begun = step(&run, &mut world);
        assert!(matches!(begun.wake, Wake::At(_)), "{:?}", begun.wake);
        let measuring = plan(&run, &world.observed, world.now);
        assert_eq!(measuring.wake, Wake::OnChange, "nobody looks into a window");
    }
}

/// While there is no room for records, a run gives its node back, keeps what it has measured, and
/// takes no node before that is recorded.
#[test]
fn a_measurement_without_room_for_its_record_waits_without_holding_the_node() {
    for mut run in [common::validated(), common::validated_cold()] {
        let mut world = World::new(&run, 1, FRIENDLY);
        until(&run, &mut world, |world| world.stored.len() > 4);
        let full = Objects {
            records_refused: 100,
            ..Objects::default()
        };
        world.hostility = hostile(full);
        until(&run, &mut world, |world| world.held().is_none());
        for _ in 0..100 {
            let plan = step(&run, &mut world);
            assert!(world.held().is_none(), "{plan:?}");
            let records = matches!(plan.steps[..], [Step::CollectRecord { .. }]);
            assert!(records, "{plan:?}");
            assert_eq!(plan.node.as_deref(), Some("bench-1"));
        }
        let works = world.observed.subjects.iter().any(|one| one.pod.works());
        assert!(!works && world.observed.upstream().is_none());
        world.hostility = FRIENDLY;
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        assert_eq!(ends(&world), [&Ended::Measured]);
        assert!(
            world.launched.values().all(|times| *times == 1),
            "something is measured twice: {:?}",
            world.launched
        );
    }
}

#[test]
fn a_node_with_leftovers_of_another_run_is_not_claimed() {
    let mut run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    world.observed.occupants.push(occupant("other"));
    for _ in 0..100 {
        let plan = step(&run, &mut world);
        assert!(plan.steps.is_empty(), "that run removes it itself");
        assert!(matches!(plan.wake, Wake::At(_)), "{:?}", plan.wake);
        let Stage::Queued { message } = &plan.stage else {
            panic!("{:?}", plan.stage);
        };
        assert!(message.contains("pod team-b/busy of run team-b/other"));
    }
    world.observed.occupants.clear();
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(ends(&world), [&Ended::Measured]);
}

#[test]
fn leftovers_of_finished_runs_are_removed_before_anything_starts() {
    let mut run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    world.observed.occupants.push(occupant("gone"));
    let plan = step(&run, &mut world);
    let over = occupant("gone").run;
    assert_eq!(plan.steps, [Step::Sweep(over)]);
    simulate(&mut run, &mut world);
    check_end(&run, &world);
}

#[test]
fn nothing_starts_while_foreign_pods_are_on_the_node() {
    for mut run in [common::validated(), common::validated_cold()] {
        for seed in 0..20 {
            let appears = Objects {
                leftovers: 30,
                ..Objects::default()
            };
            let mut world = World::new(&run, seed, hostile(appears));
            simulate(&mut run, &mut world);
            check_end(&run, &world);
            assert_eq!(ends(&world), [&Ended::Measured]);
        }
    }
}

#[test]
fn objects_that_appear_after_a_run_was_suspended_are_removed() {
    let mut run = common::validated();
    let late = Objects {
        write_is_late: 100,
        lateness: 50,
        ..Objects::default()
    };
    for seed in 0..20 {
        run.spec.suspend = false;
        let mut world = World::new(&run, seed, hostile(late));
        until(&run, &mut world, |world| !world.late.is_empty());
        run.spec.suspend = true;
        until(&run, &mut world, |world| {
            let pods = &world.observed;
            let none = pods.subjects.is_empty() && pods.probes.is_empty();
            world.late.is_empty() && none && pods.upstreams.is_empty() && world.held().is_none()
        });
    }
}

#[test]
fn objects_that_appear_late_are_removed_before_a_node_is_claimed() {
    let mut run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    until(&run, &mut world, |world| {
        world.observed.upstream().is_some()
    });
    let node = world.held().expect("it holds one");
    world.release(&node);
    let plan = step(&run, &mut world);
    let names: Vec<&str> = plan.steps.iter().map(Into::into).collect();
    assert_eq!(names, ["RemoveUpstream"], "{plan:?}");
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(ends(&world), [&Ended::Measured]);
}

#[test]
fn a_late_probe_costs_no_trial_whenever_it_comes_and_the_one_that_it_overlapped_is_repeated() {
    let mut repeated = 0;
    for rounds in 0..100 {
        let mut run = common::validated();
        let mut world = World::new(&run, 1, FRIENDLY);
        for _ in 0..rounds {
            step(&run, &mut world);
        }
        if world.held().is_none() {
            continue;
        }
        world.observed.late.push(LateProbe {
            node: "bench-1".into(),
            job: "late".into(),
            uid: "late".into(),
            run_uid: "over".into(),
            deleting: false,
        });
        let recorded = |trial: &TrialId| world.observed.records.contains_key(trial);
        let trials = world
            .observed
            .probes
            .iter()
            .map(|probe| probe.trial.clone());
        let overlapped: Vec<TrialId> = trials.filter(|trial| !recorded(trial)).collect();
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        assert_eq!(ends(&world), [&Ended::Measured]);
        for trial in &overlapped {
            assert_eq!(world.launched.get(trial), Some(&2), "{trial}");
        }
        repeated += overlapped.len();
    }
    assert!(repeated > 10, "only {repeated} were overlapped");
}
