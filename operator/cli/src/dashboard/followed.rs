//! The results of the records of one run so far. Only new records are read, and only between timed
//! windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::ResourceExt;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::status::TrialPhase;
use wasmbench_model::store::{self, Ended};
use wasmbench_model::wire::record::TrialId;
use wasmbench_results::summary::Summary;

use crate::cluster::Cluster;
use crate::error::Error;
use crate::recompute::Recomputation;

/// The trial of `run` whose measurement has begun and has no record yet.
pub fn begun(run: &BenchmarkRun) -> Option<TrialId> {
    match doing(run)? {
        (trial, TrialPhase::Measuring | TrialPhase::Recording) => Some(trial),
        (_, TrialPhase::Preparing) => None,
    }
}

/// The trial of an unfinished run, and what happens to it.
fn doing(run: &BenchmarkRun) -> Option<(TrialId, TrialPhase)> {
    let progress = run.status.as_ref()?.progress.as_ref()?;
    let trial = progress.trial.as_ref()?.parse().ok()?;
    (!run.is_finished()).then_some((trial, progress.phase?))
}

/// Whether a probe is at work.
fn is_measuring(run: &BenchmarkRun) -> bool {
    doing(run).is_some_and(|(_, phase)| phase == TrialPhase::Measuring)
}

/// The records of a run that have been read so far.
pub struct Followed {
    cluster: Cluster,
    recomputation: Option<Recomputation>,
    /// The version of each `ConfigMap` when it was read.
    versions: BTreeMap<String, String>,
    /// The run's completed trials when they were read, and whether it was finished.
    read_at: Option<(u32, bool)>,
    read: Arc<Recorded>,
}

/// The results of the records.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// How the trials ended.
    pub ended: BTreeMap<TrialId, Ended>,
    /// Their summary; `None` without a record.
    pub summary: Option<Summary>,
    /// Why the latest read failed; `None` if it did not.
    pub trouble: Option<String>,
}

impl Followed {
    /// Nothing read yet; `cluster` is set to the run's namespace.
    pub fn new(cluster: Cluster) -> Self {
        Self {
            cluster,
            recomputation: None,
            versions: BTreeMap::new(),
            read_at: None,
            read: Arc::default(),
        }
    }

    /// The results of the records of `run`. Reads again if there are more records and nothing is being
    /// measured right now.
    pub async fn recorded(&mut self, run: &BenchmarkRun) -> Arc<Recorded> {
        let now = (completed(run), run.is_finished());
        let is_read = self.read_at == Some(now);
        if is_read || now.0 == 0 || is_measuring(run) {
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
        let recomputation = match &mut self.recomputation {
            Some(recomputation) => recomputation,
            // Kept even if a later read fails, as `versions` lists what was already taken.
            none => none.insert(Recomputation::new(run)?),
        };
        let mut ended = BTreeMap::new();
        for observed in self.cluster.record_metadata(run).await? {
            ended.extend(store::index_of(observed.labels(), observed.annotations()));
            let (name, version) = (observed.name_any(), observed.resource_version());
            let version = version.unwrap_or_default();
            if self.versions.get(&name) != Some(&version)
                && let Some(map) = self.cluster.record_map(&name).await?
            {
                recomputation.add(&map)?;
                self.versions.insert(name, version);
            }
        }
        Ok(Recorded {
            ended,
            summary: recomputation.summary().ok(),
            trouble: None,
        })
    }
}

/// The number of trials with a record.
fn completed(run: &BenchmarkRun) -> u32 {
    let progress = run.status.as_ref().and_then(|s| s.progress.as_ref());
    progress.map_or(0, |progress| progress.completed_trials)
}

#[cfg(test)]
mod tests {
    use axum::http::{Request, Response};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::Client;
    use kube::client::Body;
    use serde_json::{Value, json};
    use tower_test::mock;
    use wasmbench_api::labels;
    use wasmbench_model::wire::record::Record;

    use super::*;

    fn run() -> BenchmarkRun {
        let run = json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
            "metadata": {"name": "fast", "namespace": "bench", "uid": "u"},
            "spec": {
                "variants": [{"name": "native", "preset": "native"}, {"name": "v8", "preset": "v8"}],
                "workloads": [{"name": "hello"}],
                "sweeps": {"throughput": {"connections": [4]}},
            },
            "status": {
                "seed": 1,
                "progress": {"completedTrials": 2, "totalTrials": 20, "text": "2/20", "message": ""},
            },
        });
        serde_json::from_value(run).unwrap()
    }

    /// The `ConfigMap` of a variant, with the record of its first trial, which failed.
    fn records(variant: &str) -> Value {
        let record: Record = serde_json::from_value(json!({
            "schema": "wasmbench.dev/record/v2", "runUid": "u", "position": 0,
            "trial": {
                "variant": variant, "workload": "hello", "sweep": "throughput", "connections": 4, "block": 1,
            },
            "outcome": "failed", "reason": "SubjectCrashed", "message": "exit code 1",
            "operatorVersion": "0.1.0", "recordedAt": "2026-01-01T00:00:00Z",
        }))
        .unwrap();
        let mut map = ConfigMap::default();
        map.metadata.name = Some(variant.to_owned());
        map.metadata.resource_version = Some("1".to_owned());
        let own = [(labels::VARIANT, variant), (labels::WORKLOAD, "hello")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        map.metadata.labels = Some(own.into());
        let (trial, ended) = (&record.trial, Ended::from(&record.outcome));
        let bytes = store::encode(&record).unwrap();
        store::add(&mut map, &trial.cell, trial, ended, bytes);
        serde_json::to_value(map).unwrap()
    }

    /// A cluster with the records of two variants. The first read of the second one's `ConfigMap`
    /// fails.
    fn cluster() -> Cluster {
        let (service, mut handle) = mock::pair::<Request<Body>, Response<Body>>();
        tokio::spawn(async move {
            let mut refused = false;
            while let Some((request, send)) = handle.next_request().await {
                let (native, v8) = (records("native"), records("v8"));
                let (status, answer) = match request.uri().path().rsplit('/').next() {
                    Some("native") => (200, native),
                    Some("v8") if !std::mem::replace(&mut refused, true) => (500, json!({})),
                    Some("v8") => (200, v8),
                    _ => {
                        let items = [native, v8].map(|map| json!({"metadata": map["metadata"]}));
                        let list = json!({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": items});
                        (200, list)
                    }
                };
                let body = Body::from(serde_json::to_vec(&answer).unwrap());
                let response = Response::builder().status(status).body(body);
                send.send_response(response.unwrap());
            }
        });
        Cluster::new(Client::new(service, "bench"), "bench".into())
    }

    #[tokio::test]
    async fn a_read_that_breaks_off_is_made_again_and_loses_no_record() {
        let mut followed = Followed::new(cluster());
        let broken = followed.recorded(&run()).await;
        assert!(broken.trouble.is_some(), "{broken:?}");
        let whole = followed.recorded(&run()).await;
        assert_eq!(whole.trouble, None);
        let trials = whole.summary.as_ref().unwrap().trials;
        assert_eq!((whole.ended.len(), trials.failed), (2, 2), "{trials:?}");
    }
}
