//! What every reconcile shares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use kube::Client;
use kube::api::ObjectMeta;
use kube::core::{DeserializeGuard, PartialObjectMeta};
use kube::runtime::events::{Recorder, Reporter};
use kube::runtime::reflector::{ObjectRef, Store};
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule};
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::demands::TemplateLabels;

use crate::clock::ServerClock;
use crate::error::Backoff;
use crate::leader::Leader;
use crate::metrics::Metrics;
use crate::quiet::Quiet;
use crate::turns::PublishedTurns;

/// A run that may fail to decode: one bad object must not stop the others.
pub type GuardedRun = DeserializeGuard<BenchmarkRun>;
/// A schedule that may fail to decode.
pub type GuardedSchedule = DeserializeGuard<BenchmarkSchedule>;
/// What is kept of a schedule between reconciles: each of them reads it again.
pub type ScheduleMeta = PartialObjectMeta<BenchmarkSchedule>;

/// How long connecting to the API server may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum length of an Event's note, in characters.
pub const NOTE: usize = 1000;

/// What every reconcile shares.
pub struct Context {
    /// The API server.
    pub client: Client,
    /// The administrator's settings.
    pub config: OperatorConfig,
    /// All runs, as in the store of the watch.
    pub runs: std::sync::OnceLock<Store<GuardedRun>>,
    /// All schedules, as in the store of the watch.
    pub schedules: std::sync::OnceLock<Store<ScheduleMeta>>,
    /// Counters.
    pub metrics: Metrics,
    /// Pauses after errors.
    pub backoff: Backoff,
    /// The API server's clock.
    pub clock: ServerClock,
    /// Open timed windows, before which the watches of `client` are renewed.
    pub quiet: Quiet,
    /// The Lease without which nothing is done.
    pub leader: Leader,
    /// Whose turn it is.
    pub turns: PublishedTurns,
    /// Publishes Events for people.
    pub events: Recorder,
    /// Held by the only reconcile that has a schedule's history in memory.
    pub history_turn: tokio::sync::Mutex<()>,
    /// Whether the watch has listed all runs once, or this process stands by.
    pub ready: AtomicBool,
    /// Uids of runs that have released their node but that the watch does not show as ended yet.
    left_queue: Mutex<BTreeSet<String>>,
    /// When a run of each namespace last released a node. Lost at a restart, which costs a turn.
    served: Mutex<BTreeMap<String, Timestamp>>,
    /// The blocks that runs with precision planned, by uid. Only progress shows them: the end of each
    /// block reads the records again, also after a restart.
    planned: Mutex<BTreeMap<String, u32>>,
    /// The nodes that the templates of objects demand that a run scales, by uid. The queue reads nothing.
    templates: Mutex<BTreeMap<String, TemplateLabels>>,
}

impl Context {
    /// Connects to the cluster that the operator runs in, or that the kubeconfig names.
    pub async fn connect(config: OperatorConfig) -> anyhow::Result<Arc<Self>> {
        let mut kubeconfig = kube::Config::infer()
            .await
            .context("neither in a cluster nor a kubeconfig")?;
        kubeconfig.connect_timeout = Some(CONNECT_TIMEOUT);
        let client = Client::try_from(kubeconfig).context("could not set up the client")?;
        Ok(Self::new(client, config))
    }

    /// Creates a context that uses `client`.
    pub fn new(client: Client, config: OperatorConfig) -> Arc<Self> {
        let reporter = Reporter {
            controller: "wasmbench-operator".into(),
            instance: None,
        };
        let quiet = Quiet::default();
        let clock = ServerClock::default();
        let client = quiet.keep(clock.follow(client));
        let leader = Leader::new(client.clone(), &config.operator_namespace, clock.clone());
        Arc::new(Self {
            clock,
            quiet,
            leader,
            turns: PublishedTurns::default(),
            events: Recorder::new(client.clone(), reporter),
            client,
            config,
            runs: std::sync::OnceLock::new(),
            schedules: std::sync::OnceLock::new(),
            metrics: Metrics::default(),
            backoff: Backoff::default(),
            history_turn: tokio::sync::Mutex::default(),
            ready: AtomicBool::new(false),
            left_queue: Mutex::default(),
            served: Mutex::default(),
            planned: Mutex::default(),
            templates: Mutex::default(),
        })
    }

