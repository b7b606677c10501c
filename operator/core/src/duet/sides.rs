//! The CPUs of a node as two sides that mirror each other: as many cores, divided in the same way
//! between subject and load generator. Pure.

use crate::cpu_list::CpuList;

/// A core: its CPUs (hardware threads) and the socket that it is on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Core {
    /// Number of the socket.
    pub package: u32,
    /// Its CPUs, in rising order.
    pub cpus: Vec<u32>,
}

/// The CPUs of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideCpus {
    /// Of the subject.
    pub subject: CpuList,
    /// Of its load generator; the subject's when the side has one CPU only.
    pub generator: CpuList,
}

/// Both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The left one, then the right one.
    pub both: [SideCpus; 2],
    /// CPUs that belong to neither, left to the system.
    pub idle: Option<CpuList>,
    /// Whether the sides are threads of one core, which slow each other down.
    pub share_a_core: bool,
}

/// The node has too few CPUs for two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a duet needs two CPUs or more that mirror each other, and the probe may use {0}: measure on a larger node, or set \
     spec.pairing to Alternating"
)]
pub struct TooFewCpus(pub u32);

/// Divides `cores`. A side has whole cores wherever there are two of a kind; of an odd number the
/// first is left to the system, because interrupts and system pods land there most. Neighbouring
/// cores are on one side, so that a side's subject and generator share what caches they can.
pub fn sides(cores: &[Core]) -> Result<Sides, TooFewCpus> {
    let mut cores = cores.to_vec();
    cores.sort();
    let all = || cores.iter().flat_map(|core| core.cpus.iter().copied());
    let too_few = || TooFewCpus(u32::try_from(all().count()).unwrap_or(u32::MAX));
    let halves = whole_cores(&cores).or_else(|| one_core(&cores));
    let (left, right, share_a_core) = halves.ok_or_else(too_few)?;
    let both = [side(&left)?, side(&right)?];
    let used = [&both[0], &both[1]].map(|side| side.subject.union(&side.generator));
    let used = used[0].union(&used[1]);
    let is_idle = |cpu: &u32| used.is_disjoint(&CpuList::of_cpus([*cpu]));
    let idle: Vec<u32> = all().filter(is_idle).collect();
    Ok(Sides {
        both,
        idle: (!idle.is_empty()).then(|| CpuList::of_cpus(idle)),
        share_a_core,
    })
}

type Halves = (Vec<Core>, Vec<Core>, bool);

/// As many cores with as many threads on each side.
fn whole_cores(cores: &[Core]) -> Option<Halves> {
    let (mut left, mut right) = (vec![], vec![]);
    let mut threads: Vec<usize> = cores.iter().map(|core| core.cpus.len()).collect();
    threads.sort_unstable();
    threads.dedup();
    for count in threads.into_iter().filter(|count| *count > 0) {
        let alike = cores.iter().filter(|core| core.cpus.len() == count);
        let alike: Vec<Core> = alike.cloned().collect();
        let (odd, half) = (alike.len() % 2, alike.len() / 2);
        left.extend_from_slice(&alike[odd..odd + half]);
        right.extend_from_slice(&alike[odd + half..]);
    }
    (!left.is_empty()).then_some((left, right, false))
}

/// The threads of a single core.
fn one_core(cores: &[Core]) -> Option<Halves> {
    let core = cores.iter().max_by_key(|core| core.cpus.len())?;
    let half = core.cpus.len() / 2;
    let part = |cpus: &[u32]| {
        let cpus = cpus.to_vec();
        vec![Core {
            package: core.package,
            cpus,
        }]
    };
    let odd = core.cpus.len() % 2;
    (half > 0).then(|| {
        let cpus = &core.cpus[odd..];
        (part(&cpus[..half]), part(&cpus[half..]), true)
    })
}

