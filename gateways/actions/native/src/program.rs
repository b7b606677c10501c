//! A call: a process of the program, its input and output, and how it ended.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// Longest output of one call.
const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;

/// The path by which this process can reach an open file.
pub fn path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Runs the program with this input. Returns what it printed, and why it failed, if it did.
pub fn run(program: &File, input: &[u8], limit: Duration) -> (Vec<u8>, Result<(), String>) {
    let mut output = Vec::new();
    let outcome = start(program, input).and_then(|mut child| {
        let ran = read(&mut child, &mut output, Instant::now() + limit);
        let ran =
            ran.unwrap_or_else(|error| Err(format!("the program cannot be read from: {error}")));
        // Whatever happened, neither this process nor any that it started is left behind.
        if let Some(pid) = pid(&child) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        match ran {
            Err(why) if why.is_empty() => Err(format!(
                "the function was stopped after {} s",
                limit.as_secs()
            )),
            Err(why) => Err(why),
            Ok(()) if status.success() => Ok(()),
            Ok(()) => Err(format!("the function ended with {status}")),
        }
    });
    (output, outcome)
}

fn start(program: &File, input: &[u8]) -> Result<Child, String> {
    let mut command = Command::new(path(program));
    command.arg0("action").env_clear().process_group(0);
    let started = in_memory(input).and_then(|input| {
        command.stdin(input).stdout(Stdio::piped());
        command.spawn()
    });
    started.map_err(|error| format!("the program cannot be started: {error}"))
}

/// Writes the input to a file in memory. Unlike a pipe, it takes all of it at once, even if the
/// program never reads.
fn in_memory(input: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
    file.write_all(input)?;
    file.rewind()?;
    Ok(file)
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Reads until the process has ended. An empty error means that the deadline has passed.
fn read(
    child: &mut Child,
    output: &mut Vec<u8>,
    deadline: Instant,
) -> std::io::Result<Result<(), String>> {
    let pid = pid(child).ok_or(std::io::ErrorKind::NotFound)?;
    let ended = pidfd_open(pid, PidfdFlags::empty())?;
    let mut stdout = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        if !is_ready(&stdout, deadline)? {
            return Ok(Err(String::new()));
        }
        match stdout.read(&mut buffer)? {
            0 => break,
            _ if output.len() > MAX_OUTPUT_BYTES => {
                return Ok(Err("the function printed more than 4 MiB".into()));
            }
            read => output.extend_from_slice(&buffer[..read]),
        }
    }
    let is_over = is_ready(&ended, deadline)?;
    Ok(if is_over { Ok(()) } else { Err(String::new()) })
}

/// Waits for something to read. `false` if the deadline passes first.
fn is_ready(source: &impl std::os::fd::AsFd, deadline: Instant) -> std::io::Result<bool> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or_default();
        let mut awaited = [PollFd::new(source, PollFlags::IN)];
        match poll(&mut awaited, Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
