//! Shims in a fake `/proc`.

use super::*;

fn id(digit: char) -> String {
    digit.to_string().repeat(ID_LENGTH)
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A shim with two threads.
fn shim(proc: &Path, pid: u32, program: &str, sandbox: &str) {
    let process = proc.join(pid.to_string());
    let line = format!("{program}\0-namespace\0k8s.io\0-id\0{sandbox}\0-address\0/run/c.sock\0");
    write(&process.join("cmdline"), line.as_bytes());
    write(
        &process.join("status"),
        b"Name:\tshim\nVmRSS:\t   16972 kB\nRssAnon:\t    4572 kB\n",
    );
    counted(&process, &[3000, 400], [4, 3, 2, 1]);
}

/// Writes the nanoseconds of the living threads, and the ticks of the process and its children.
fn counted(process: &Path, threads: &[u64], ticks: [u64; 4]) {
    let _ = fs::remove_dir_all(process.join("task"));
    for (id, nanoseconds) in threads.iter().enumerate() {
        let schedstat = process.join(format!("task/{id}/schedstat"));
        write(&schedstat, format!("{nanoseconds} 5 6\n").as_bytes());
    }
    let [user, system, children_user, children_system] = ticks;
    let stat = format!(
        "7 (a ) b) S 1 7 7 0 -1 4 99 98 97 96 {user} {system} {children_user} {children_system} 20 0 2\n"
    );
    write(&process.join("stat"), stat.as_bytes());
}

const MILLISECOND: u64 = 1_000_000;

/// CPU time of a shim between two readings of its counters.
fn between(
    (threads, ticks): (&[u64], [u64; 4]),
    (threads_after, ticks_after): (&[u64], [u64; 4]),
) -> Option<u64> {
    let root = tempfile::tempdir().unwrap();
    let (proc, pod) = (root.path().join("proc"), root.path().join("pod"));
    fs::create_dir_all(pod.join(id('b'))).unwrap();
    shim(&proc, 7, "containerd-shim-runc-v2", &id('b'));
    let shims = Shims::find(&proc, &pod);
    let read = |threads: &[u64], ticks| {
        let threads: Vec<u64> = threads.iter().map(|time| time * MILLISECOND).collect();
        counted(&proc.join("7"), &threads, ticks);
        shims.read().unwrap()
    };
    let start = read(threads, ticks);
    Some(used(start, read(threads_after, ticks_after))?.cpu_nanoseconds)
}

#[test]
fn the_shims_of_a_pod_are_found_by_the_ids_of_its_containers() {
    let root = tempfile::tempdir().unwrap();
    let (proc, pod) = (root.path().join("proc"), root.path().join("pod"));
    fs::create_dir_all(pod.join(format!("cri-containerd-{}.scope", id('a')))).unwrap();
    fs::create_dir_all(pod.join(id('b'))).unwrap();
    let program = "/usr/local/bin/containerd-shim-runc-v2";
    shim(&proc, 7, program, &id('b'));
    shim(&proc, 8, program, &id('c'));
    shim(&proc, 9, "/bin/sleep", &id('b'));
    let shims = Shims::find(&proc, &pod);
    assert_eq!(shims.sandbox(), Some(OsStr::new(&id('b'))));
    let reading = shims.read().unwrap();
    let counted = (reading.living, reading.threads, reading.children);
    assert_eq!(counted, (Some(3400), 70 * MILLISECOND, 30 * MILLISECOND));
    let found = reading.outside;
    assert_eq!(
        (found.processes, found.cpu_nanoseconds),
        (1, 100 * MILLISECOND)
    );
    assert_eq!(found.resident_bytes, 16_972 * 1024);
    assert_eq!(found.anonymous_bytes, 4572 * 1024);
}

#[test]
fn without_a_shim_nothing_is_read_and_nothing_guessed() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(Shims::find(root.path(), root.path()).read(), None);
}

#[test]
fn time_is_exact_to_the_nanosecond_unless_ticks_disagree() {
    let start: (&[u64], _) = (&[30, 4], [3, 0, 9, 9]);
    for ticks in [[3, 0, 9, 9], [4, 0, 9, 9], [4, 1, 9, 9]] {
        assert_eq!(between(start, (&[35, 6], ticks)), Some(7 * MILLISECOND));
    }
    assert_eq!(between(start, (&[30, 4], [3, 0, 9, 9])), Some(0), "idle");
}

#[test]
fn the_time_of_a_thread_that_ended_in_the_window_is_part_of_it() {
    // One thread used 35 ms more and ended; the other used 5 ms.
    let ended = between((&[30, 400], [43, 0, 0, 0]), (&[35], [45, 2, 0, 0]));
    assert_eq!(ended, Some(40 * MILLISECOND));
    // A thread began and ended in between: the sum of the living threads grew, but not by enough.
    let within = between((&[30, 4], [3, 0, 0, 0]), (&[35, 4], [8, 0, 0, 0]));
    assert_eq!(within, Some(50 * MILLISECOND));
}

#[test]
fn children_that_ended_are_added() {
    let found = between((&[30], [3, 0, 5, 1]), (&[35], [3, 0, 6, 3]));
    assert_eq!(found, Some(35 * MILLISECOND));
}

#[test]
fn a_counter_that_went_backwards_leaves_no_number_and_no_zero() {
    for (start, end) in [
        ([3, 0, 0, 0], [2, 0, 0, 0]),
        ([3, 0, 5, 0], [9, 0, 4, 0]),
        // A thread ended, and the coarse counter did not advance by a tick.
        ([3, 0, 0, 0], [3, 0, 0, 0]),
    ] {
        assert_eq!(between((&[30, 4], start), (&[31], end)), None);
    }
    assert_eq!(between((&[], [3, 0, 0, 0]), (&[], [3, 0, 0, 0])), None);
}

#[test]
fn a_shim_that_ended_leaves_no_number_for_those_that_did_not() {
    let root = tempfile::tempdir().unwrap();
    let (proc, pod) = (root.path().join("proc"), root.path().join("pod"));
    fs::create_dir_all(pod.join(id('b'))).unwrap();
    for pid in [7, 8] {
        shim(&proc, pid, "containerd-shim-runc-v2", &id('b'));
    }
    let shims = Shims::find(&proc, &pod);
    let start = shims.read().unwrap();
    assert_eq!(start.outside.processes, 2);
    fs::remove_dir_all(proc.join("8")).unwrap();
    counted(&proc.join("7"), &[9000, 9000], [90, 90, 90, 90]);
    assert_eq!(used(start, shims.read().unwrap()), None);
}

#[test]
fn memory_is_that_of_the_end() {
    let at = |living, resident_bytes| Reading {
        outside: Outside {
            resident_bytes,
            ..Outside::default()
        },
        living: Some(living),
        threads: 0,
        children: 0,
    };
    let found = used(at(10, 7), at(25, 9)).unwrap();
    assert_eq!((found.cpu_nanoseconds, found.resident_bytes), (15, 9));
}

#[test]
fn the_kernel_keeps_the_time_of_a_thread_that_ended() {
    let own = Path::new("/proc/self");
    let start = process(own).unwrap();
    let burn = || {
        let used = || fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        while scheduled(&used()).unwrap() < 200 * MILLISECOND {}
    };
    std::thread::spawn(burn).join().unwrap();
    let found = used(start, process(own).unwrap()).unwrap();
    assert!(found.cpu_nanoseconds >= 180 * MILLISECOND, "{found:?}");
}
