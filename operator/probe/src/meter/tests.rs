//! Trees of cgroup files as kubelets make them, in temporary directories.

use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const UID: &str = "0f3c0a52-7f9e-4f6e-9d0a-2b0f5a3f1c11";
const SLICE: &str = "kubepods.slice/kubepods-burstable.slice/\
    kubepods-burstable-pod0f3c0a52_7f9e_4f6e_9d0a_2b0f5a3f1c11.slice";

struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn v1(&self, at: &str, usage: u64, memory: u64) {
        self.write(
            &format!("cpuacct/{at}/cpuacct.usage"),
            &format!("{usage}\n"),
        );
        self.write(&format!("cpuacct/{at}/cpuacct.stat"), "user 3\nsystem 1\n");
        self.write(
            &format!("memory/{at}/memory.usage_in_bytes"),
            &format!("{memory}\n"),
        );
        let stat = "inactive_file 1\ntotal_rss 1500\ntotal_cache 2000\ntotal_inactive_file 1000\ntotal_pgfault 77\n";
        self.write(&format!("memory/{at}/memory.stat"), stat);
        self.write(&format!("memory/{at}/memory.max_usage_in_bytes"), "9000\n");
        self.write(&format!("memory/{at}/memory.kmem.usage_in_bytes"), "300\n");
        self.write(
            &format!("cpu/{at}/cpu.stat"),
            "nr_periods 9\nnr_throttled 2\nthrottled_time 77\n",
        );
    }

    fn v2(&self, at: &str, usage_usec: u64) {
        self.write("cgroup.controllers", "cpuset cpu io memory\n");
        let stat = format!(
            "usage_usec {usage_usec}\nuser_usec 7\nsystem_usec 5\nnr_periods 9\nnr_throttled 2\nthrottled_usec 77\n"
        );
        self.write(&format!("{at}/cpu.stat"), &stat);
        self.write(&format!("{at}/memory.current"), "5000\n");
        let stat = "anon 1500\nfile 2000\nkernel 200\nsock 100\ninactive_file 1000\npgfault 77\n";
        self.write(&format!("{at}/memory.stat"), stat);
        self.write(&format!("{at}/memory.peak"), "9000\n");
        let events = "low 0\nhigh 0\nmax 4\noom 1\noom_kill 1\noom_group_kill 0\n";
        self.write(&format!("{at}/memory.events"), events);
    }

    fn meter(&self) -> PodMeter {
        PodMeter::find(self.0.path(), self.0.path(), UID).unwrap()
    }

    /// What was used since all counters were zero.
    fn used(&self) -> Meter {
        let meter = self.meter();
        let end = meter.counters().unwrap();
        let zero = Throttling {
            periods: Some(0),
            nanoseconds: Some(0),
            limit_periods: Some(0),
        };
        let cpu = Cpu {
            total: 0,
            user: Some(0),
            system: Some(0),
        };
        let start = Counters {
            cpu,
            throttling: [zero; 2],
            pause: end.pause.map(|_| (Cpu::default(), Memory::default())),
            pressure: end.pressure.map(|_| Pressure {
                cpu_nanoseconds: Some(0),
                memory_nanoseconds: Some(0),
                io_nanoseconds: Some(0),
            }),
            outside: None,
            services: None,
        };
        meter.used(&start, &end, meter.memory().unwrap())
    }
}

fn expected(cgroup_version: u8, cpu: [u64; 3], throttled_nanoseconds: u64) -> Meter {
    Meter {
        cgroup_version,
        cpu_nanoseconds: cpu[0],
        cpu_user_nanoseconds: Some(cpu[1]),
        cpu_system_nanoseconds: Some(cpu[2]),
        memory_bytes: 5000,
        memory_working_set_bytes: Some(4000),
        memory_held_bytes: Some(2800),
        memory_peak_bytes: Some(9000),
        throttled_periods: Some(2),
        throttled_nanoseconds: Some(throttled_nanoseconds),
        limit_periods: Some(9),
        ..Meter::default()
    }
}

#[test]
fn version_1_with_a_tree_per_controller_is_read() {
    let tree = Tree::new();
    tree.v1(&format!("kubepods/burstable/pod{UID}"), 40_000_123, 5000);
    assert_eq!(
        tree.used(),
        expected(1, [40_000_123, 30_000_000, 10_000_000], 77)
    );
}

#[test]
fn version_1_prefers_exact_user_and_system_times() {
    let tree = Tree::new();
    let pod = format!("kubepods/pod{UID}");
    tree.v1(&pod, 40_000_123, 5000);
    tree.write(&format!("cpuacct/{pod}/cpuacct.usage_user"), "31\n");
    tree.write(&format!("cpuacct/{pod}/cpuacct.usage_sys"), "12\n");
    assert_eq!(tree.used(), expected(1, [40_000_123, 31, 12], 77));
}

