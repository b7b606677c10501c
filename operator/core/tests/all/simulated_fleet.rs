//! Several runs in a simulated cluster of two nodes, of which now and then one is cordoned, tainted,
//! drained, cut off, rebooted or deleted, while users suspend, resume and delete runs, and the operator
//! dies. In every other fleet, objects are hostile too: refused, altered, late, lost. Whatever happens:
//! no node has two loads, no node idles while a run could use it, no record is lost or taken twice,
//! every run ends or reports what it waits for, and where only nodes are hostile, every trial is measured.

use jiff::{SignedDuration, Timestamp};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use wasmbench_core::observed::{LabelDemand, ObservedLease, ObservedRun, RunName, Standing};
use wasmbench_core::plan::{Plan, Stage, Step, plan};
use wasmbench_core::queue::{Cluster, Turns, turns};
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::store::Ended;

use crate::common;
use crate::simulated_run::FRIENDLY;
use crate::simulated_world::{Hostility, Nodes, Objects, World, later};

/// Steps in which things happen, fewer where objects stay hostile to the end, and steps after which
/// every run must have ended.
const EVENTFUL: u32 = 400;
const HOSTILE_EVENTFUL: u32 = 120;
const CALM: u32 = 4_000;
/// For so many steps a node may be free while a run waits that could use it: some runs sleep at
/// times.
const IDLE: u32 = 20;

/// One run, its own view of the cluster, and how it ended.
struct Member {
    run: ValidatedRun,
    world: World,
    observed: ObservedRun,
    end: Option<Stage>,
    /// Its user has deleted it, and perhaps nobody removes what it has left.
    deleted: Option<Leftovers>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Leftovers {
    Collected,
    Orphaned,
}

struct Fleet {
    is_hostile: bool,
    random: ChaCha8Rng,
    nodes: Nodes,
    leases: Vec<ObservedLease>,
    members: Vec<Member>,
    /// As the queue saw them at the beginning of the step: it may be behind.
    turns: Turns,
    now: Timestamp,
    /// For how many steps each node has been free although a run could use it.
    idle: [u32; 2],
}

/// Failures that the next trial would meet, too.
const HOPELESS: [&str; 3] = ["ProbeNotStarted", "ProbeAltered", "UpstreamUnavailable"];

/// Any of these, but none so often that runs would end before much has happened.
const HOSTILE: Hostility = Hostility {
    pod_crashes: 1,
    pod_vanishes: 2,
    probe_fails: 3,
    pod_altered: 1,
    probe_altered: 1,
    report_refused: 30,
    objects: Objects {
        job_without_pod: 1,
        result_removed: 5,
        upstream_refused: 3,
        records_refused: 10,
        upstream_ends: 2,
        write_is_late: 10,
        lateness: 80,
        leftovers: 0,
    },
    ..FRIENDLY
};

fn member(index: u32, world: u64, hostility: Hostility) -> Member {
    let mut run = common::parse(common::RUN);
    run.metadata.uid = Some(format!("run-{index}"));
    run.spec.variants.truncate(2);
    // An echo server for some.
    run.spec.workloads.swap(0, (index % 2) as usize);
    run.spec.workloads.truncate(1);
    run.spec.sweeps.throughput = None;
    run.spec.noise_floor = Some(false);
    let run = validate(&run, &common::config()).expect("the run is valid");
    let mut world = World::new(&run, world, hostility);
    if index == 4 {
        // No node fits this one.
        world.observed.demands.labels.push(LabelDemand {
            key: "gpu".into(),
            values: vec!["yes".into()],
            by: "somebody".into(),
        });
    }
    let observed = ObservedRun {
        name: format!("team-{}/run-{index}", index % 3),
        created: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(index.into()),
        demands: world.observed.demands.clone(),
        ..common::observed_run(&run)
    };
    Member {
        run,
        world,
        observed,
        end: None,
        deleted: None,
    }
}

impl Member {
    fn lives(&self) -> bool {
        self.deleted.is_none()
    }

