//! The node as a measuring instrument: facts that two probes on the same node read alike, from the
//! node's `/proc` and from `/sys`, both readable by any user. None of them varies with load.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use wasmbench_model::digest::sha256;
use wasmbench_model::noise;
use wasmbench_model::wire::document::Environment;

use crate::settings::Settings;

/// Longest value, in characters: each is one line of a report.
const MAX_VALUE: usize = 160;
/// Memory is rounded down to a multiple of this: what the kernel keeps for itself varies with each
/// boot.
const MEMORY_STEP: u64 = 16 * 1024 * 1024;

/// Reads all facts that are available.
pub fn read(settings: &Settings) -> Environment {
    let Settings {
        proc, sys, cgroup, ..
    } = settings;
    let cpu = sys.join("devices/system/cpu");
    let cpuinfo = text(&proc.join("cpuinfo")).unwrap_or_default();
    let meminfo = text(&proc.join("meminfo")).unwrap_or_default();
    let facts = [
        ("architecture", Some(std::env::consts::ARCH.to_owned())),
        ("kernel", text(&proc.join("sys/kernel/osrelease"))),
        ("cpuModel", cpu_model(&cpuinfo)),
        ("microcode", field(&cpuinfo, "microcode")),
        ("cpus", online(settings)),
        ("smt", text(&cpu.join("smt/control"))),
        ("governor", governors(&cpu)),
        ("turbo", turbo(&cpu)),
        ("mitigations", mitigations(&cpu.join("vulnerabilities"))),
        ("memoryBytes", memory(&meminfo)),
        ("swap", swap(&meminfo)),
        ("numaNodes", text(&sys.join("devices/system/node/online"))),
        ("cgroupVersion", cgroup_version(cgroup)),
        (
            "clockSource",
            text(&sys.join("devices/system/clocksource/clocksource0/current_clocksource")),
        ),
        ("virtualization", virtualization(&cpuinfo, sys)),
        (
            "transparentHugepages",
            chosen(&sys.join("kernel/mm/transparent_hugepage/enabled")),
        ),
    ];
    let present = facts.into_iter().filter_map(|(name, value)| {
        let value: String = value?
            .chars()
            .filter(|c| !c.is_control())
            .take(MAX_VALUE)
            .collect();
        (!value.is_empty()).then(|| (name.to_owned(), value))
    });
    Environment {
        facts: present.collect(),
        ..Environment::default()
    }
}

/// Number of CPUs of the node that are online.
pub fn cpus(settings: &Settings) -> Option<u32> {
    noise::cpus(&online(settings)?)
}

fn online(settings: &Settings) -> Option<String> {
    text(&settings.sys.join("devices/system/cpu/online"))
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A value of a file with lines `name : value`.
fn field(file: &str, name: &str) -> Option<String> {
    file.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// ARM kernels give numbers instead of a name.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    field(cpuinfo, "model name").or_else(|| {
        let maker = field(cpuinfo, "CPU implementer")?;
        Some(format!(
            "implementer {maker} part {}",
            field(cpuinfo, "CPU part")?
        ))
    })
}

/// One governor, or all that are in use.
fn governors(cpu: &Path) -> Option<String> {
    let each = fs::read_dir(cpu).ok()?.flatten();
    let found: BTreeSet<_> = each
        .filter_map(|one| text(&one.path().join("cpufreq/scaling_governor")))
        .collect();
    Some(found.into_iter().collect::<Vec<_>>().join(","))
}

fn turbo(cpu: &Path) -> Option<String> {
    let on = |path, on| text(&cpu.join(path)).map(|value| if value == on { "on" } else { "off" });
    on("intel_pstate/no_turbo", "0")
        .or_else(|| on("cpufreq/boost", "1"))
        .map(str::to_owned)
}

/// How many vulnerabilities are open or mitigated, and a digest that changes when any line does.
fn mitigations(directory: &Path) -> Option<String> {
    let each = fs::read_dir(directory).ok()?.flatten();
    let mut lines: Vec<_> = each
        .filter_map(|one| Some((one.file_name(), text(&one.path())?)))
        .collect();
    lines.sort();
    let of = |word: &str| {
        lines
            .iter()
            .filter(|(_, line)| line.starts_with(word))
            .count()
    };
    let hash = sha256(format!("{lines:?}").as_bytes());
    let (vulnerable, mitigated) = (of("Vulnerable"), of("Mitigation"));
    let digest = &hash[..8];
    (!lines.is_empty())
        .then(|| format!("{vulnerable} vulnerable, {mitigated} mitigated, digest {digest}"))
}

fn kibibytes(meminfo: &str, name: &str) -> Option<u64> {
    field(meminfo, name)?
        .split(' ')
        .next()?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

fn memory(meminfo: &str) -> Option<String> {
    let bytes = kibibytes(meminfo, "MemTotal")?;
    Some((bytes - bytes % MEMORY_STEP).to_string())
}

fn swap(meminfo: &str) -> Option<String> {
    let bytes = kibibytes(meminfo, "SwapTotal")?;
    Some(if bytes == 0 { "off" } else { "on" }.to_owned())
}

fn cgroup_version(root: &Path) -> Option<String> {
    // Without host access the container's own mount has the same version.
    [root, Path::new("/sys/fs/cgroup")]
        .into_iter()
        .find_map(|root| {
            if root.join("cgroup.controllers").exists() {
                return Some("2".to_owned());
            }
            let v1 = ["cpuacct", "cpu,cpuacct", "memory"]
                .iter()
                .any(|tree| root.join(tree).is_dir());
            v1.then(|| "1".to_owned())
        })
}

/// x86 CPUs report whether they run under a hypervisor; failing its type, its name is the machine's
/// vendor.
fn virtualization(cpuinfo: &str, sys: &Path) -> Option<String> {
    let flags = field(cpuinfo, "flags")?;
    if !flags.split(' ').any(|flag| flag == "hypervisor") {
        return Some("none".to_owned());
    }
    let named =
        text(&sys.join("hypervisor/type")).or_else(|| text(&sys.join("class/dmi/id/sys_vendor")));
    Some(named.unwrap_or_else(|| "unnamed hypervisor".to_owned()))
}

/// The word in brackets: `always [madvise] never`.
fn chosen(path: &Path) -> Option<String> {
    let line = text(path)?;
    let (_, rest) = line.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests;
