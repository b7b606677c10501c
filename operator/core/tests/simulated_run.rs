//! A whole run against a simulated cluster, with everything that goes wrong in a real one: the
//! operator dies between any two steps, pods crash, vanish, never start, images do not exist, the
//! user suspends and resumes. Whatever happens: one subject is loaded at a time, nothing is
//! removed before its record is stored, every trial ends with exactly one record, and the run
//! terminates.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

mod common;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use wasmbench_core::observed::{
    LeaseSeen, NodeSeen, Observed, PodSeen, PodState, ProbeSeen, RunSeen, Standing, SubjectSeen,
    TaintSeen, Waiting,
};
use wasmbench_core::plan::{Blocks, Plan, Stage, Step, Wake, blocks, plan};
use wasmbench_core::store::Ended;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_core::wire::record::{Point, TrialId};

/// How hostile the world is: each is a chance in percent per event.
#[derive(Clone, Copy, Debug)]
struct Hostility {
    operator_dies: u32,
    pod_crashes: u32,
    pod_vanishes: u32,
    image_missing: u32,
    probe_fails: u32,
    suspends: u32,
}

/// Stands for the widths of a run's intervals: decides from the records alone, and differently from
/// run to run, whether another block is needed.
fn needs_another_block(run: &ValidatedRun, seen: &Observed, complete: u32) -> bool {
    let mut measured = seen.records.iter().filter(|(trial, ended)| {
        assert!(
            trial.block <= complete,
            "{trial} was measured before it was decided for"
        );
        **ended == Ended::Measured
    });
    let enough = 8 + u32::try_from(run.seed % 6).expect("a small number");
    measured.any(|(trial, _)| trial.block == complete) && complete < enough
}

/// What the controller does before each plan.
fn decide_blocks(run: &ValidatedRun, seen: &mut Observed) {
    seen.blocks = match blocks(run, seen) {
        Blocks::Decided(blocks) => blocks,
        Blocks::Complete(complete) => {
            complete + u32::from(needs_another_block(run, seen, complete))
        }
    };
}

struct World {
    random: ChaCha8Rng,
    hostility: Hostility,
    now: Timestamp,
    seen: Observed,
    stored: BTreeMap<TrialId, u32>,
    next_uid: u64,
}

impl World {
    fn new(run: &ValidatedRun, seed: u64, hostility: Hostility) -> Self {
        let node = NodeSeen {
            name: "bench-1".into(),
            labels: BTreeMap::from([("disk".into(), "quiet".into())]),
            taints: vec![TaintSeen {
                key: "bench".into(),
                ..TaintSeen::default()
            }],
            ready: true,
        };
        let this_run = RunSeen {
            uid: run.uid.clone(),
            name: "team-a/gatekeeper".into(),
            created: Timestamp::UNIX_EPOCH,
            standing: Standing::Active,
            placement: run.spec.placement.clone().unwrap_or_default(),
        };
        let observed = Observed {
            nodes: vec![node],
            runs: vec![this_run],
            runtime_classes: ["spin".to_owned()].into(),
            ..Observed::default()
        };
        let random = ChaCha8Rng::seed_from_u64(seed);
        let now = Timestamp::UNIX_EPOCH;
        Self {
            random,
            hostility,
            now,
            seen: observed,
            stored: BTreeMap::new(),
            next_uid: 0,
        }
    }

