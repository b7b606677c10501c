//! An executor as a child process: calls go to its standard input, answers come from its standard
//! output. What it writes to standard error goes to the front's; the last line of it is why it
//! ended.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kernel_executor::protocol::{Answer, Call, Done, Facts, facts};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::kernels::Kernel;

/// How long an executor may take to end after its output has.
const GRACE: Duration = Duration::from_secs(5);

/// Calls that are not answered yet.
type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Done, String>>>>>;

/// A started executor.
pub struct Executor {
    /// `None` once no call may follow.
    input: tokio::sync::Mutex<Option<ChildStdin>>,
    waiting: Waiting,
    begun: AtomicU64,
}

impl Executor {
    /// Starts an executor and waits until it is ready. A task in `ended` returns why it ended.
    pub async fn start(
        mut command: Command,
        ended: &mut JoinSet<String>,
    ) -> Result<(Self, Facts), String> {
        let program = command.as_std().get_program().display().to_string();
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        let mut child = child.map_err(|error| format!("could not start {program}: {error}"))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(format!("could not connect {program}"));
        };
        let mut process = Process {
            child,
            output: BufReader::new(output).lines(),
            last_error: tokio::spawn(last_line(errors)),
        };
        let first = process.output.next_line().await.ok().flatten();
        let facts = first.as_deref().map(facts);
        let facts = match facts {
            Some(Ok(facts)) => facts,
            Some(Err(why)) => return Err(process.end(Some(why)).await),
            None => return Err(process.end(None).await),
        };
        let waiting = Waiting::default();
        ended.spawn(process.watch(Arc::clone(&waiting)));
        let executor = Self {
            input: tokio::sync::Mutex::new(Some(input)),
            waiting,
            begun: AtomicU64::new(0),
        };
        Ok((executor, facts))
    }

    /// Runs a kernel.
    pub async fn call(&self, kernel: Kernel) -> Result<Done, String> {
        let id = self.begun.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        lock(&self.waiting).insert(id, answered);
        let call = Call {
            id,
            kernel: kernel.name.to_owned(),
            repeats: kernel.repeats,
        };
        let gone = "the executor takes no more calls";
        match self.input.lock().await.as_mut() {
            None => return Err(gone.into()),
            Some(input) => {
                let written = input.write_all(format!("{call}\n").as_bytes()).await;
                written.map_err(|_| gone)?;
            }
        }
        answer.await.map_err(|_| gone)?
    }

    /// Ends its input, and so the executor.
    pub async fn finish(&self) {
        drop(self.input.lock().await.take());
    }
}

/// The process without its input.
struct Process {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
    last_error: JoinHandle<String>,
}

impl Process {
    /// Hands over answers until the executor ends. Returns why it ended.
    async fn watch(mut self, waiting: Waiting) -> String {
        while let Ok(Some(line)) = self.output.next_line().await {
            let wrong = match line.parse::<Answer>() {
                Err(why) => why,
                Ok(answer) => match lock(&waiting).remove(&answer.id) {
                    None => format!("'{line}' answers no call"),
                    Some(call) => {
                        // The client may have gone.
                        let _ = call.send(answer.outcome);
                        continue;
                    }
                },
            };
            return self.end(Some(wrong)).await;
        }
        self.end(None).await
    }

    /// Waits for the end, which it brings about if the executor did something wrong. Returns a
    /// sentence about it.
    async fn end(mut self, wrong: Option<String>) -> String {
        if wrong.is_some() || timeout(GRACE, self.child.wait()).await.is_err() {
            let _ = self.child.start_kill();
        }
        let status = match self.child.wait().await {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let last_error = timeout(GRACE, self.last_error).await;
        let last_error = last_error.ok().and_then(Result::ok).unwrap_or_default();
        match wrong {
            Some(wrong) => format!("the executor was stopped: {wrong}"),
            None if last_error.is_empty() => format!("the executor ended: {status}"),
            None => format!("the executor ended ({status}): {last_error}"),
        }
    }
}

/// Repeats each line on the front's standard error. Returns the last one.
async fn last_line(errors: impl AsyncRead + Unpin) -> String {
    use std::io::Write as _;
    let mut lines = BufReader::new(errors).lines();
    let mut last = String::new();
    while let Ok(Some(line)) = lines.next_line().await {
        let _ = writeln!(std::io::stderr(), "{line}");
        if !line.trim().is_empty() {
            last = line;
        }
    }
    last
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No foreign code runs while the lock is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
