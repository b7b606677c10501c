//! Responses made by child processes: one process per response, a limited number at once, the
//! others in the order of their requests. No thread waits for them; they are part of the readiness
//! loop.

#[cfg(not(unix))]
mod none;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use none::Process;
#[cfg(unix)]
use unix::Process;

use crate::message::Status;
use crate::net::Poller;
use crate::slab::{Key, Slab};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest output of a child.
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes kept of a child's standard error, to be reported with a failure.
const MAX_MESSAGE_BYTES: usize = 512;

/// A program that makes responses: the body is its standard input, the response its standard
/// output. It has no environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildCommand {
    /// Path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Concurrent processes. Further requests wait.
    pub at_once: usize,
    /// Time from the request to the end of the child, after which the child is killed.
    pub timeout: Duration,
}

/// Why a child gave no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChildFault {
    /// It ran out of time, or its turn did not come in time.
    TimedOut,
    /// What happened, as a message for the user.
    Failed(String),
}

impl ChildFault {
    pub fn status(&self) -> Status {
        match self {
            Self::TimedOut => Status::GATEWAY_TIMEOUT,
            Self::Failed(_) => Status::INTERNAL_SERVER_ERROR,
        }
    }

    pub fn message(&self) -> String {
        match self {
            Self::TimedOut => "the child process did not answer in time".to_owned(),
            Self::Failed(message) => format!("the child process failed: {message}"),
        }
    }
}

/// A response for the client that waits for it; `T` is what is to be done with it.
pub(crate) struct Made<T> {
    pub client: Key,
    pub task: T,
    pub result: Result<Vec<u8>, ChildFault>,
}

struct Job<T> {
    client: Key,
    task: T,
    deadline: Instant,
}

struct Running<T> {
    /// `None` once nobody waits for the child: it has been killed, and only needs to be reaped.
    job: Option<Job<T>>,
    process: Process,
}

/// All children, and the requests that wait for their turn.
pub(crate) struct Children<T> {
    command: Option<ChildCommand>,
    /// Marks a token of the poller as one of ours.
    token_bit: u64,
    running: Slab<Running<T>>,
    waiting: VecDeque<(Job<T>, Vec<u8>)>,
}

impl<T> Children<T> {
    pub fn new(command: Option<ChildCommand>, token_bit: u64) -> Self {
        Self {
            command,
            token_bit,
            running: Slab::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Whether children make responses at all.
    pub fn are_wanted(&self) -> bool {
        self.command.is_some()
    }

    /// How long a request may take.
    pub fn timeout(&self) -> Duration {
        let command = self.command.as_ref();
        command.map_or(Duration::ZERO, |command| command.timeout)
    }

    /// Queues a request with the body that its child reads. [`Children::start`] starts the child.
    pub fn add(&mut self, client: Key, task: T, body: Vec<u8>, now: Instant) {
        let job = Job {
            client,
            task,
            deadline: now + self.timeout(),
        };
        self.waiting.push_back((job, body));
    }

    /// Starts children for waiting requests, up to the limit. `Some`: one failed to start; call
    /// this again.
    pub fn start(&mut self, poller: &Poller) -> Option<Made<T>> {
        let command = self.command.as_ref()?;
        while self.running.len() < command.at_once {
            let (job, body) = self.waiting.pop_front()?;
            let token = self.token_bit | self.running.next_key().to_bits();
            match Process::start(command, body, poller, token) {
                Ok(process) => {
                    let job = Some(job);
                    self.running.insert(Running { job, process });
                }
                Err(error) => {
                    let fault = ChildFault::Failed(format!("it could not be started: {error}"));
                    return Some(made(job, Err(fault)));
                }
            }
        }
        None
    }

    /// Advances the child that an event belongs to. `Some`: it has ended, and somebody waits for
    /// it.
    pub fn ready(&mut self, key: Key) -> Option<Made<T>> {
        let result = self.running.get_mut(key)?.process.advance()?;
        let job = self.running.remove(key)?.job?;
        Some(made(job, result.map_err(ChildFault::Failed)))
    }

    /// Ends a wait that took too long, along with its child.
    pub fn expire(&mut self, now: Instant) -> Option<Made<T>> {
        let late = |job: &Job<T>| job.deadline <= now;
        if self.waiting.front().is_some_and(|(job, _)| late(job)) {
            let (job, _) = self.waiting.pop_front()?;
            return Some(made(job, Err(ChildFault::TimedOut)));
        }
        let key = self.of_job(late)?;
        let job = self.abandon(key)?;
        Some(made(job, Err(ChildFault::TimedOut)))
    }

    /// The earliest deadline of a wait.
    pub fn next_deadline(&self) -> Option<Instant> {
        let waiting = self.waiting.front().map(|(job, _)| job.deadline);
        let running = self.running.iter();
        let running = running.filter_map(|(_, running)| Some(running.job.as_ref()?.deadline));
        running.chain(waiting).min()
    }

    /// Ends the wait of a client that is gone, along with its child.
    pub fn cancel(&mut self, client: Key) {
        let of_client = |job: &Job<T>| job.client == client;
        self.waiting.retain(|(job, _)| !of_client(job));
        let key = self.of_job(of_client);
        if let Some(key) = key {
            self.abandon(key);
        }
    }

    fn of_job(&self, wanted: impl Fn(&Job<T>) -> bool) -> Option<Key> {
        let mut all = self.running.iter();
        all.find_map(|(key, running)| running.job.as_ref().is_some_and(&wanted).then_some(key))
    }

    /// Kills a child, which remains until it is reaped.
    fn abandon(&mut self, key: Key) -> Option<Job<T>> {
        let running = self.running.get_mut(key)?;
        running.process.kill();
        running.job.take()
    }
}

fn made<T>(job: Job<T>, result: Result<Vec<u8>, ChildFault>) -> Made<T> {
    Made {
        client: job.client,
        task: job.task,
        result,
    }
}