    fn happens(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    fn new_pod(&mut self, name: &str) -> PodSeen {
        self.next_uid += 1;
        PodSeen {
            name: name.to_owned(),
            uid: self.next_uid.to_string(),
            created: self.now,
            deleting: false,
            ip: None,
            state: PodState::Pending(None),
        }
    }

    /// Carries out one step as the controller would.
    fn carry_out(&mut self, run: &ValidatedRun, step: &Step) {
        match step {
            Step::ClaimNode { node, .. } => {
                let holder = Some(run.uid.clone());
                self.seen.leases = vec![LeaseSeen {
                    node: node.clone(),
                    holder,
                    resource_version: None,
                }];
            }
            Step::ReleaseNode { .. } => self.seen.leases.clear(),
            Step::StartUpstream => {
                assert!(self.seen.upstream.is_none(), "a second echo server");
                self.seen.upstream = Some(self.new_pod("echo"));
            }
            Step::RemoveUpstream { .. } => self.seen.upstream = None,
            Step::DeploySubject(trial) => self.deploy(run, trial),
            Step::LaunchProbe {
                trial,
                subject_uid,
                partner,
                ..
            } => {
                assert_eq!(partner.is_some(), run.partner(trial).is_some(), "{trial}");
                let partner = partner.as_ref().map_or("", |pod| pod.uid.as_str());
                self.launch(trial, subject_uid, partner);
            }
            Step::LaunchColdStart(trial) => self.launch_cold_start(trial),
            Step::CollectRecord { trial, .. } => {
                let probe = self
                    .seen
                    .probes
                    .iter()
                    .find(|p| p.trial == *trial)
                    .expect("no probe");
                let pod = probe.pod.as_ref().expect("no pod");
                let ok = matches!(
                    pod.state,
                    PodState::Ended {
                        exit_code: Some(0),
                        ..
                    }
                );
                let ended = if ok {
                    Ended::Measured
                } else {
                    Ended::Failed("NeverListened".into())
                };
                self.store(trial, ended);
            }
            Step::RecordFailure { trial, failure, .. } => {
                self.store(trial, Ended::Failed(failure.reason.clone()));
            }
            Step::RecordSkipped(exclusion) => {
                for trial in &exclusion.trials {
                    self.store(trial, Ended::Skipped(exclusion.failure.reason.clone()));
                }
            }
            Step::RemoveSubject { pod } => {
                let cold = self.seen.cold_subjects.iter_mut();
                let mut subjects = self.seen.subjects.iter_mut().chain(cold);
                let subject = subjects.find(|s| s.pod.name == *pod);
                subject.expect("removed twice").pod.deleting = true;
            }
            Step::RemoveProbe { job } => {
                let probe = self.seen.probes.iter_mut().find(|p| p.job == *job);
                probe.expect("removed twice").deleting = true;
            }
            Step::Summarise => self.seen.report = true,
        }
    }

    fn deploy(&mut self, run: &ValidatedRun, trial: &TrialId) {
        let is_there = |world: &Self, is_partner: bool| {
            let mut subjects = world.seen.subjects.iter();
            subjects.any(|one| one.trial == *trial && one.is_partner == is_partner)
        };
        let needs_partner = run.partner(trial).is_some();
        assert!(
            !is_there(self, false) || (needs_partner && !is_there(self, true)),
            "a second subject for {trial}"
        );
        for is_partner in [false, true] {
            if is_there(self, is_partner) || (is_partner && !needs_partner) {
                continue;
            }
            let pod = self.new_pod(&format!("{trial}-{is_partner}"));
            self.seen.subjects.push(SubjectSeen {
                trial: trial.clone(),
                is_partner,
                pod,
            });
            // The operator may die between the pods of a duet.
            if self.happens(self.hostility.operator_dies) {
                return;
            }
        }
    }

    fn launch(&mut self, trial: &TrialId, subject_uid: &str, partner_uid: &str) {
        let ended = |pod: &PodSeen| matches!(pod.state, PodState::Ended { .. });
        let probes = self
            .seen
            .probes
            .iter()
            .filter_map(|probe| probe.pod.as_ref());
        assert!(probes.into_iter().all(ended), "two probes on one node");
        for subject in self
            .seen
            .subjects
            .iter()
            .filter(|subject| !ended(&subject.pod))
        {
            assert_eq!(
                subject.trial, *trial,
                "another subject lives beside {trial}"
            );
            assert_eq!(subject.pod.state, PodState::Running);
            let uid = if subject.is_partner {
                partner_uid
            } else {
                subject_uid
            };
            assert_eq!(subject.pod.uid, uid, "{trial} is pointed at another pod");
        }
        assert!(
            !self.stored.contains_key(trial),
            "{trial} is measured twice"
        );
        let pod = Some(self.new_pod("probe"));
        self.seen.probes.push(ProbeSeen {
            trial: trial.clone(),
            job: format!("probe/{trial}"),
            subject_uid: subject_uid.to_owned(),
            partner_uid: partner_uid.to_owned(),
            deleting: false,
            failed: None,
            pod,
        });
    }

    fn launch_cold_start(&mut self, trial: &TrialId) {
        let ended = |pod: &PodSeen| matches!(pod.state, PodState::Ended { .. });
        let probes = self.seen.probes.iter();
        let mut probes = probes.filter_map(|probe| probe.pod.as_ref());
        assert!(probes.all(ended), "two probes on one node");
        let mut subjects = self.seen.subjects.iter();
        assert!(
            subjects.all(|subject| ended(&subject.pod)),
            "a subject lives beside {trial}"
        );
        assert!(
            self.seen.cold_subjects.is_empty(),
            "{trial} meets pods of its own names"
        );
        assert!(
            !self.stored.contains_key(trial),
            "{trial} is measured twice"
        );
        let pod = Some(self.new_pod("probe"));
        self.seen.probes.push(ProbeSeen {
            trial: trial.clone(),
            job: format!("probe/{trial}"),
            subject_uid: String::new(),
            partner_uid: String::new(),
            deleting: false,
            failed: None,
            pod,
        });
    }

    /// A running probe of cold starts has pods; one that ends well has removed them, and one that
    /// does not leaves them.
    fn cold_subjects_come_and_go(&mut self) {
        self.seen.cold_subjects.retain(|cold| !cold.pod.deleting);
        for index in 0..self.seen.probes.len() {
            let probe = &self.seen.probes[index];
            let Point::ColdStart { .. } = probe.trial.cell.point else {
                continue;
            };
            let trial = probe.trial.clone();
            let state = probe.pod.as_ref().map(|pod| pod.state.clone());
            if state == Some(PodState::Running) && self.happens(50) {
                let name = format!("{trial}-{}", self.next_uid);
                let pod = self.new_pod(&name);
                let cold = SubjectSeen {
                    trial,
                    is_partner: false,
                    pod,
                };
                self.seen.cold_subjects.push(cold);
            } else if state == Some(ended(0)) {
                self.seen.cold_subjects.retain(|cold| cold.trial != trial);
            }
        }
    }

    fn store(&mut self, trial: &TrialId, ended: Ended) {
        assert!(
            !self.seen.records.contains_key(trial),
            "{trial} is recorded twice"
        );
        *self.stored.entry(trial.clone()).or_default() += 1;
        self.seen.records.insert(trial.clone(), ended);
        self.seen.recorded_node = Some("bench-1".into());
    }

    /// Lets kubelet and controllers move on, and things go wrong.
    fn pass_time(&mut self) {
        self.now = self
            .now
            .checked_add(SignedDuration::from_secs(5))
            .expect("time goes on");
        self.seen.subjects.retain(|subject| !subject.pod.deleting);
        self.seen.probes.retain(|probe| !probe.deleting);
        if let Some(pod) = &mut self.seen.upstream
            && pod.state == PodState::Pending(None)
        {
            pod.state = PodState::Running;
            pod.ip = Some([10, 0, 0, 9].into());
        }
        self.cold_subjects_come_and_go();
        for index in 0..self.seen.subjects.len() {
            self.subject_moves_on(index);
        }
        for index in 0..self.seen.probes.len() {
            self.probe_moves_on(index);
        }
        if self.happens(self.hostility.pod_vanishes) {
            self.seen.subjects.pop();
        }
        if self.happens(self.hostility.pod_vanishes / 2) {
            self.seen.probes.pop();
        }
    }

    fn subject_moves_on(&mut self, index: usize) {
        let crashes = self.happens(self.hostility.pod_crashes);
        let missing = self.happens(self.hostility.image_missing);
        let starts = self.happens(80);
        let pod = &mut self.seen.subjects[index].pod;
        match pod.state {
            PodState::Pending(_) if missing => {
                let (reason, message) = ("ImagePullBackOff".into(), "no such image".into());
                pod.state = PodState::Pending(Some(Waiting { reason, message }));
            }
            PodState::Pending(None) if starts => {
                pod.state = PodState::Running;
                pod.ip = Some([10, 0, 0, 8].into());
            }
            PodState::Running if crashes => pod.state = ended(139),
            _ => {}
        }
    }

    fn probe_moves_on(&mut self, index: usize) {
        let fails = self.happens(self.hostility.probe_fails);
        let goes_on = self.happens(70);
        let Some(pod) = &mut self.seen.probes[index].pod else {
            return;
        };
        match pod.state {
            PodState::Pending(_) if goes_on => pod.state = PodState::Running,
            PodState::Running if goes_on => pod.state = ended(i32::from(fails)),
            _ => {}
        }
    }
}

fn ended(code: i32) -> PodState {
    PodState::Ended {
        exit_code: Some(code),
        reason: "Ended".into(),
        message: String::new(),
    }
}

/// Runs to the end and answers with the number of plans that it took.
fn simulate(run: &mut ValidatedRun, world: &mut World) -> usize {
    for round in 0..20_000 {
        if world.happens(world.hostility.suspends) {
            run.spec.suspend = !run.spec.suspend;
            world.seen.runs[0].standing = if run.spec.suspend {
                Standing::Suspended
            } else {
                Standing::Active
            };
        }
        decide_blocks(run, &mut world.seen);
        let plan = plan(run, &world.seen, world.now);
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
        world.pass_time();
    }
    panic!(
        "the run does not end: {} of {} trials",
        world.stored.len(),
        run.planned(world.seen.blocks).len()
    );
}

fn check_end(run: &ValidatedRun, world: &World) {
    assert_eq!(
        world.stored.len(),
        run.planned(world.seen.blocks).len(),
        "trials without a record"
    );
    assert!(
        world.stored.values().all(|count| *count == 1),
        "a trial with two records"
    );
    assert!(
        world.seen.subjects.is_empty() && world.seen.probes.is_empty(),
        "leftovers"
    );
    assert!(
        world.seen.cold_subjects.is_empty(),
        "pods of cold starts are left"
    );
    assert!(world.seen.upstream.is_none(), "the echo server is left");
    assert!(world.seen.leases.is_empty(), "the node is not given back");
}

const FRIENDLY: Hostility = Hostility {
    operator_dies: 0,
    pod_crashes: 0,
    pod_vanishes: 0,
    image_missing: 0,
    probe_fails: 0,
    suspends: 0,
};

#[test]
fn in_a_friendly_world_every_trial_is_measured() {
    for mut run in [common::validated(), common::validated_cold()] {
        let mut world = World::new(&run, 1, FRIENDLY);
        simulate(&mut run, &mut world);
        check_end(&run, &world);
        let mut ended = world.seen.records.values();
        assert!(ended.all(|ended| *ended == Ended::Measured));
    }
}

#[test]
fn a_killed_probe_of_cold_starts_leaves_nothing_behind() {
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
fn a_variant_whose_image_is_missing_is_skipped_and_the_others_go_on() {
    let mut run = common::validated();
    let mut world = World::new(&run, 1, FRIENDLY);
    world.seen.runtime_classes.clear();
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    for (trial, ended) in &world.seen.records {
        let expected = if trial.cell.variant == "mine" {
            Ended::Skipped("RuntimeClassNotFound".into())
        } else {
            Ended::Measured
        };
        assert_eq!(*ended, expected, "{trial}");
    }
}

#[test]
fn in_a_duet_run_every_trial_of_a_load_has_both_pods_and_the_baseline_has_none_of_its_own() {
    let mut run = common::validated_duet();
    let mut world = World::new(&run, 1, FRIENDLY);
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert!(
        world
            .seen
            .records
            .values()
            .all(|ended| *ended == Ended::Measured)
    );
    let of_baseline = |trial: &&TrialId| trial.cell.variant == run.baseline;
    let own: Vec<&TrialId> = world.seen.records.keys().filter(of_baseline).collect();
    assert!(!own.is_empty());
    assert!(
        own.iter()
            .all(|trial| trial.cell.point.probe_creates_pods())
    );
}

#[test]
fn where_the_baselines_runtime_is_missing_no_duet_is_tried() {
    let mut run = common::validated_duet();
    run.baseline = "mine".into();
    run.order.retain(|trial| trial.cell.variant != "mine");
    let mut world = World::new(&run, 1, FRIENDLY);
    world.seen.runtime_classes.clear();
    simulate(&mut run, &mut world);
    for (trial, ended) in &world.seen.records {
        let skipped = Ended::Skipped("RuntimeClassNotFound".into());
        let is_duet = !trial.cell.point.probe_creates_pods();
        assert_eq!(*ended == skipped, is_duet, "{trial}");
    }
}

#[test]
fn a_precise_run_has_the_blocks_that_its_records_ask_for_wherever_the_operator_dies() {
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
                world.seen.blocks, expected,
                "seed {seed}, world {world_seed}"
            );
            let cells = run.planned(0).len() / 8;
            assert_eq!(world.stored.len(), cells * expected as usize);
        }
    }
}

