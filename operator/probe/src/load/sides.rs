//! Divides the node's CPUs between the two halves of a duet, and keeps the subjects on theirs. Where
//! the kubelet's CPU manager has given them CPUs of their own already, these are taken as they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use wasmbench_core::cpu_list::CpuList;
use wasmbench_core::duet::sides::{Core, SideCpus, Sides, TooFewCpus, sides};
use wasmbench_core::wire::document::{ProbeFailure, ProbeFailureReason};
use wasmbench_core::wire::instrument::{DuetCpus, PinnedBy, Side};

use super::failure;
use super::together::Failed;
use crate::settings::Settings;
use crate::{cpus, pin};

/// The CPUs of both halves.
#[derive(Debug)]
pub struct Divided {
    /// Those of the variant, then those of the baseline.
    pub halves: [SideCpus; 2],
    /// What is told of it.
    pub told: DuetCpus,
}

/// Divides the CPUs between two pods: the variant's, which gets `side`, and the baseline's.
pub fn divide(settings: &Settings, pods: [&str; 2], side: Side) -> Result<Divided, Failed> {
    let (proc, sys) = (&settings.proc, &settings.sys);
    let lists = [seen(proc, pods, 0)?, seen(proc, pods, 1)?];
    let unseen = || not_pinned("the probe's own CPUs cannot be read".to_owned());
    let own = cpus::own(proc).ok_or_else(|| Failed {
        half: 0,
        failure: unseen(),
    })?;
    let too_few = |error: TooFewCpus| Failed {
        half: 0,
        failure: failure(ProbeFailureReason::TooFewCpus, error.to_string()),
    };
    let [one, other] = &lists;
    if one.is_disjoint(other) && one.count() == other.count() {
        return of_kubelet(sys, &own, lists).map_err(too_few);
    }
    let common = own.cpus();
    let common = common.filter(|cpu| lists.iter().all(|list| list.contains(*cpu)));
    let found = sides(&cores(sys, common)).map_err(too_few)?;
    let divided = of_probe(found, side);
    for half in [0, 1] {
        pin::pod(proc, pods[half], &divided.halves[half].subject).map_err(|why| Failed {
            half,
            failure: not_pinned(why),
        })?;
    }
    Ok(divided)
}

fn seen(proc: &Path, pods: [&str; 2], half: usize) -> Result<CpuList, Failed> {
    cpus::of_pod(proc, pods[half]).ok_or_else(|| Failed {
        half,
        failure: not_pinned("its processes cannot be seen on the node".to_owned()),
    })
}

/// A subject that is not where it should be.
pub fn not_pinned(why: String) -> ProbeFailure {
    failure(ProbeFailureReason::SubjectNotPinned, why)
}

fn of_probe(found: Sides, side: Side) -> Divided {
    let told = DuetCpus {
        side,
        pinned_by: PinnedBy::Probe,
        idle: found.idle.map(|list| list.to_string()),
        share_a_core: found.share_a_core,
    };
    let [left, right] = found.both;
    Divided {
        halves: match side {
            Side::Left => [left, right],
            Side::Right => [right, left],
        },
        told,
    }
}

/// The subjects have their CPUs, which say who is on the left; the load generators get halves of the others, or share them where
/// they cannot be halved.
fn of_kubelet(sys: &Path, own: &CpuList, subjects: [CpuList; 2]) -> Result<Divided, TooFewCpus> {
    let [first, second] = [&subjects[0], &subjects[1]].map(|list| list.cpus().next());
    let side = if first < second {
        Side::Left
    } else {
        Side::Right
    };
    let is_free = |cpu: &u32| !subjects.iter().any(|list| list.contains(*cpu));
    let free: Vec<u32> = own.cpus().filter(is_free).collect();
    if free.is_empty() {
        return Err(TooFewCpus(own.count()));
    }
    let all = CpuList::of_cpus(free.iter().copied());
    let found = sides(&cores(sys, free.into_iter()));
    let whole = |side: &SideCpus| side.subject.union(&side.generator);
    let (generators, idle) = match &found {
        Ok(found) => (
            [whole(&found.both[0]), whole(&found.both[1])],
            found.idle.clone(),
        ),
        Err(_) => ([all.clone(), all], None),
    };
    let [left, right] = generators;
    let generators = match side {
        Side::Left => [left, right],
        Side::Right => [right, left],
    };
    let [one, other] = subjects;
    let [for_one, for_other] = generators;
    let half = |subject, generator| SideCpus { subject, generator };
    Ok(Divided {
        halves: [half(one, for_one), half(other, for_other)],
        told: DuetCpus {
            side,
            pinned_by: PinnedBy::Kubelet,
            idle: idle.map(|list| list.to_string()),
            share_a_core: false,
        },
    })
}