#[test]
fn version_1_with_cpu_and_cpuacct_in_one_tree_is_read() {
    let tree = Tree::new();
    let pod = format!("kubepods/besteffort/pod{UID}");
    tree.write(&format!("cpu,cpuacct/{pod}/cpuacct.usage"), "12\n");
    tree.write(
        &format!("cpu,cpuacct/{pod}/cpu.stat"),
        "nr_throttled 4\nthrottled_time 5\n",
    );
    tree.write(&format!("memory/{pod}/memory.usage_in_bytes"), "6\n");
    let used = tree.used();
    assert_eq!(
        (
            used.cpu_nanoseconds,
            used.throttled_periods,
            used.memory_bytes
        ),
        (12, Some(4), 6)
    );
    assert_eq!(
        (used.cpu_user_nanoseconds, used.memory_working_set_bytes),
        (None, None)
    );
    assert_eq!(used.memory_held_bytes, None);
}

#[test]
fn version_2_under_both_drivers_is_read() {
    for pod in [SLICE.to_owned(), format!("kubepods/burstable/pod{UID}")] {
        let tree = Tree::new();
        tree.v2(&pod, 12);
        assert_eq!(
            tree.used(),
            expected(2, [12_000, 7000, 5000], 77_000),
            "{pod}"
        );
    }
}

#[test]
fn a_hybrid_layout_is_version_1() {
    let tree = Tree::new();
    tree.v1(&format!("kubepods/burstable/pod{UID}"), 1, 5000);
    tree.write("unified/cgroup.controllers", "\n");
    tree.write(
        &format!("unified/kubepods/burstable/pod{UID}/cpu.stat"),
        "usage_usec 5\n",
    );
    assert_eq!(tree.used().cgroup_version, 1);
}

#[test]
fn a_unified_tree_with_controllers_next_to_empty_ones_is_version_2() {
    let tree = Tree::new();
    tree.write("cpuacct/cgroup.procs", "");
    tree.write("unified/cgroup.controllers", "cpu memory\n");
    tree.write(
        &format!("unified/kubepods/pod{UID}/cpu.stat"),
        "usage_usec 5\n",
    );
    tree.write(&format!("unified/kubepods/pod{UID}/memory.current"), "6\n");
    let used = tree.used();
    assert_eq!((used.cgroup_version, used.cpu_nanoseconds), (2, 5000));
}

#[test]
fn a_node_that_is_a_container_keeps_its_pods_below_its_own_cgroup() {
    let tree = Tree::new();
    tree.v1(
        &format!("docker/4bc1/kubelet/kubepods/burstable/pod{UID}"),
        40_000_123,
        5000,
    );
    assert_eq!(tree.used().cpu_nanoseconds, 40_000_123);
    let tree = Tree::new();
    tree.v2(
        &format!("system.slice/docker-4bc1.scope/kubelet.slice/kubelet-{SLICE}"),
        12,
    );
    assert_eq!(tree.used().cpu_nanoseconds, 12_000);
}

#[test]
fn the_trees_of_version_1_may_have_different_depths() {
    let tree = Tree::new();
    let pod = format!("kubepods/pod{UID}");
    tree.write(&format!("cpuacct/{pod}/cpuacct.usage"), "12\n");
    tree.write(&format!("memory/outer/{pod}/memory.usage_in_bytes"), "34\n");
    assert_eq!(tree.used().memory_bytes, 34);
}

#[test]
fn the_busier_of_two_directories_of_one_pod_counts() {
    let tree = Tree::new();
    tree.v2(&format!("a/pod{UID}"), 0);
    tree.v2(&format!("b/c/pod{UID}"), 12);
    assert!(tree.meter().place().ends_with(&format!("b/c/pod{UID}")));
}

#[test]
fn without_counters_of_the_pod_its_containers_are_added_up() {
    let tree = Tree::new();
    tree.v2(&format!("kubepods/pod{UID}/one"), 12);
    tree.v2(&format!("kubepods/pod{UID}/two"), 30);
    let used = tree.used();
    assert_eq!((used.cpu_nanoseconds, used.memory_bytes), (42_000, 10_000));
    assert_eq!(used.memory_peak_bytes, None);
}

#[test]
fn a_stop_by_the_containers_limit_is_seen_and_not_counted_twice() {
    let tree = Tree::new();
    tree.v2(&format!("kubepods/pod{UID}"), 12);
    let container = "usage_usec 12\nnr_throttled 5\nthrottled_usec 90\n";
    tree.write(&format!("kubepods/pod{UID}/one/cpu.stat"), container);
    assert_eq!(tree.used().throttled_periods, Some(5));
    assert_eq!(tree.used().throttled_nanoseconds, Some(90_000));
}

