//! Whether the run had the node to itself during a timed window. One rule for both users: the
//! probe, which repeats a noisy window, and the results, which leave out a noisy trial.

pub mod limits;

use limits::{
    COARSE_NANOSECONDS, MEMORY_WAIT_LIMIT, OTHERS_CPU_LIMIT, OTHERS_CPUS_LIMIT, STEAL_LIMIT,
};

use crate::cpu_list::CpuList;
use crate::wire::document::{NodeCpu, NodeServices, TimedWindow};
use crate::wire::scout::IdleNode;

/// How much of the node was not available to a window. Absent where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// CPU time used by everything except the subject's pod, its shim, its log, the echo server and
    /// the load generator, as a share (0 to 1) of all CPUs of the node.
    pub others: Option<f64>,
    /// CPU time given to other virtual machines, as a share (0 to 1) of all CPUs of the node.
    pub stolen: Option<f64>,
    /// Share (0 to 1) of the window in which at least one task outside the subject's own pod waited
    /// for memory (PSI); known only where the kernel reports this per pod (cgroup v2).
    pub memory_waits: Option<f64>,
    /// Number of the node's CPUs; without it, only shares are judged.
    pub cpus: Option<u32>,
}

impl Noise {
    /// The noise while nothing of the run worked, on a node with this many CPUs.
    pub fn from_idle(idle: &IdleNode, cpus: u32) -> Self {
        let share = |used| share(idle.duration_nanoseconds, used, cpus).map(rounded);
        let tasks = idle
            .own_nanoseconds
            .map(|own| tasks(idle.node).saturating_sub(own));
        Self {
            others: share(tasks),
            stolen: share(Some(idle.node.steal_nanoseconds)),
            memory_waits: None,
            cpus: Some(cpus),
        }
    }

    /// The noise during a window, on a node with this many CPUs.
    pub fn from_window(window: &TimedWindow, cpus: u32) -> Self {
        if window.duration_nanoseconds < COARSE_NANOSECONDS {
            return Self::default();
        }
        let share = |used| share(window.duration_nanoseconds, used, cpus).map(rounded);
        Self {
            others: share(others_nanoseconds(window)),
            stolen: share(window.node.map(|node| node.steal_nanoseconds)),
            memory_waits: memory_waits(window),
            cpus: Some(cpus),
        }
    }

    /// Whether the window is too noisy to represent a quiet node.
    pub fn is_over_limit(self) -> bool {
        self.level() > 1.0
    }

    /// The worst share, as a multiple of its limit; 0 when nothing is known. The window with the
    /// lower level is the quieter one.
    pub fn level(self) -> f64 {
        let of_limit = |share: Option<f64>, limit: f64| share.map_or(0.0, |share| share / limit);
        of_limit(self.others, self.others_limit())
            .max(of_limit(self.stolen, STEAL_LIMIT))
            .max(of_limit(self.memory_waits, MEMORY_WAIT_LIMIT))
    }

    /// The share of the node's CPUs that others may use: the smaller of the two limits.
    fn others_limit(self) -> f64 {
        let few = self.cpus.map(|cpus| OTHERS_CPUS_LIMIT / f64::from(cpus));
        few.map_or(OTHERS_CPU_LIMIT, |few| few.min(OTHERS_CPU_LIMIT))
    }

    /// How many CPUs others used, if their share would not be clear enough.
    fn others_cpus(self) -> Option<f64> {
        let many = self.cpus.filter(|_| self.others_limit() < OTHERS_CPU_LIMIT);
        Some(self.others? * f64::from(many?))
    }

    /// The worse value of each share.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        let worse = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        Self {
            others: worse(self.others, other.others),
            stolen: worse(self.stolen, other.stolen),
            memory_waits: worse(self.memory_waits, other.memory_waits),
            cpus: self.cpus.or(other.cpus),
        }
    }

    /// What is over its limit: `31 % used by others, 8 % stolen`, on a node with many CPUs `13 %
    /// (1.0 CPUs) used by others`. Empty when nothing is.
    pub fn message(self) -> String {
        let over = |share: Option<f64>, limit: f64, what: &str| {
            let share = share.filter(|share| *share > limit)?;
            Some(format!("{:.0} % {what}", share * 100.0))
        };
        let cpus = self
            .others_cpus()
            .map_or_else(String::new, |cpus| format!("({cpus:.1} CPUs) "));
        let others = over(
            self.others,
            self.others_limit(),
            &format!("{cpus}used by others"),
        );
        let stolen = over(self.stolen, STEAL_LIMIT, "stolen");
        let waiting = "of the time with tasks that waited for memory";
        let waits = over(self.memory_waits, MEMORY_WAIT_LIMIT, waiting);
        let all: Vec<String> = others.into_iter().chain(stolen).chain(waits).collect();
        all.join(", ")
    }
}

/// Whether a window is too short to judge its noise, although the node was read.
pub const fn is_too_short(window: &TimedWindow) -> bool {
    window.node.is_some() && window.duration_nanoseconds < COARSE_NANOSECONDS
}

