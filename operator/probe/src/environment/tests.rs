//! Facts from made-up trees and from the machine at hand.

use std::path::PathBuf;

use super::*;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn settings(root: &Path) -> Settings {
    let below = |name: &str| root.join(name);
    Settings {
        generator: PathBuf::new(),
        actions: PathBuf::new(),
        bodies: PathBuf::new(),
        cgroup: below("cgroup"),
        proc: below("proc"),
        containerd: below("containerd.sock"),
        sys: below("sys"),
    }
}

fn made_up() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let path = root.path();
    write(
        path,
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Fast CPU 3000\nmicrocode\t: 0x2b\nflags\t\t: fpu hypervisor sse\n",
    );
    write(
        path,
        "proc/meminfo",
        "MemTotal:       25165999 kB\nSwapTotal:             0 kB\n",
    );
    write(path, "proc/sys/kernel/osrelease", "6.18.0\n");
    write(path, "sys/devices/system/cpu/online", "0-3\n");
    write(
        path,
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "powersave\n",
    );
    write(
        path,
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
        "performance\n",
    );
    write(path, "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    write(
        path,
        "sys/devices/system/cpu/vulnerabilities/meltdown",
        "Mitigation: PTI\n",
    );
    write(
        path,
        "sys/devices/system/cpu/vulnerabilities/mds",
        "Vulnerable: Clear CPU buffers\n",
    );
    write(
        path,
        "sys/devices/system/cpu/vulnerabilities/l1tf",
        "Not affected\n",
    );
    write(
        path,
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    );
    write(path, "sys/class/dmi/id/sys_vendor", "QEMU\n");
    write(path, "cgroup/cgroup.controllers", "cpu memory\n");
    root
}

#[test]
fn all_facts_of_a_node_are_read() {
    let root = made_up();
    let facts = read(&settings(root.path())).facts;
    let fact = |name: &str| facts.get(name).map_or("absent", String::as_str);
    assert_eq!(fact("kernel"), "6.18.0");
    assert_eq!(fact("cpuModel"), "Fast CPU 3000");
    assert_eq!(fact("microcode"), "0x2b");
    assert_eq!(fact("cpus"), "0-3");
    assert_eq!(fact("governor"), "performance,powersave");
    assert_eq!(fact("turbo"), "on");
    assert_eq!(fact("memoryBytes"), "25769803776");
    assert_eq!(fact("swap"), "off");
    assert_eq!(fact("cgroupVersion"), "2");
    assert_eq!(fact("virtualization"), "QEMU");
    assert_eq!(fact("transparentHugepages"), "madvise");
    assert_eq!(fact("smt"), "absent");
    assert!(fact("mitigations").starts_with("1 vulnerable, 1 mitigated, digest "));
}

#[test]
fn another_mitigation_is_another_fact() {
    let root = made_up();
    let before = read(&settings(root.path())).facts;
    write(
        root.path(),
        "sys/devices/system/cpu/vulnerabilities/l1tf",
        "Mitigation: x\n",
    );
    assert_ne!(
        before["mitigations"],
        read(&settings(root.path())).facts["mitigations"]
    );
}

#[test]
fn an_arm_processor_has_a_model_too() {
    let cpuinfo = "processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
    assert_eq!(cpu_model(cpuinfo).unwrap(), "implementer 0x41 part 0xd0c");
}

#[test]
fn two_readings_of_this_machine_are_equal() {
    let settings = Settings {
        generator: PathBuf::new(),
        actions: PathBuf::new(),
        bodies: PathBuf::new(),
        cgroup: "/sys/fs/cgroup".into(),
        proc: "/proc".into(),
        containerd: "/nothing".into(),
        sys: "/sys".into(),
    };
    let (first, second) = (read(&settings), read(&settings));
    assert_eq!(first, second);
    for name in ["kernel", "cpus", "memoryBytes"] {
        assert!(first.facts.contains_key(name), "{name}");
    }
}

#[test]
fn a_machine_without_any_facts_is_no_error() {
    let facts = read(&settings(Path::new("/nowhere"))).facts;
    assert!(facts.len() <= 2, "{facts:?}");
}
