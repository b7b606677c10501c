//! Many children, one after the other: neither a child nor a descriptor is left behind. Each test
//! has a process of its own, because it counts those of the process.

#![cfg(target_os = "linux")]

use crate::common::{Client, start_with};
use gateway_http::{ChildCommand, Config, Failed, Transform, Workloads};
use std::process::Command;
use std::time::{Duration, Instant};

const AT_ONCE: usize = 4;
/// Connections that carry the requests: more than children at once, so that some wait.
const CONNECTIONS: usize = 6;
/// Set if this program is to run only one of these tests.
const IN_OWN_PROCESS: &str = "WASMBENCH_TEST_ALONE";

/// Leaves the work to a program.
struct InChild {
    program: &'static str,
    arguments: &'static [&'static str],
    timeout: Duration,
}

/// Echoes its input.
const CAT: InChild = InChild {
    program: "/bin/cat",
    arguments: &[],
    timeout: Duration::from_mins(1),
};
/// Must be killed.
const SLEEP: InChild = InChild {
    program: "/bin/sleep",
    arguments: &["60"],
    timeout: Duration::from_millis(20),
};

const CATS_ANSWER: (u16, &str) = (200, "hello");
const TOO_LATE: (u16, &str) = (504, "the child process did not answer in time");

impl Transform for InChild {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Ok(())
    }

    fn child(&self) -> Option<ChildCommand> {
        Some(ChildCommand {
            program: self.program.into(),
            arguments: self.arguments.iter().map(Into::into).collect(),
            at_once: AT_ONCE,
            timeout: self.timeout,
        })
    }

    fn describe(&self) -> String {
        "{}".to_owned()
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Processes whose parent is this one, including those that have ended but were not reaped.
fn children() -> usize {
    let id = std::process::id().to_string();
    let is_child = |entry: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(entry.unwrap().path().join("stat")).ok()?;
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?;
        (parent == id).then_some(())
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(is_child)
        .count()
}

#[test]
fn after_many_children_there_is_no_zombie_and_no_leaked_descriptor() {
    in_own_process(
        "after_many_children_there_is_no_zombie_and_no_leaked_descriptor",
        || no_trace_after(5_000, CONNECTIONS, CAT, CATS_ANSWER),
    );
}

// As many connections as children at once: a request that times out while it waits for its turn has
// no child that could be left behind.
#[test]
fn after_killed_children_there_is_no_zombie_and_no_leaked_descriptor() {
    in_own_process(
        "after_killed_children_there_is_no_zombie_and_no_leaked_descriptor",
        || no_trace_after(100, AT_ONCE, SLEEP, TOO_LATE),
    );
}

#[test]
#[ignore = "takes a minute: make selftest"]
fn a_hundred_thousand_children_leave_no_zombie_and_no_descriptor() {
    in_own_process(
        "a_hundred_thousand_children_leave_no_zombie_and_no_descriptor",
        || no_trace_after(100_000, CONNECTIONS, CAT, CATS_ANSWER),
    );
}

#[test]
#[ignore = "takes a quarter of a minute: make selftest"]
fn two_thousand_killed_children_leave_no_zombie_and_no_descriptor() {
    in_own_process(
        "two_thousand_killed_children_leave_no_zombie_and_no_descriptor",
        || no_trace_after(2_000, AT_ONCE, SLEEP, TOO_LATE),
    );
}

/// Does the work of the test with this name in a process that runs nothing else.
fn in_own_process(test: &str, work: impl FnOnce()) {
    if std::env::var_os(IN_OWN_PROCESS).is_some() {
        return work();
    }
    let name = format!("children_many::{test}");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--include-ignored"])
        .env(IN_OWN_PROCESS, "yes")
        .output()
        .unwrap();
    // A name that matches no test would succeed, too.
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains(" 1 passed"), "{stdout}");
}

fn no_trace_after(
    requests: usize,
    connections: usize,
    program: InChild,
    expected: (u16, &'static str),
) {
    let is_expected = move |client: &mut Client| {
        let answer = client.get("/");
        assert_eq!((answer.status, &*answer.body), expected);
    };
    let address = start_with(Config::default(), Workloads::new(program));
    is_expected(&mut Client::connect(address));
    std::thread::sleep(Duration::from_millis(200));
    let before = descriptors();
    let threads: Vec<_> = (0..connections)
        .map(|_| {
            std::thread::spawn(move || {
                let mut client = Client::connect(address);
                for _ in 0..requests.div_ceil(connections) {
                    is_expected(&mut client);
                }
            })
        })
        .collect();
    let mut most = 0;
    while !threads.iter().all(std::thread::JoinHandle::is_finished) {
        most = most.max(children());
        std::thread::sleep(Duration::from_millis(20));
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(most > 0, "there were no children");
    // The last children end in a moment, or later on a busy machine.
    let left = || (descriptors().saturating_sub(before), children());
    let began = Instant::now();
    while left() != (0, 0) && began.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left(), (0, 0), "descriptors and children");
}