/// Rounded only here, so that all readers find the same shares over their limits.
fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// CPU time as a share of what the node's CPUs could offer in this time.
fn share(nanoseconds: u64, used_nanoseconds: Option<u64>, cpus: u32) -> Option<f64> {
    let available = nanoseconds as f64 * f64::from(cpus);
    let used = used_nanoseconds? as f64;
    (available > 0.0).then(|| used / available)
}

/// The pod's own waits, which its own limit may cause, are the subject's business. Waits for CPUs
/// are not judged: any load makes tasks wait for them, and [`Noise::others`] shows who is to blame.
fn memory_waits(window: &TimedWindow) -> Option<f64> {
    let all = window.node?.memory_pressure_nanoseconds?;
    let own = window.subject.as_ref()?.pressure?.memory_nanoseconds?;
    let waited = all.saturating_sub(own) as f64;
    Some((waited / window.duration_nanoseconds as f64 * 1e4).round() / 1e4)
}

/// The shim and what the node's services do for the subject's log belong to the variant, and the
/// echo server to the workload, companions to the experiment, so none of them counts as a neighbour. Nor do interrupts that are
/// charged to nobody: most of them come from the load's own packets.
fn others_nanoseconds(window: &TimedWindow) -> Option<u64> {
    let subject = window.subject.as_ref()?;
    let shim = subject.outside.map_or(0, |shim| shim.cpu_nanoseconds);
    let log = subject.services.map_or(0, NodeServices::log_nanoseconds);
    let ours = subject
        .cpu_nanoseconds
        .saturating_add(shim)
        .saturating_add(log)
        .saturating_add(window.upstream_cpu_nanoseconds.unwrap_or_default())
        .saturating_add(window.companions_cpu_nanoseconds.unwrap_or_default())
        .saturating_add(window.generator_cpu_nanoseconds?);
    Some(tasks(window.node?).saturating_sub(ours))
}

/// CPU time of all tasks, without interrupts that are charged to none.
fn tasks(node: NodeCpu) -> u64 {
    let interrupts = node.interrupts_nanoseconds.unwrap_or_default();
    node.busy_nanoseconds.saturating_sub(interrupts)
}

