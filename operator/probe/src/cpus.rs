//! Which CPUs the subject and the load generator may run on. The subject's processes are those in
//! the node's `/proc` whose cgroup lies within the pod's; the status of each lists its CPUs. That
//! list applies, whoever set it: the kubelet's CPU manager or the process itself.

use std::fs;
use std::path::{Path, PathBuf};

use wasmbench_model::cpu_list::CpuList;
use wasmbench_model::wire::instrument::CpuLists;

use crate::meter::find;

/// Name of the process that holds the pod's namespaces and never runs: the CPU manager leaves it on
/// all CPUs.
const PAUSE: &str = "pause";

/// Reads both lists; `proc` is the node's. `None` if neither can be read.
pub fn read(proc: &Path, pod_uid: &str) -> Option<CpuLists> {
    let subject = of_pod(proc, pod_uid);
    let generator = status(&proc.join("self")).and_then(|own| list(&own));
    let disjoint = |(a, b): (&CpuList, &CpuList)| a.is_disjoint(b);
    let lists = CpuLists {
        cpus_disjoint: subject.as_ref().zip(generator.as_ref()).map(disjoint),
        subject: subject.map(|list| list.to_string()),
        generator: generator.map(|list| list.to_string()),
    };
    (lists != CpuLists::default()).then_some(lists)
}

/// All CPUs on which a process of the pod may run.
fn of_pod(proc: &Path, pod_uid: &str) -> Option<CpuList> {
    let in_pod = |process: &&PathBuf| {
        let cgroup = fs::read_to_string(process.join("cgroup")).unwrap_or_default();
        cgroup
            .split(['/', '\n'])
            .any(|part| find::is_pod(part, pod_uid))
    };
    let processes = find::directories(proc);
    let statuses = processes
        .iter()
        .filter(in_pod)
        .filter_map(|one| status(one));
    statuses
        .filter(|text| field(text, "Name:") != Some(PAUSE))
        .filter_map(|text| list(&text))
        .reduce(|all, one| all.union(&one))
}

fn status(process: &Path) -> Option<String> {
    fs::read_to_string(process.join("status")).ok()
}

fn list(status: &str) -> Option<CpuList> {
    CpuList::parse(field(status, "Cpus_allowed_list:")?)
}

fn field<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "0f3c0a52-7f9e-4f6e-9d0a-2b0f5a3f1c11";

    struct Proc(tempfile::TempDir);

    impl Proc {
        fn new(own: &str) -> Self {
            let proc = Self(tempfile::tempdir().unwrap());
            proc.process("self", "wasmbench-probe", "0::/\n", own);
            proc
        }

        fn process(&self, pid: &str, name: &str, cgroup: &str, cpus: &str) {
            let directory = self.0.path().join(pid);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cgroup"), cgroup).unwrap();
            let status = format!("Name:\t{name}\nCpus_allowed:\tff\nCpus_allowed_list:\t{cpus}\n");
            fs::write(directory.join("status"), status).unwrap();
        }

        fn read(&self) -> CpuLists {
            read(self.0.path(), UID).unwrap()
        }
    }

    fn v2() -> String {
        format!("0::/../../pod{UID}/a1\n")
    }

    #[test]
    fn exclusive_cpus_are_disjoint_although_pause_may_run_anywhere() {
        let proc = Proc::new("0-1,4-7");
        proc.process("12", "gateway", &v2(), "2");
        proc.process("13", "worker", &v2(), "3");
        proc.process("11", "pause", &v2(), "0-7");
        proc.process("14", "kubelet", "0::/system.slice/kubelet.service\n", "0-7");
        let lists = proc.read();
        assert_eq!(lists.subject.as_deref(), Some("2-3"));
        assert_eq!(lists.generator.as_deref(), Some("0-1,4-7"));
        assert_eq!(lists.cpus_disjoint, Some(true));
    }

    #[test]
    fn a_pod_is_found_under_cgroup_v1_and_by_the_name_of_a_slice() {
        let proc = Proc::new("0-1");
        let slice = UID.replace('-', "_");
        let cgroup = format!(
            "12:cpuset:/kubepods.slice/kubepods-pod{slice}.slice/cri-containerd-b2.scope\n3:pids:/x\n"
        );
        proc.process("12", "gateway", &cgroup, "0-1");
        assert_eq!(proc.read().cpus_disjoint, Some(false));
    }

    #[test]
    fn nothing_is_reported_about_a_subject_that_cannot_be_found() {
        let proc = Proc::new("0-1");
        proc.process("12", "gateway", "0::/kubepods/podother/a1\n", "0-1");
        let lists = proc.read();
        assert_eq!((lists.subject, lists.cpus_disjoint), (None, None));
        assert_eq!(lists.generator.as_deref(), Some("0-1"));
        assert_eq!(read(Path::new("/nowhere"), UID), None);
    }
}