#[test]
fn a_precise_run_ends_with_its_budget() {
    let mut run = common::validated_precise(17, 10);
    let mut world = World::new(&run, 1, FRIENDLY);
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(world.seen.blocks, 10);
}

#[test]
fn what_is_skipped_is_skipped_block_by_block() {
    let mut run = common::validated_precise(15, 20);
    let mut world = World::new(&run, 1, FRIENDLY);
    world.seen.runtime_classes.clear();
    simulate(&mut run, &mut world);
    check_end(&run, &world);
    assert_eq!(world.seen.blocks, 11);
    let skipped = world.seen.records.values();
    let skipped = skipped.filter(|ended| matches!(ended, Ended::Skipped(_)));
    assert_eq!(skipped.count(), world.stored.len() / 3);
}

#[test]
fn the_contents_of_records_are_asked_for_between_blocks_only() {
    let mut run = common::validated_precise(17, 20);
    let mut world = World::new(&run, 1, FRIENDLY);
    let mut asked = vec![];
    for _ in 0..20_000 {
        if let Blocks::Complete(block) = blocks(&run, &world.seen) {
            assert!(world.seen.subjects.iter().all(|s| s.trial.block <= block));
            asked.push(block);
        }
        decide_blocks(&run, &mut world.seen);
        let plan = plan(&run, &world.seen, world.now);
        if plan.stage == Stage::Done {
            break;
        }
        for step in &plan.steps {
            world.carry_out(&run, step);
        }
        world.pass_time();
    }
    run.spec.suspend = false;
    // Once after each block: the first object of the next one says that it was decided for.
    assert_eq!(asked, [8, 9, 10, 11, 12, 13]);
}