/// Number of CPUs in a list in the kernel's format: `0`, `0-3`, `0-3,8-11`.
pub fn cpus(kernel_list: &str) -> Option<u32> {
    Some(CpuList::parse(kernel_list)?.count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::document::Meter;
    use crate::wire::document::Outside;
    use crate::wire::document::Pressure;

    const SECOND: u64 = 1_000_000_000;

    /// A second on two CPUs, of which subject, shim and generator use half.
    fn window(busy: f64, steal: f64) -> TimedWindow {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "shares of a test"
        )]
        let nanoseconds = |share: f64| (share * 2.0 * SECOND as f64) as u64;
        TimedWindow {
            duration_nanoseconds: SECOND,
            subject: Some(Meter {
                cpu_nanoseconds: nanoseconds(0.3),
                outside: Some(Outside {
                    cpu_nanoseconds: nanoseconds(0.05),
                    ..Outside::default()
                }),
                ..Meter::default()
            }),
            generator_cpu_nanoseconds: Some(nanoseconds(0.15)),
            node: Some(NodeCpu {
                busy_nanoseconds: nanoseconds(busy),
                steal_nanoseconds: nanoseconds(steal),
                ..NodeCpu::default()
            }),
            ..TimedWindow::default()
        }
    }

    #[test]
    fn cpu_time_not_used_by_the_run_counts_as_others() {
        let noise = Noise::from_window(&window(0.6, 0.01), 2);
        assert!((noise.others.unwrap() - 0.1).abs() < 1e-9, "{noise:?}");
        assert!((noise.stolen.unwrap() - 0.01).abs() < 1e-9, "{noise:?}");
        assert!(!noise.is_over_limit());
        assert_eq!(noise.message(), "");
    }

    #[test]
    fn the_echo_server_is_no_neighbour() {
        let mut window = window(0.75, 0.0);
        window.upstream_cpu_nanoseconds = Some(SECOND / 2);
        let noise = Noise::from_window(&window, 2);
        assert!((noise.others.unwrap() - 0.0).abs() < 1e-9, "{noise:?}");
    }

    #[test]
    fn work_of_containerd_and_kubelet_for_the_subjects_log_is_no_neighbour() {
        let mut window = window(0.75, 0.0);
        let others = |window: &TimedWindow| Noise::from_window(window, 2).others.unwrap();
        let mut with_services = |idle_cpu_nanoseconds| {
            let services = NodeServices {
                cpu_nanoseconds: SECOND / 2,
                idle_cpu_nanoseconds,
            };
            window.subject.as_mut().unwrap().services = Some(services);
            others(&window)
        };
        assert!((with_services(Some(SECOND / 10)) - 0.05).abs() < 1e-9);
        // What they do without the load, they do for others.
        assert!((with_services(Some(SECOND)) - 0.25).abs() < 1e-9);
        assert!((with_services(None) - 0.25).abs() < 1e-9, "unknown");
    }

    #[test]
    fn interrupts_charged_to_nobody_are_no_neighbour() {
        let mut window = window(0.75, 0.0);
        let others = |window: &TimedWindow| Noise::from_window(window, 2).others.unwrap();
        assert!((others(&window) - 0.25).abs() < 1e-9);
        window.node.as_mut().unwrap().interrupts_nanoseconds = Some(SECOND * 4 / 10);
        assert!((others(&window) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn a_share_over_its_limit_is_noise_and_reported() {
        for (busy, steal, words) in [
            (0.68, 0.0, "18 % used by others"),
            (0.5, 0.06, "6 % stolen"),
            (0.8, 0.1, "30 % used by others, 10 % stolen"),
        ] {
            let noise = Noise::from_window(&window(busy, steal), 2);
            assert!(noise.is_over_limit(), "{noise:?}");
            assert_eq!(noise.message(), words);
        }
    }

    #[test]
    fn a_neighbour_that_burns_one_cpu_is_noise_on_a_node_of_any_size() {
        // The node's CPUs, the CPUs that others use (in hundredths), and the resulting words.
        for (cpus, burnt, words) in [
            (2, 29, ""),
            (2, 32, "16 % used by others"),
            (8, 89, ""),
            (8, 104, "13 % (1.0 CPUs) used by others"),
            (64, 89, ""),
            (64, 92, "1 % (0.9 CPUs) used by others"),
            (64, 200, "3 % (2.0 CPUs) used by others"),
        ] {
            let mut window = window(0.0, 0.0);
            // Subject, shim and generator used half of two CPUs.
            let busy_nanoseconds = SECOND + burnt * SECOND / 100;
            window.node = Some(NodeCpu {
                busy_nanoseconds,
                ..NodeCpu::default()
            });
            let noise = Noise::from_window(&window, cpus);
            assert_eq!(noise.message(), words, "{burnt} of {cpus}");
            assert_eq!(noise.is_over_limit(), !words.is_empty());
        }
    }

    #[test]
    fn a_task_that_waits_for_memory_is_noise_unless_it_is_the_subject() {
        let mut window = window(0.5, 0.0);
        let mut noise = |node: u64, pod: Option<u64>| {
            let hundredth = SECOND / 100;
            window.node.as_mut().unwrap().memory_pressure_nanoseconds = Some(node * hundredth);
            window.subject.as_mut().unwrap().pressure = pod.map(|pod| Pressure {
                memory_nanoseconds: Some(pod * hundredth),
                ..Pressure::default()
            });
            Noise::from_window(&window, 2)
        };
        assert!(!noise(1, Some(0)).is_over_limit(), "1 % is the limit");
        let words = "3 % of the time with tasks that waited for memory";
        assert_eq!(noise(3, Some(0)).message(), words);
        assert!(noise(3, Some(0)).is_over_limit());
        assert_eq!(noise(30, None).memory_waits, None, "perhaps the subject");
        assert_eq!(
            noise(30, Some(29)).message(),
            "",
            "a limit of the pod's own"
        );
        assert!(noise(30, Some(20)).is_over_limit());
    }

    #[test]
    fn the_worst_share_decides_which_window_is_quieter() {
        let level = |busy, steal| Noise::from_window(&window(busy, steal), 2).level();
        assert!(level(0.7, 0.0) < level(0.5, 0.08));
        assert!(level(0.7, 0.08) < level(0.8, 0.0));
    }

    #[test]
    fn a_short_window_and_an_unread_node_give_no_noise() {
        let mut short = window(1.0, 1.0);
        short.duration_nanoseconds = COARSE_NANOSECONDS - 1;
        let mut unread = window(1.0, 1.0);
        unread.node = None;
        for window in [short, unread] {
            let noise = Noise::from_window(&window, 2);
            assert_eq!((noise.others, noise.stolen), (None, None));
            assert!(!noise.is_over_limit());
            assert_eq!(is_too_short(&window), window.node.is_some());
        }
    }

    #[test]
    fn only_stolen_time_is_known_without_the_subjects_share() {
        let mut window = window(1.0, 0.1);
        window.subject = None;
        let noise = Noise::from_window(&window, 2);
        assert_eq!(
            (noise.others, noise.message()),
            (None, "10 % stolen".into())
        );
    }

    #[test]
    fn the_runs_own_use_of_an_idle_node_is_no_noise() {
        let idle = |own_nanoseconds| IdleNode {
            duration_nanoseconds: SECOND,
            node: NodeCpu {
                busy_nanoseconds: SECOND / 2,
                interrupts_nanoseconds: Some(SECOND / 10),
                steal_nanoseconds: SECOND / 5,
                ..NodeCpu::default()
            },
            own_nanoseconds,
        };
        let noise = Noise::from_idle(&idle(Some(SECOND / 5)), 2);
        assert_eq!((noise.others, noise.stolen), (Some(0.1), Some(0.1)));
        assert_eq!(noise.message(), "10 % stolen");
        assert_eq!(Noise::from_idle(&idle(None), 2).others, None);
    }
}