/// Divides a side between subject and generator: whole cores where it has several, the generator gets
/// the odd one; the threads of a single core; or one CPU for both.
fn side(cores: &[Core]) -> Result<SideCpus, TooFewCpus> {
    let list = |cores: &[Core]| {
        let cpus = cores.iter().flat_map(|core| core.cpus.iter().copied());
        CpuList::of_cpus(cpus)
    };
    let (subject, generator) = match cores {
        [] => return Err(TooFewCpus(0)),
        [core] if core.cpus.len() > 1 => {
            let (subject, generator) = core.cpus.split_at(core.cpus.len() / 2);
            let list = |cpus: &[u32]| CpuList::of_cpus(cpus.iter().copied());
            (list(subject), list(generator))
        }
        [_] => (list(cores), list(cores)),
        [..] => {
            let (subject, generator) = cores.split_at(cores.len() / 2);
            (list(subject), list(generator))
        }
    };
    Ok(SideCpus { subject, generator })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// So many cores with so many threads, numbered as Linux does: all first threads, then all
    /// second ones.
    fn cores(count: u32, threads: u32) -> Vec<Core> {
        let core = |index| Core {
            package: 0,
            cpus: (0..threads).map(|thread| index + thread * count).collect(),
        };
        (0..count).map(core).collect()
    }

    fn texts(found: &Sides) -> [(String, String); 2] {
        let text = |side: &SideCpus| (side.subject.to_string(), side.generator.to_string());
        [text(&found.both[0]), text(&found.both[1])]
    }

    fn pairs(both: [(&str, &str); 2]) -> [(String, String); 2] {
        both.map(|(subject, generator)| (subject.to_owned(), generator.to_owned()))
    }

    #[test]
    fn nodes_of_common_sizes() {
        for (count, threads, expected, idle) in [
            (2, 1, [("0", "0"), ("1", "1")], None),
            (3, 1, [("1", "1"), ("2", "2")], Some("0")),
            (4, 1, [("0", "1"), ("2", "3")], None),
            (5, 1, [("1", "2"), ("3", "4")], Some("0")),
            (6, 1, [("0", "1-2"), ("3", "4-5")], None),
            (2, 2, [("0", "2"), ("1", "3")], None),
            (4, 2, [("0,4", "1,5"), ("2,6", "3,7")], None),
            (8, 1, [("0-1", "2-3"), ("4-5", "6-7")], None),
        ] {
            let found = sides(&cores(count, threads)).unwrap();
            assert_eq!(texts(&found), pairs(expected), "{count} x {threads}");
            assert_eq!(found.idle.map(|list| list.to_string()).as_deref(), idle);
            assert!(!found.share_a_core);
        }
    }

    #[test]
    fn two_threads_of_one_core_are_two_sides_and_it_is_said() {
        let found = sides(&cores(1, 2)).unwrap();
        assert_eq!(texts(&found), pairs([("0", "0"), ("1", "1")]));
        assert!(found.share_a_core);
        let four = sides(&cores(1, 4)).unwrap();
        assert_eq!(texts(&four), pairs([("0", "1"), ("2", "3")]));
    }

    #[test]
    fn one_cpu_is_no_two_sides_and_the_remedy_is_named() {
        let refused = sides(&cores(1, 1)).unwrap_err();
        assert_eq!(refused, TooFewCpus(1));
        assert!(refused.to_string().contains("spec.pairing to Alternating"));
        assert_eq!(sides(&[]), Err(TooFewCpus(0)));
    }

    #[test]
    fn a_socket_is_a_side() {
        let mut all = cores(4, 1);
        for (index, core) in all.iter_mut().enumerate() {
            core.package = u32::try_from(index % 2).unwrap();
        }
        let found = sides(&all).unwrap();
        assert_eq!(texts(&found), pairs([("0", "2"), ("1", "3")]));
    }

    proptest! {
        #[test]
        fn sides_mirror_each_other_and_share_nothing(
            big in 0u32..12, small in 0u32..12, threads in 1u32..4,
        ) {
            let mut all = cores(big, threads);
            all.extend(cores(small, 1).into_iter().map(|core| Core {
                cpus: core.cpus.iter().map(|cpu| cpu + 100).collect(),
                ..core
            }));
            let cpus: u32 = big * threads + small;
            match sides(&all) {
                Ok(found) => {
                    let [left, right] = &found.both;
                    prop_assert_eq!(left.subject.count(), right.subject.count());
                    prop_assert_eq!(left.generator.count(), right.generator.count());
                    let whole = |side: &SideCpus| side.subject.union(&side.generator);
                    prop_assert!(whole(left).is_disjoint(&whole(right)));
                    let apart = left.subject.is_disjoint(&left.generator);
                    prop_assert_eq!(apart, right.subject.is_disjoint(&right.generator));
                    prop_assert!(apart || whole(left).count() == 1);
                    let idle = found.idle.as_ref().map_or(0, CpuList::count);
                    prop_assert_eq!(whole(left).count() + whole(right).count() + idle, cpus);
                }
                Err(_) => prop_assert!(cpus < 2),
            }
        }

        #[test]
        fn a_core_is_never_divided_between_the_sides_where_there_are_two(
            count in 2u32..20, threads in 1u32..4,
        ) {
            let all = cores(count, threads);
            let found = sides(&all).unwrap();
            for core in &all {
                let list = CpuList::of_cpus(core.cpus.iter().copied());
                let touched = found.both.iter().filter(|side| {
                    !side.subject.union(&side.generator).is_disjoint(&list)
                });
                prop_assert!(touched.count() <= 1);
            }
        }
    }
}
