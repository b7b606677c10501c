//! Many children, one after the other: none stays behind, and no descriptor. Each test is alone in its
//! process, whose descriptors it counts.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod common;

use common::{Client, start_with};
use gateway_http::{ChildCommand, Config, Failed, Transform, Workloads};
use std::time::Duration;

/// Connections that carry them: more than children at once, so that some wait.
const CONNECTIONS: usize = 6;

struct Cat;

impl Transform for Cat {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Ok(())
    }

    fn child(&self) -> Option<ChildCommand> {
        Some(ChildCommand {
            program: "/bin/cat".into(),
            arguments: vec![],
            at_once: 4,
            timeout: Duration::from_mins(1),
        })
    }

    fn describe(&self) -> String {
        "{}".to_owned()
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Processes whose parent is this one, ended ones that nobody waited for included.
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
    no_trace_after(5_000);
}

#[test]
#[ignore = "takes a minute: make selftest"]
fn after_a_hundred_thousand_children_there_is_no_zombie_and_no_leaked_descriptor() {
    no_trace_after(100_000);
}

fn no_trace_after(requests: usize) {
    let address = start_with(Config::default(), Workloads::new(Cat));
    assert_eq!(Client::connect(address).get("/").body, "hello");
    std::thread::sleep(Duration::from_millis(200));
    let before = descriptors();
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            std::thread::spawn(move || {
                let mut client = Client::connect(address);
                for _ in 0..requests.div_ceil(CONNECTIONS) {
                    assert_eq!(client.get("/").body, "hello");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!((descriptors(), children()), (before, 0));
}