    /// All runs in the store of the watch, including those that do not decode.
    pub fn known_runs(&self) -> Vec<Arc<GuardedRun>> {
        self.runs.get().map(Store::state).unwrap_or_default()
    }

    fn known(&self, key: fn(&GuardedRun) -> Option<String>) -> BTreeSet<String> {
        let runs = self.known_runs();
        runs.iter().filter_map(|run| key(run)).collect()
    }

    /// Notes that a run no longer waits for a node. Called before its Lease is released: the
    /// queue must not find this run still ahead of the others.
    pub fn leave_queue(&self, run_uid: &str) {
        let known = self.known(uid);
        let mut left = crate::lock(&self.left_queue);
        left.retain(|uid| known.contains(uid));
        left.insert(run_uid.to_owned());
        self.turns.have_changed();
    }

    /// Notes that a run waits for a node, possibly again after it was suspended.
    pub fn join_queue(&self, run_uid: &str) {
        if crate::lock(&self.left_queue).remove(run_uid) {
            self.turns.have_changed();
        }
    }

    /// Whether the run has released its node since it last waited for one.
    pub fn has_left_queue(&self, run_uid: &str) -> bool {
        crate::lock(&self.left_queue).contains(run_uid)
    }

    /// Whether the run with this uid goes on, now or after it was suspended.
    pub fn goes_on(&self, run_uid: &str) -> bool {
        let is_it = |run: &GuardedRun| meta_of(run).uid.as_deref() == Some(run_uid);
        let found = self.runs.get().and_then(|runs| runs.find(is_it));
        let goes_on =
            |run: &BenchmarkRun| !run.is_finished() && run.metadata.deletion_timestamp.is_none();
        found.is_some_and(|run| run.0.as_ref().is_ok_and(goes_on))
    }

    /// Notes that a run of `namespace` releases a node. Forgets other namespaces that have no runs.
    pub fn serve(&self, namespace: &str) {
        let known = self.known(namespace_of);
        let mut served = crate::lock(&self.served);
        served.retain(|namespace, _| known.contains(namespace));
        served.insert(namespace.to_owned(), self.clock.now());
    }

    /// When a run of each namespace last released a node.
    pub fn served(&self) -> BTreeMap<String, Timestamp> {
        crate::lock(&self.served).clone()
    }

    /// Notes how many blocks a run planned. Forgets runs that are gone.
    pub fn plan_blocks(&self, run_uid: &str, blocks: u32) {
        let known = self.known(uid);
        let mut planned = crate::lock(&self.planned);
        planned.retain(|uid, _| known.contains(uid));
        planned.insert(run_uid.to_owned(), blocks);
    }

    /// The blocks that a run planned, as far as known.
    pub fn planned_blocks(&self, run_uid: &str) -> Option<u32> {
        crate::lock(&self.planned).get(run_uid).copied()
    }

    /// Notes which nodes the templates of objects demand that a run scales. Forgets runs that are gone.
    pub fn note_templates(&self, run_uid: &str, templates: &TemplateLabels) {
        let mut all = crate::lock(&self.templates);
        if templates.is_empty() || all.get(run_uid) == Some(templates) {
            return;
        }
        let known = self.known(uid);
        all.retain(|uid, _| known.contains(uid));
        all.insert(run_uid.to_owned(), templates.clone());
        drop(all);
        self.turns.have_changed();
    }

    /// Which nodes they demand, as far as known.
    pub fn templates(&self, run_uid: &str) -> Option<TemplateLabels> {
        crate::lock(&self.templates).get(run_uid).cloned()
    }

    /// The time left until `time`; zero if that has passed.
    pub fn until(&self, time: Timestamp) -> Duration {
        let left = time.duration_since(self.clock.now());
        Duration::try_from(left).unwrap_or(Duration::ZERO)
    }

    /// The reference by which a run is woken up.
    pub fn reference(namespace: &str, name: &str) -> ObjectRef<GuardedRun> {
        ObjectRef::new(name).within(namespace)
    }
}

/// The metadata of a run, whether or not it decodes.
pub fn meta_of(run: &GuardedRun) -> &ObjectMeta {
    match &run.0 {
        Ok(run) => &run.metadata,
        Err(invalid) => &invalid.metadata,
    }
}

fn uid(run: &GuardedRun) -> Option<String> {
    run.0.as_ref().ok()?.metadata.uid.clone()
}

fn namespace_of(run: &GuardedRun) -> Option<String> {
    run.0.as_ref().ok()?.metadata.namespace.clone()
}
