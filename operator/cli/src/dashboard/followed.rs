//! What the records of one run say so far. They are read between timed windows, and only those that are new.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::ResourceExt;
use wasmbench_api::BenchmarkRun;
use wasmbench_core::lifetime::is_finished;
use wasmbench_core::progress_message;
use wasmbench_core::store::{self, Ended};
use wasmbench_core::wire::record::TrialId;
use wasmbench_results::Summary;

use crate::cluster::Cluster;
use crate::error::Error;
use crate::recompute::Recomputation;

/// The trial of `run` whose probe is at work.
pub fn measured_now(run: &BenchmarkRun) -> Option<TrialId> {
    if is_finished(run) {
        return None;
    }
    let progress = run.status.as_ref()?.progress.as_ref()?;
    progress_message::measured(&progress.message)
}

/// The trial of `run` that is at work: its probe, or the keeping of its record, which comes right after.
pub fn at_work(run: &BenchmarkRun) -> Option<TrialId> {
    let recorded = || {
        let progress = run.status.as_ref()?.progress.as_ref()?;
        // `recording TRIAL`, with why it failed where it did.
        let rest = progress.message.strip_prefix("recording ")?;
        let trial = rest.split(' ').next()?;
        trial.parse().ok().filter(|_| !is_finished(run))
    };
    measured_now(run).or_else(recorded)
}

/// Records of a run, as far as they were read.
pub struct Followed {
    cluster: Cluster,
    recomputation: Option<Recomputation>,
    /// Version of each `ConfigMap` that was read.
    versions: BTreeMap<String, String>,
    /// How far the run was when they were read.
    read_at: Option<(u32, bool)>,
    read: Arc<Recorded>,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// How the trials ended.
    pub ended: BTreeMap<TrialId, Ended>,
    /// What they come to; `None` without a record.
    pub summary: Option<Summary>,
    /// Why there is nothing newer.
    pub trouble: Option<String>,
}

impl Followed {
    /// Nothing yet; `cluster` looks into the run's namespace.
    pub fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            recomputation: None,
            versions: BTreeMap::new(),
            read_at: None,
            read: Arc::default(),
        }
    }

    /// What the records of `run` say, read again where there are more of them and nothing is measured just now.
    pub async fn of(&mut self, run: &BenchmarkRun) -> Arc<Recorded> {
        let now = (completed(run), is_finished(run));
        let is_read = self.read_at == Some(now);
        if is_read || now.0 == 0 || measured_now(run).is_some() {
            return self.read.clone();
        }
        match self.read(run).await {
            Ok(recorded) => {
                self.read = Arc::new(recorded);
                self.read_at = Some(now);
            }
            Err(error) => {
                let mut recorded = Recorded::clone(&self.read);
                recorded.trouble = Some(error.to_string());
                self.read = Arc::new(recorded);
            }
        }
        self.read.clone()
    }

    async fn read(&mut self, run: &BenchmarkRun) -> Result<Recorded, Error> {
        let mut recomputation = match self.recomputation.take() {
            Some(recomputation) => recomputation,
            None => Recomputation::new(run)?,
        };
        let mut ended = BTreeMap::new();
        for seen in self.cluster.record_metadata(run).await? {
            ended.extend(store::index_of(seen.labels(), seen.annotations()));
            let (name, version) = (seen.name_any(), seen.resource_version());
            let version = version.unwrap_or_default();
            if self.versions.get(&name) != Some(&version)
                && let Some(map) = self.cluster.record_map(&name).await?
            {
                recomputation.add(&map)?;
                self.versions.insert(name, version);
            }
        }
        let summary = recomputation.summary();
        self.recomputation = Some(recomputation);
        Ok(Recorded {
            ended,
            summary: summary.ok(),
            trouble: None,
        })
    }
}

/// Trials with a record.
fn completed(run: &BenchmarkRun) -> u32 {
    let progress = run.status.as_ref().and_then(|s| s.progress.as_ref());
    progress.map_or(0, |progress| progress.completed_trials)
}