#[test]
fn a_plan_that_waits_says_what_for() {
    for run in [
        common::validated(),
        common::validated_cold(),
        common::validated_duet(),
    ] {
        waits_for_something(run);
    }
}

fn waits_for_something(mut run: ValidatedRun) {
    let mut world = World::new(&run, 3, FRIENDLY);
    for _ in 0..500 {
        let plan: Plan = plan(&run, &world.seen, world.now);
        if plan.stage == Stage::Done {
            return;
        }
        if plan.steps.is_empty() && plan.wake == Wake::OnChange {
            let moving =
                world.seen.subjects.iter().any(|s| s.pod.deleting) || !world.seen.probes.is_empty();
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn whatever_happens_every_trial_gets_exactly_one_record(
        seed in any::<u64>(),
        operator_dies in 0u32..60,
        pod_crashes in 0u32..20,
        pod_vanishes in 0u32..20,
        image_missing in 0u32..10,
        probe_fails in 0u32..40,
        suspends in 0u32..5,
        kind in 0..3,
        precise in proptest::option::weighted(0.2, 8u32..12),
    ) {
        let hostility = Hostility {
            operator_dies, pod_crashes, pod_vanishes, image_missing, probe_fails, suspends,
        };
        let mut run = match (kind, precise) {
            (0, _) => common::validated_cold(),
            (1, _) => common::validated_duet(),
            (_, None) => common::validated(),
            (_, Some(most)) => common::validated_precise(i64::from(most), most),
        };
        let mut world = World::new(&run, seed, hostility);
        simulate(&mut run, &mut world);
        check_end(&run, &world);
    }
}
