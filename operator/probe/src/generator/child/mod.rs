//! Runs the load generator once: gives it its task, starts it when it is ready, ends it in time and
//! reaps it.
//!
//! The generator reports on its standard error when all its connections are warm, and then sends
//! nothing until it gets a line; it reports again when the last timed request has ended. A thread
//! waits for the two and lets the caller read counters at both edges, while the subject is idle.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::Pid;

/// A result is below 100 kB with 2000 connections.
const MAX_OUTPUT: usize = 4 * 1024 * 1024;
/// Bytes kept from the end of standard error, to report why a run failed.
const TAIL: usize = 2048;

/// The two moments at which counters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Just before the first timed request.
    Start,
    /// Just after the last one.
    End,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It did not start.
    #[error("could not start the load generator: {0}")]
    Start(io::Error),
    /// It did not end in time and was stopped.
    #[error("the load generator did not end within {} s and was stopped; its last output: {stderr_end}", limit.as_secs())]
    Late {
        /// The time it had.
        limit: Duration,
        /// The end of its standard error.
        stderr_end: String,
    },
    /// It ended with an error.
    #[error("the load generator ended with {status}; its last output: {stderr_end}")]
    Ended {
        /// Exit code or signal.
        status: String,
        /// The end of its standard error.
        stderr_end: String,
    },
    /// What it printed is not a result.
    #[error("the load generator printed something else than a result: {0}")]
    Output(String),
}

/// Runs `generator` with a `task` in one line to its end and returns what it printed. `at` is called
/// from another thread at each edge of the timed part, at most once each.
pub fn run(
    generator: &mut Command,
    task: &str,
    limit: Duration,
    at: impl FnMut(Edge, Pid) + Send,
) -> Result<Vec<u8>, Error> {
    let deadline = Instant::now() + limit;
    let mut child = generator
        .env_clear() // no inherited GOGC
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Error::Start)?;
    let stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());

    thread::scope(|scope| {
        let (closed, all_closed) = mpsc::channel::<()>();
        let also_closed = closed.clone();
        let output = scope.spawn(move || {
            let _closed = closed;
            stdout.map(read_output).transpose()
        });
        let stderr_end = scope.spawn(move || {
            let _closed = also_closed;
            let both = stdin.zip(stderr);
            both.map(|(stdin, stderr)| lead(stdin, stderr, task, pid, at))
                .unwrap_or_default()
        });
        // The readers end when the child is gone: only then can they be joined.
        let status = end(&mut child, &all_closed, deadline);
        let stderr_end = stderr_end.join().unwrap_or_default();
        let output = output.join().unwrap_or(Ok(None));
        match status {
            Ok(Some(status)) if status.success() => whole(output),
            Ok(Some(status)) => Err(Error::Ended {
                status: status.to_string(),
                stderr_end,
            }),
            Ok(None) => Err(Error::Late { limit, stderr_end }),
            Err(error) => Err(Error::Start(error)),
        }
    })
}

fn whole(output: io::Result<Option<Vec<u8>>>) -> Result<Vec<u8>, Error> {
    match output {
        Ok(Some(output)) if output.len() < MAX_OUTPUT => Ok(output),
        Ok(_) => Err(Error::Output("its output is larger than 4 MiB".to_owned())),
        Err(error) => Err(Error::Output(error.to_string())),
    }
}

/// Waits until both pipes are closed and the child has exited; kills it at the deadline.
fn end(
    child: &mut Child,
    all_closed: &Receiver<()>,
    deadline: Instant,
) -> io::Result<Option<std::process::ExitStatus>> {
    let left = deadline.saturating_duration_since(Instant::now());
    // Nothing is ever sent: the channel disconnects when both readers have ended.
    let readers = all_closed.recv_timeout(left);
    while readers == Err(RecvTimeoutError::Disconnected) && Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(1));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn read_output(stdout: impl Read) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    stdout.take(MAX_OUTPUT as u64).read_to_end(&mut output)?;
    Ok(output)
}

/// Gives the child its task, calls `at` at the two edges, and returns the last lines of what the
/// child wrote. A child that does not read is one that has ended, or will be.
fn lead(
    mut stdin: ChildStdin,
    mut stderr: impl Read,
    task: &str,
    pid: Pid,
    mut at: impl FnMut(Edge, Pid),
) -> String {
    let mut edges = Edges::default();
    let mut tail = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let _ = stdin.write_all(format!("{task}\n").as_bytes());
    loop {
        let read = match stderr.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        edges.feed(&buffer[..read], |edge| {
            at(edge, pid);
            if edge == Edge::Start {
                let _ = stdin.write_all(b"\n");
            }
        });
        let fresh = &buffer[read.saturating_sub(TAIL)..read];
        tail.extend_from_slice(fresh);
        tail.drain(..tail.len().saturating_sub(TAIL));
    }
    last_lines(&tail)
}

fn last_lines(tail: &[u8]) -> String {
    let text = String::from_utf8_lossy(tail);
    let last: Vec<&str> = text
        .lines()
        .rev()
        .filter(|line| !line.is_empty())
        .take(3)
        .collect();
    last.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

/// Finds the two lines in a stream that may be cut anywhere.
#[derive(Debug, Default)]
struct Edges {
    line: Vec<u8>,
    seen: usize,
}

impl Edges {
    const LINES: [(&[u8], Edge); 2] = [(b"ready\n", Edge::Start), (b"done\n", Edge::End)];

    fn feed(&mut self, bytes: &[u8], mut at: impl FnMut(Edge)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some((whole, edge)) = Self::LINES.get(self.seen) else {
                return;
            };
            let room = (whole.len() + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..room.min(part.len())]);
            if self.line == *whole {
                self.seen += 1;
                at(*edge);
            }
            if part.ends_with(b"\n") {
                self.line.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests;
