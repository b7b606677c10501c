//! One child: its pipes, and a descriptor that becomes readable when the child has ended.
//!
//! std starts it with `posix_spawn`, which does not copy this process's page tables.

use super::{ChildCommand, MAX_MESSAGE_BYTES, MAX_OUTPUT_BYTES};
use crate::net::{Interest, Poller};
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

/// A typical response is read at once.
const READ_BYTES: usize = 16 * 1024;

/// Our end of a pipe from the child, and what came through it.
struct Output<R> {
    pipe: Option<R>,
    bytes: Vec<u8>,
    most: usize,
}

/// A child process.
pub(super) struct Process {
    child: Child,
    _ended: OwnedFd,
    input: Option<ChildStdin>,
    body: Vec<u8>,
    written: usize,
    answer: Output<std::process::ChildStdout>,
    message: Output<std::process::ChildStderr>,
}

impl Process {
    /// Starts it with `body` as its standard input; its events arrive under `token`.
    pub fn start(
        command: &ChildCommand,
        body: Vec<u8>,
        poller: &Poller,
        token: u64,
    ) -> io::Result<Self> {
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let watched = watch(&child, poller, token);
        let ended = match watched {
            Ok(ended) => ended,
            Err(error) => {
                // A child that cannot be waited for would remain as a zombie.
                let _ = child.kill();
                let _ = child.wait();
                return Err(error);
            }
        };
        let mut process = Self {
            _ended: ended,
            input: child.stdin.take(),
            body,
            written: 0,
            answer: Output::new(child.stdout.take(), MAX_OUTPUT_BYTES),
            message: Output::new(child.stderr.take(), MAX_MESSAGE_BYTES),
            child,
        };
        // The pipe has room for a typical body at once, before the child reads.
        process.feed();
        if let Some(input) = &process.input
            && let Err(error) = poller.add(input, token, Interest::BOTH)
        {
            process.kill();
            let _ = process.child.wait();
            return Err(error);
        }
        Ok(process)
    }

    /// Moves what can be moved. `Some` when the child has ended: its response, or what went wrong.
    pub fn advance(&mut self) -> Option<Result<Vec<u8>, String>> {
        self.feed();
        // Before the output is read: if the child has ended, the pipe already holds what it wrote
        // last.
        let ended = match self.child.try_wait() {
            Ok(ended) => ended,
            Err(error) => return Some(Err(format!("it cannot be waited for: {error}"))),
        };
        if let Err(error) = self.answer.fill().and(self.message.fill()) {
            self.kill();
            let _ = self.child.wait();
            return Some(Err(format!("its output cannot be read: {error}")));
        }
        ended.map(|ended| self.outcome(ended))
    }

    /// Kills the child; [`Process::advance`] reaps it.
    pub fn kill(&mut self) {
        // Fails only if the child has already ended.
        let _ = self.child.kill();
    }

    fn outcome(&mut self, ended: ExitStatus) -> Result<Vec<u8>, String> {
        if ended.success() && self.answer.bytes.len() < MAX_OUTPUT_BYTES {
            return Ok(std::mem::take(&mut self.answer.bytes));
        }
        let message = String::from_utf8_lossy(&self.message.bytes);
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Err(match (ended.success(), message.is_empty()) {
            (true, _) => format!("it wrote {MAX_OUTPUT_BYTES} bytes or more"),
            (false, true) => ended.to_string(),
            (false, false) => format!("{ended}; its message: {message}"),
        })
    }

    /// Writes as much of the input as the pipe takes, and closes the pipe after the last byte.
    fn feed(&mut self) {
        while let Some(input) = &mut self.input {
            match input.write(&self.body[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // A child that does not read all of its input may still answer.
                Err(_) => self.written = self.body.len(),
            }
            if self.written == self.body.len() {
                self.input = None;
            }
        }
    }
}

impl<R: Read + AsFd> Output<R> {
    fn new(pipe: Option<R>, most: usize) -> Self {
        Self {
            pipe,
            bytes: Vec::new(),
            most,
        }
    }

    /// Reads what is available. The pipe is closed at its end; excess bytes are read and dropped,
    /// so that the child does not block.
    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = [0; READ_BYTES];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    let room = self.most - self.bytes.len();
                    self.bytes.extend_from_slice(&buffer[..count.min(room)]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Makes all pipes of the child non-blocking, and watches its output and its end.
fn watch(child: &Child, poller: &Poller, token: u64) -> io::Result<OwnedFd> {
    if let Some(input) = &child.stdin {
        rustix::io::ioctl_fionbio(input, true)?;
    }
    if let Some(output) = &child.stdout {
        rustix::io::ioctl_fionbio(output, true)?;
        poller.add(output, token, Interest::READ)?;
    }
    if let Some(output) = &child.stderr {
        rustix::io::ioctl_fionbio(output, true)?;
        poller.add(output, token, Interest::READ)?;
    }
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let id = id.ok_or(ErrorKind::NotFound)?;
    let ended = pidfd_open(id, PidfdFlags::empty())?;
    poller.add(&ended, token, Interest::READ)?;
    Ok(ended)
}
