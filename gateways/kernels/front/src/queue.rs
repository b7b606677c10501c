//! When a call runs: at most as many at once as the executor has threads, the others in the order of
//! their requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernel_executor::protocol::{Done, Process};
use kernel_executor::{Allocator, BoundsChecks, Facts, Options};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::executor::Executor;
use crate::kernels::Kernel;
use crate::settings::Settings;

/// The calls of an executor.
pub struct Queue {
    executor: Executor,
    /// As many permits as the executor has threads; first come, first served.
    turns: Arc<Semaphore>,
    /// What the executor reports about itself, and what was set.
    facts: Facts,
    totals: Mutex<Totals>,
}

/// What calls have cost since the start.
#[derive(Default)]
struct Totals {
    calls: u64,
    instance_nanoseconds: u64,
    /// Of instances that were processes; `None` if none was.
    processes: Option<Process>,
}

impl Totals {
    fn add(&mut self, done: Done) {
        self.calls += 1;
        self.instance_nanoseconds += done.instance_nanoseconds;
        if let Some(used) = done.process {
            let all = self.processes.get_or_insert_default();
            all.voluntary_switches += used.voluntary_switches;
            all.involuntary_switches += used.involuntary_switches;
            all.cpu_nanoseconds += used.cpu_nanoseconds;
        }
    }

    /// The members of `/engine`.
    fn members(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let always = [
            ("calls", self.calls),
            ("instanceNanoseconds", self.instance_nanoseconds),
        ];
        let processes = self.processes.map(|used| {
            [
                ("processVoluntarySwitches", used.voluntary_switches),
                ("processInvoluntarySwitches", used.involuntary_switches),
                ("processCpuNanoseconds", used.cpu_nanoseconds),
            ]
        });
        always.into_iter().chain(processes.into_iter().flatten())
    }
}

impl Queue {
    /// Starts the executor; a task in `ended` returns why it ended.
    pub async fn start(settings: &Settings, ended: &mut JoinSet<String>) -> Result<Self, String> {
        let (executor, facts) = Executor::start(settings.executor(), ended).await?;
        Ok(Self {
            executor,
            turns: Arc::new(Semaphore::new(settings.options.threads)),
            facts: with_options(facts, &settings.options),
            totals: Mutex::default(),
        })
    }

    /// Runs a kernel when it is its turn. Returns the bits of its checksum.
    pub async fn call(self: &Arc<Self>, kernel: Kernel) -> Result<u64, String> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|error| error.to_string())?;
        let queue = Arc::clone(self);
        // In a task of its own, because the executor stays busy if the client goes away.
        let call = tokio::spawn(async move { queue.run(kernel, turn).await });
        call.await.map_err(|error| error.to_string())?
    }

    async fn run(&self, kernel: Kernel, turn: OwnedSemaphorePermit) -> Result<u64, String> {
        let outcome = self.executor.call(kernel).await;
        drop(turn);
        let done = outcome?;
        self.totals().add(done);
        Ok(done.checksum_bits)
    }

    /// What `/engine` answers: the facts, and the totals since the start.
    pub fn facts(&self) -> Facts {
        let mut facts = self.facts.clone();
        let totals = self.totals().members();
        facts.extend(totals.map(|(member, total)| (member.to_owned(), total.into())));
        facts
    }

    fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the executor after the calls that it has.
    pub async fn finish(&self) {
        self.executor.finish().await;
    }
}

/// Adds what was set, unless the executor reports otherwise.
fn with_options(mut facts: Facts, options: &Options) -> Facts {
    facts.insert("threads".into(), options.threads.into());
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
