//! Which executor runs a call, and when: at most as many calls at once as there are threads, the
//! others in the order of their requests.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use kernel_executor::{Allocator, BoundsChecks, Facts};

use crate::executor::Executor;
use crate::kernels::Kernel;
use crate::settings::Settings;

/// All executors.
pub struct Pool {
    executors: Vec<Executor>,
    /// Indices of executors, each as often as it can take another call.
    idle: Mutex<Vec<usize>>,
    /// As many permits as there are indices in `idle`; first come, first served.
    turns: Arc<Semaphore>,
    /// What the executors report about themselves, and what was set.
    facts: Facts,
    calls: AtomicU64,
    instance_nanoseconds: AtomicU64,
}

impl Pool {
    /// Starts the executors; tasks in `ended` return why one of them ended.
    pub async fn start(settings: &Settings, ended: &mut JoinSet<String>) -> Result<Self, String> {
        let mut executors = vec![];
        let mut reported = Facts::new();
        for _ in 0..settings.processes {
            let mut command = Command::new(&settings.program);
            command
                .args(&settings.first_arguments)
                .args(settings.options.arguments());
            let (executor, facts) = Executor::start(command, ended).await?;
            executors.push(executor);
            reported = facts;
        }
        let threads = settings.threads;
        Ok(Self {
            idle: Mutex::new((0..threads).map(|slot| slot % executors.len()).collect()),
            turns: Arc::new(Semaphore::new(threads)),
            executors,
            facts: with_settings(reported, settings),
            calls: AtomicU64::new(0),
            instance_nanoseconds: AtomicU64::new(0),
        })
    }

    /// Runs a kernel when it is its turn. Returns the bits of its checksum.
    pub async fn call(self: &Arc<Self>, kernel: Kernel) -> Result<u64, String> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|error| error.to_string())?;
        let pool = Arc::clone(self);
        // In a task of its own, because the executor stays busy if the client goes away.
        let call = tokio::spawn(async move {
            let outcome = pool.run(kernel).await;
            drop(turn);
            outcome
        });
        call.await.map_err(|error| error.to_string())?
    }

    async fn run(&self, kernel: Kernel) -> Result<u64, String> {
        let index = lock(&self.idle).pop();
        let index = index.ok_or("there is no idle executor")?;
        let outcome = self.executors[index].call(kernel).await;
        lock(&self.idle).push(index);
        let done = outcome?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.instance_nanoseconds
            .fetch_add(done.instance_nanoseconds, Ordering::Relaxed);
        Ok(done.checksum_bits)
    }

    /// What `/engine` answers: the facts, and the totals since the start.
    pub fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        let calls = self.calls.load(Ordering::Relaxed);
        let nanoseconds = self.instance_nanoseconds.load(Ordering::Relaxed);
        facts.insert("calls".into(), calls.into());
        facts.insert("instanceNanoseconds".into(), nanoseconds.into());
        facts
    }

    /// Ends the executors after the calls that they have.
    pub async fn finish(&self) {
        for executor in &self.executors {
            executor.finish().await;
        }
    }
}

/// Adds what was set, unless an executor reports otherwise.
fn with_settings(mut facts: Facts, settings: &Settings) -> Facts {
    let options = &settings.options;
    facts.insert("threads".into(), settings.threads.into());
    let checks = options.bounds_checks.map(BoundsChecks::name);
    let allocator = options.allocator.map(Allocator::name);
    // The executor of an image is compiled together with the front.
    let profile = Some(kernel_executor::PROFILE);
    for (member, value) in [
        ("boundsChecks", checks),
        ("allocator", allocator),
        ("profile", profile),
    ] {
        if let Some(value) = value {
            facts
                .entry(member)
                .or_insert_with(|| serde_json::Value::from(value));
        }
    }
    facts
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No foreign code runs while the lock is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