    fn name(&self) -> RunName {
        let (namespace, name) = self.observed.name.split_once('/').expect("a namespace");
        RunName {
            uid: self.run.uid.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl Fleet {
    fn new(seed: u64) -> Self {
        let names = ["bench-1", "bench-2"];
        let nodes = Nodes::new(names.map(common::node).into(), 2);
        // A node that was measured on once and will not come back.
        let spot = common::lease("spot", None);
        let is_hostile = seed % 2 == 1;
        let hostility = if is_hostile { HOSTILE } else { FRIENDLY };
        Self {
            is_hostile,
            random: ChaCha8Rng::seed_from_u64(seed),
            nodes,
            leases: vec![spot],
            turns: Turns::default(),
            members: (0..5).map(|index| member(index, seed, hostility)).collect(),
            now: Timestamp::UNIX_EPOCH,
            idle: [0; 2],
        }
    }

    fn happens(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    /// One step of everything: nodes, users, and the operator's passes over the runs in any order.
    fn step(&mut self, is_eventful: bool) {
        self.now = later(self.now);
        let faults = self.nodes.step(&mut self.random, self.now);
        self.turns = turns(&self.cluster(), self.now);
        for index in 0..self.members.len() {
            if is_eventful {
                self.users_act(index);
            } else {
                self.members[index].run.spec.suspend = false;
            }
            self.members[index].world.now = self.now;
            self.show(index);
            self.members[index].world.pass_time_after(&faults);
        }
        let first = self.random.random_range(0..self.members.len());
        for offset in 0..self.members.len() {
            let index = (first + offset) % self.members.len();
            // What happens to pods wakes their run; others sleep at times.
            let is_awake = self.happens(70) || self.nodes.is_faulty();
            let member = &self.members[index];
            if member.end.is_none() && member.lives() && is_awake {
                self.reconcile(index, is_eventful);
            }
        }
        self.assert_well();
    }

    fn users_act(&mut self, index: usize) {
        if self.happens(1) {
            let run = &mut self.members[index].run;
            run.spec.suspend = !run.spec.suspend;
        }
        let has_pods = self.members[index].world.has_pods();
        let may_delete = self.is_hostile && has_pods && self.members[index].lives();
        if may_delete && self.random.random_range(0..300) == 0 {
            let is_orphaned = self.happens(50);
            self.members[index].deleted = Some(if is_orphaned {
                Leftovers::Orphaned
            } else {
                Leftovers::Collected
            });
        }
        if self.members[index].deleted == Some(Leftovers::Collected) && self.happens(10) {
            self.members[index].world.is_swept();
        }
    }

    /// What the queue knows.
    fn cluster(&self) -> Cluster {
        let living = self.members.iter().filter(|one| one.lives());
        Cluster {
            runs: living.map(in_queue).collect(),
            nodes: self.nodes.there.clone(),
            leases: self.leases.clone(),
            ..Cluster::default()
        }
    }

    /// What the run's next pass reads.
    fn show(&mut self, index: usize) {
        let holds = self.members[index].world.held().is_some();
        let mut others: Vec<&Member> = self.members.iter().collect();
        others.remove(index);
        let occupants = others.iter();
        let occupants = occupants.flat_map(|one| {
            let lives = one.lives() && one.end.is_none();
            one.world.occupants(&one.name(), lives, holds)
        });
        let occupants = occupants.collect();
        let member = &mut self.members[index];
        member.world.observed.occupants = occupants;
        member.world.nodes = self.nodes.clone();
        member.world.observed.leases.clone_from(&self.leases);
        member.world.take_turn(&self.turns);
    }

    fn reconcile(&mut self, index: usize, is_eventful: bool) {
        self.show(index);
        let dies = is_eventful && self.happens(10);
        let part = self.random.random_range(0..100);
        let may_measure = |one: &&Member| one.lives() && one.end.is_none();
        let living = self.members.iter().filter(may_measure);
        let living: Vec<String> = living.map(|one| one.run.uid.clone()).collect();
        let Member {
            run, world, end, ..
        } = &mut self.members[index];
        let plan = plan(run, &world.observed, world.now);
        assert_names_what_it_waits_for(&plan);
        let steps = if dies {
            plan.steps.len() * part / 100
        } else {
            plan.steps.len()
        };
        for step in &plan.steps[..steps] {
            if let Step::ClaimNode { existing, .. } = step {
                let holder = existing.as_ref().and_then(|lease| lease.holder.as_ref());
                let is_taken = holder.is_some_and(|holder| living.contains(holder));
                assert!(!is_taken, "{} takes what another run holds", run.uid);
            }
            world.carry_out(run, step);
        }
        if !dies {
            world.note(&plan);
        }
        if matches!(plan.stage, Stage::Done | Stage::GaveUp { .. }) {
            *end = Some(plan.stage);
        }
        self.leases.clone_from(&world.observed.leases);
        for step in &plan.steps[..steps] {
            if let Step::Sweep(over) = step {
                self.sweep(&over.uid);
            }
        }
    }

    fn sweep(&mut self, uid: &str) {
        let mut members = self.members.iter_mut();
        let over = members.find(|one| one.run.uid == uid).expect("a run");
        assert!(!over.lives() || over.end.is_some(), "{uid} still measures");
        over.world.is_swept();
    }

    /// Who holds the node. What a deleted run holds is free.
    fn holder(&self, node: &str) -> Option<&Member> {
        let mut leases = self.leases.iter();
        let holder = leases.find(|lease| lease.node == node)?.holder.as_ref()?;
        let mut living = self.members.iter().filter(|one| one.lives());
        living.find(|one| one.run.uid == *holder)
    }

    fn assert_well(&mut self) {
        for (index, name) in ["bench-1", "bench-2"].into_iter().enumerate() {
            let loads = self.members.iter().filter(|one| one.world.loads(name));
            assert!(loads.count() <= 1, "two loads on {name}");
            let is_free = self.holder(name).is_none();
            let is_wanted = is_free
                && self.nodes.takes_pods(name)
                && self.members.iter().any(|one| self.wants(one, name));
            self.idle[index] = if is_wanted { self.idle[index] + 1 } else { 0 };
            assert!(self.idle[index] < IDLE, "{name} is free, and a run waits");
        }
    }

    /// Whether the run could measure on this node, and nothing keeps it where it is.
    fn wants(&self, member: &Member, node: &str) -> bool {
        let demands = &member.world.observed.demands;
        let fits = demands.labels.iter().all(|label| label.key != "gpu");
        let is_its = demands.node.as_ref().is_none_or(|own| own == node);
        let uid = Some(&member.run.uid);
        let mut leases = self.leases.iter();
        let held = leases.find(|lease| lease.holder.as_ref() == uid);
        let is_stuck = held.is_none_or(|one| {
            let world = &member.world;
            !self.nodes.takes_pods(&one.node) && !world.has_pods() && !world.has_unreachable_pods()
        });
        let is_active = member.end.is_none() && member.lives() && !member.run.spec.suspend;
        // One whose records find no room takes no node.
        let has_room = member.world.hostility.objects.records_refused == 0;
        fits && is_its && is_stuck && is_active && has_room
    }

    fn assert_ended_well(&self) {
        let mut leases = self.leases.iter();
        let is_held = leases.any(|lease| self.holder(&lease.node).is_some());
        assert!(!is_held, "{:?}", self.leases);
        assert!(
            self.leases.iter().all(|lease| lease.node != "spot"),
            "it is gone"
        );
        for member in self.members.iter().filter(|one| one.lives()) {
            let Member {
                run, world, end, ..
            } = member;
            let records = &world.observed.records;
            for reason in HOPELESS {
                let failed = Ended::Failed(reason.into());
                let times = records.values().filter(|ended| **ended == failed).count();
                assert!(times <= 1, "{}: {reason} is tried again", run.uid);
            }
            for (trial, ended) in records {
                let (Ended::Failed(reason) | Ended::Skipped(reason)) = ended else {
                    continue;
                };
                assert!(
                    world.has_caused(reason.as_str()),
                    "{}: {trial} {ended:?}",
                    run.uid
                );
            }
            assert!(
                world.stored.values().all(|count| *count == 1),
                "recorded twice"
            );
            let is_whole = records.len() == run.order.len();
            match end {
                Some(Stage::Done) => assert!(is_whole, "{} is not whole", run.uid),
                Some(Stage::GaveUp { message }) => {
                    assert!(!is_whole && world.observed.report, "{message}");
                    let began = world.observed.demands.node.as_ref();
                    let gone = &self.nodes.long_gone;
                    let is_lost = began.map_or(gone.len() == 2, |node| gone.contains(node));
                    assert!(is_lost || message.contains("gpu"), "{}: {message}", run.uid);
                }
                other => panic!("{} has not ended: {other:?}, {:?}", run.uid, world.observed),
            }
        }
        let misfit = &self.members[4];
        assert!(matches!(misfit.end, Some(Stage::GaveUp { .. })) || !misfit.lives());
    }
}

fn in_queue(member: &Member) -> ObservedRun {
    let mut observed = member.observed.clone();
    observed
        .demands
        .node
        .clone_from(&member.world.observed.demands.node);
    observed.standing = match (&member.end, member.run.spec.suspend) {
        (Some(_), _) => Standing::Ended,
        (None, true) => Standing::Suspended,
        (None, false) => Standing::Active,
    };
    observed
}

fn assert_names_what_it_waits_for(plan: &Plan) {
    if let Stage::Queued { message } | Stage::NoNode { message } = &plan.stage {
        let names_it = ["node", "gpu"].iter().any(|word| message.contains(word));
        assert!(names_it, "{message}");
    }
}

fn simulate(seed: u64) {
    let mut fleet = Fleet::new(seed);
    let eventful = if fleet.is_hostile {
        HOSTILE_EVENTFUL
    } else {
        EVENTFUL
    };
    for _ in 0..eventful {
        fleet.step(true);
    }
    fleet.nodes.calm();
    for member in &mut fleet.members {
        member.world.hostility.objects.records_refused = 0;
    }
    for _ in 0..CALM {
        fleet.step(false);
        let is_over = |one: &Member| one.end.is_some() || !one.lives();
        if fleet.members.iter().all(is_over) {
            break;
        }
    }
    fleet.assert_ended_well();
}

/// `WASMBENCH_FLEETS` sets how many fleets there are, and `WASMBENCH_FLEET` selects a single one by the
/// seed that a failure printed.
#[test]
fn every_run_ends_and_loses_no_record_whatever_happens_to_nodes() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let seeds = match number("WASMBENCH_FLEET") {
        Some(seed) => seed..seed + 1,
        None => 0..number("WASMBENCH_FLEETS").unwrap_or(500),
    };
    for seed in seeds {
        let result = std::panic::catch_unwind(|| simulate(seed));
        if let Err(reason) = result {
            let text = reason.downcast_ref::<String>().cloned();
            panic!("fleet {seed}: {}", text.unwrap_or_default());
        }
    }
}

/// Cold starts create pods themselves, and what a node does to them may fail a trial; but the run
/// goes on.
#[test]
fn cold_start_runs_end_like_others_on_unstable_nodes() {
    for seed in 0..50 {
        let mut run = common::validated_cold();
        let mut world = World::new(&run, seed, FRIENDLY);
        world.nodes.chance = 3;
        let mut ended = None;
        for step in 0..6_000 {
            if step == 1_000 {
                world.nodes.calm();
            }
            run.spec.suspend = false;
            let plan = plan(&run, &world.observed, world.now);
            if matches!(plan.stage, Stage::Done | Stage::GaveUp { .. }) {
                ended = Some(plan.stage);
                break;
            }
            for step in &plan.steps {
                world.carry_out(&run, step);
            }
            world.note(&plan);
            world.pass_time();
        }
        assert!(ended.is_some(), "fleet of one {seed} does not end");
        assert_eq!(world.held(), None);
    }
}
