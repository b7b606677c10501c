//! Processes of the node, which are visible from the host that the node runs on.

/// The process whose program has this name, if one runs.
pub fn process_of(program: &str) -> Option<u32> {
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .find(|pid| runs(*pid, program))
}

fn runs(pid: u32, program: &str) -> bool {
    // A zombie has no command line.
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
    first == format!("/{program}").as_bytes()
}

/// Sends a signal (`STOP`, `KILL`) to the process whose program has this name, and answers with
/// its id; `None` when there is none.
pub fn send_signal(signal: &str, program: &str) -> Option<u32> {
    let pid = process_of(program)?;
    let sent = std::process::Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status();
    sent.ok()?.success().then_some(pid)
}