/// The cores that these CPUs belong to, each with those of its threads that are among them. A CPU whose
/// core the kernel does not tell is one by itself.
fn cores(sys: &Path, cpus: impl Iterator<Item = u32>) -> Vec<Core> {
    let mut cores: BTreeMap<(u32, String), Vec<u32>> = BTreeMap::new();
    for cpu in cpus {
        let topology = sys.join(format!("devices/system/cpu/cpu{cpu}/topology"));
        let text = |name: &str| {
            let text = fs::read_to_string(topology.join(name)).ok();
            text.map(|text| text.trim().to_owned())
        };
        let package = text("physical_package_id").and_then(|id| id.parse().ok());
        let siblings = text("thread_siblings_list").unwrap_or_else(|| cpu.to_string());
        let core = cores.entry((package.unwrap_or_default(), siblings));
        core.or_default().push(cpu);
    }
    let core = |((package, _), cpus)| Core { package, cpus };
    cores.into_iter().map(core).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(cpus: &[(u32, &str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (cpu, siblings, package) in cpus {
            let directory = root
                .path()
                .join(format!("devices/system/cpu/cpu{cpu}/topology"));
            fs::create_dir_all(&directory).unwrap();
            fs::write(
                directory.join("thread_siblings_list"),
                format!("{siblings}\n"),
            )
            .unwrap();
            fs::write(
                directory.join("physical_package_id"),
                format!("{package}\n"),
            )
            .unwrap();
        }
        root
    }

    fn list(text: &str) -> CpuList {
        CpuList::parse(text).unwrap()
    }

    #[test]
    fn threads_of_a_core_are_one_core() {
        let sys = topology(&[
            (0, "0,2", "0"),
            (1, "1,3", "0"),
            (2, "0,2", "0"),
            (3, "1,3", "0"),
        ]);
        let found = cores(sys.path(), 0..4);
        let cpus: Vec<Vec<u32>> = found.into_iter().map(|core| core.cpus).collect();
        assert_eq!(cpus, [vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn a_thread_that_the_probe_may_not_use_is_not_counted_and_an_unknown_core_is_one_cpu() {
        let sys = topology(&[(0, "0-1", "0"), (1, "0-1", "0")]);
        let found = cores(sys.path(), [1, 5].into_iter());
        let cpus: Vec<Vec<u32>> = found.into_iter().map(|core| core.cpus).collect();
        assert_eq!(cpus, [vec![1], vec![5]]);
    }

    #[test]
    fn the_side_decides_which_half_gets_which_cpus() {
        let sys = topology(&[(0, "0", "0"), (1, "1", "0"), (2, "2", "0"), (3, "3", "0")]);
        let divided = |side| of_probe(sides(&cores(sys.path(), 0..4)).unwrap(), side);
        let subjects = |side| divided(side).halves.map(|half| half.subject.to_string());
        assert_eq!(subjects(Side::Left), ["0", "2"]);
        assert_eq!(subjects(Side::Right), ["2", "0"]);
    }

    #[test]
    fn what_the_kubelet_gave_is_kept_and_the_generators_share_the_rest_evenly() {
        let all = [0, 1, 2, 3, 4].map(|cpu| (cpu, ["0", "1", "2", "3", "4"][cpu as usize], "0"));
        let sys = topology(&all);
        let given = |own: &str, [one, other]: [&str; 2]| {
            of_kubelet(sys.path(), &list(own), [list(one), list(other)])
        };
        let divided = given("0-1,4", ["3", "2"]).unwrap();
        let texts = |of: fn(&SideCpus) -> &CpuList| {
            let [one, other] = &divided.halves;
            [of(one).to_string(), of(other).to_string()]
        };
        assert_eq!(texts(|half| &half.subject), ["3", "2"]);
        assert_eq!(texts(|half| &half.generator), ["4", "1"]);
        assert_eq!(divided.told.side, Side::Right);
        assert_eq!(divided.told.pinned_by, PinnedBy::Kubelet);
        assert_eq!(divided.told.idle.as_deref(), Some("0"));
        let divided = given("4", ["2", "3"]).unwrap();
        assert_eq!(divided.told.side, Side::Left);
        let generators = divided.halves.map(|half| half.generator.to_string());
        assert_eq!(generators, ["4", "4"]);
        assert!(given("2-3", ["2", "3"]).is_err());
    }
}
