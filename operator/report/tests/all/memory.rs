//! How much memory a piece of work takes, measured in a process of its own.

use std::fs;
use std::process::Command;

/// Set to the shape of the input in the process that is measured.
const SHAPE: &str = "WASMBENCH_TEST_SHAPE";

/// The shape that [`taken_in_own_process`] asks for, in the process that it starts.
pub fn shape() -> String {
    std::env::var(SHAPE).expect("the test that measures sets it")
}

/// Does the work, and returns how much memory it took at most, in KiB. Printed as `taken: 1`, it is
/// what [`taken_in_own_process`] returns.
pub fn taken(work: impl FnOnce()) -> u64 {
    // Returns the memory used before, as far as the allocator does.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = kibibytes("VmRSS:");
    work();
    kibibytes("VmHWM:").saturating_sub(before)
}

/// The memory in KiB that this ignored test takes with input of this shape.
pub fn taken_in_own_process(name: &str, shape: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(SHAPE, shape)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_once("taken: ")
        .map(|(_, rest)| rest)
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or_else(|| panic!("{shape}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn kibibytes(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}
