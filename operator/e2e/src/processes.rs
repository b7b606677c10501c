//! Processes of the nodes, which are visible from the host that runs the nodes.

use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, Client};
use wasmbench_api::labels;
use wasmbench_core::build::component_selector;

/// Name of the operator's program.
pub const OPERATOR: &str = "wasmbench-operator";
const PROBE: &str = "wasmbench-probe";
/// The kernel's unit of CPU time, on every architecture that the cluster runs on.
const TICKS_PER_SECOND: f64 = 100.0;

/// The operator, if it is running; the cluster has only one, unless a test asks for a second process.
pub fn operator() -> Option<u32> {
    all(OPERATOR).next()
}

/// The operator in the pod with this uid, if it is running.
pub fn operator_in(pod_uid: &str) -> Option<u32> {
    all(OPERATOR).find(|pid| is_in_pod(*pid, pod_uid))
}

/// The cluster's API server.
pub fn api_server() -> Option<u32> {
    all("kube-apiserver").next()
}

/// The cluster's etcd.
pub fn etcd() -> Option<u32> {
    all("etcd").next()
}

/// The CPU time that a process has used so far, in seconds: to a hundredth.
pub fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name, which may contain anything, user and system time are the 12th and 13th field.
    let after_name = stat.rsplit_once(')').map(|(_, rest)| rest);
    let fields = after_name.unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2);
    let ticks: f64 = ticks.filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}

/// The kubelet of each node.
pub fn kubelets() -> impl Iterator<Item = u32> {
    all("usr/bin/kubelet")
}

/// The probe that measures for the run with this uid, if it is running.
pub async fn probe_of(client: &Client, run_uid: &str) -> Option<u32> {
    let api: Api<Pod> = Api::all(client.clone());
    let probes =
        ListParams::default().labels(&component_selector(run_uid, labels::COMPONENT_PROBE));
    let pods = api.list(&probes).await.ok()?.items;
    let uids: Vec<String> = pods
        .into_iter()
        .filter_map(|pod| pod.metadata.uid)
        .collect();
    all(PROBE).find(|pid| uids.iter().any(|uid| is_in_pod(*pid, uid)))
}

/// Sends a signal (`STOP`, `KILL`); returns false if the process is gone.
pub fn send_signal(signal: &str, pid: u32) -> bool {
    let sent = std::process::Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status();
    sent.is_ok_and(|status| status.success())
}

/// Sends a signal to a whole process group, whose id is that of its first member.
pub fn send_signal_to_group(signal: &str, group: u32) -> bool {
    let group = format!("-{group}");
    let sent = std::process::Command::new("kill")
        .args([&format!("-{signal}"), "--", &group])
        .stderr(std::process::Stdio::null())
        .status();
    sent.is_ok_and(|status| status.success())
}

/// The processes of a group that have not ended.
pub fn of_group(group: u32) -> impl Iterator<Item = u32> {
    let is_of_it = move |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the name, which may contain anything: state, parent, group.
        let after_name = stat.rsplit_once(')').map(|(_, rest)| rest);
        let mut fields = after_name.unwrap_or_default().split_whitespace();
        let state = fields.next();
        state != Some("Z") && fields.nth(1) == Some(&group.to_string())
    };
    pids().filter(is_of_it)
}

fn all(program: &str) -> impl Iterator<Item = u32> {
    pids().filter(move |pid| runs(*pid, program))
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn runs(pid: u32, program: &str) -> bool {
    // A zombie has no command line.
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
    // Either the path in its image, or its name.
    first.strip_prefix(b"/").unwrap_or(first) == program.as_bytes()
}

/// Whether the process belongs to a pod, by the names of its cgroups, in which systemd's driver
/// writes underscores.
fn is_in_pod(pid: u32, pod_uid: &str) -> bool {
    let cgroups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    cgroups.replace('_', "-").contains(pod_uid)
}