impl Tree {
    /// The shim of a pod whose pause container has this id.
    fn shim(&self, sandbox: &str) {
        self.write(
            "7/cmdline",
            &format!("/bin/containerd-shim-runc-v2\0-id\0{sandbox}\0"),
        );
        self.write("7/status", "VmRSS:\t 9 kB\nRssAnon:\t 4 kB\n");
    }
}

#[test]
fn the_pause_container_is_recognised_under_both_versions() {
    let (pause, server) = ("a".repeat(64), "b".repeat(64));
    let v1 = Tree::new();
    let pod = format!("kubepods/pod{UID}");
    v1.v1(&pod, 40_000_123, 5000);
    v1.v1(&format!("{pod}/{pause}"), 123, 700);
    v1.v1(&format!("{pod}/{server}"), 40_000_000, 4300);
    v1.shim(&pause);
    let v2 = Tree::new();
    v2.v2(SLICE, 12);
    let scope = |id: &str| format!("{SLICE}/cri-containerd-{id}.scope");
    v2.v2(&scope(&pause), 3);
    v2.v2(&scope(&server), 9);
    v2.shim(&pause);
    let found = [&v1, &v2].map(|tree| tree.used().pause.unwrap());
    assert_eq!(
        found.map(|pause| (pause.cpu_nanoseconds, pause.memory_bytes)),
        [(123, 700), (3000, 5000)]
    );
    assert_eq!(v1.used().cpu_nanoseconds, 40_000_123, "pause is part of it");
}

#[test]
fn without_a_shim_no_process_is_taken_for_pause() {
    let tree = Tree::new();
    tree.v2(&format!("kubepods/pod{UID}"), 12);
    tree.v2(&format!("kubepods/pod{UID}/{}", "a".repeat(64)), 3);
    assert_eq!(tree.used().pause, None);
}

#[test]
fn pressure_is_that_of_version_2_and_absent_elsewhere() {
    let tree = Tree::new();
    let pod = format!("kubepods/pod{UID}");
    tree.v2(&pod, 12);
    assert_eq!(tree.used().pressure, None, "a kernel without it");
    tree.write(&format!("{pod}/cpu.pressure"), "some avg10=0.00 total=15\n");
    let pressure = tree.used().pressure.unwrap();
    assert_eq!(pressure.cpu_nanoseconds, Some(15_000));
    assert_eq!(
        (pressure.memory_nanoseconds, pressure.io_nanoseconds),
        (None, None)
    );
    let tree = Tree::new();
    tree.v1(&pod, 12, 34);
    tree.write(&format!("cpuacct/{pod}/cpu.pressure"), "some total=15\n");
    assert_eq!(tree.used().pressure, None, "cgroup v1");
}

#[test]
fn page_faults_are_read_under_both_versions() {
    let pod = format!("kubepods/pod{UID}");
    let (v1, v2) = (Tree::new(), Tree::new());
    v1.v1(&pod, 12, 34);
    v2.v2(&pod, 12);
    for tree in [v1, v2] {
        assert_eq!(tree.meter().memory().unwrap().faults, Some(77));
    }
    let silent = Tree::new();
    silent.v2(&pod, 12);
    silent.write(&format!("{pod}/memory.stat"), "anon 1500\n");
    assert_eq!(silent.meter().memory().unwrap().faults, None);
}

#[test]
fn a_missing_pod_has_no_meter() {
    let tree = Tree::new();
    tree.v2("kubepods/podanother", 12);
    assert!(PodMeter::find(tree.0.path(), tree.0.path(), UID).is_none());
    assert!(PodMeter::find(Path::new("/nowhere"), tree.0.path(), UID).is_none());
}

#[test]
fn a_counter_that_goes_backwards_causes_no_panic() {
    let tree = Tree::new();
    tree.v2(&format!("pod{UID}"), 12);
    let meter = tree.meter();
    let later = meter.counters().unwrap();
    tree.v2(&format!("pod{UID}"), 1);
    let used = meter.used(&later, &meter.counters().unwrap(), Memory::default());
    assert_eq!(used.cpu_nanoseconds, 0);
}

proptest! {
    #[test]
    fn any_content_of_the_files_is_read_without_a_panic(text in "[a-z_]{0,12} ?[0-9]{0,25}\n?") {
        let tree = Tree::new();
        for file in ["cpu.stat", "memory.current", "memory.stat", "memory.peak"] {
            tree.write(&format!("pod{UID}/{file}"), &text);
        }
        tree.write("cgroup.controllers", "cpu\n");
        if let Some(meter) = PodMeter::find(tree.0.path(), tree.0.path(), UID) {
            let _ = (meter.counters(), meter.memory());
        }
    }
}
