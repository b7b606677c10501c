//! Reads what decides whether runs can be measured in a cluster, with the user's own rights.

use std::collections::{BTreeMap, BTreeSet};

use kube::ResourceExt as _;
use serde_json::Value;
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_core::scale::{Target, TargetSeen};

use crate::check::{read, rights};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::plan::earlier::{Earlier, earlier};
use crate::plan::obstacles::{ClusterSeen, Scalable, as_written};

/// Objects of a file by kind and name, as they will be.
pub type Written = BTreeMap<(String, String), TargetSeen>;

/// The objects of a file that runs could scale.
pub fn written(objects: &[Value]) -> Written {
    let named = |object: &Value| {
        let kind = object["kind"].as_str()?.to_owned();
        let name = object["metadata"]["name"].as_str()?.to_owned();
        Some(((kind, name), as_written(object)))
    };
    objects.iter().filter_map(named).collect()
}

/// A cluster, of which each namespace is read once.
pub struct Namespaces {
    cluster: Cluster,
    written: Written,
    known: BTreeMap<String, (Vec<Earlier>, ClusterSeen)>,
}

impl Namespaces {
    /// Those of this cluster, for a file with these objects.
    pub fn new(cluster: Cluster, written: Written) -> Self {
        Self {
            cluster,
            written,
            known: BTreeMap::new(),
        }
    }

    /// The earlier runs of the namespace that `run` goes to, and what the user may see there.
    pub async fn read(&mut self, run: &BenchmarkRun) -> Result<(Vec<Earlier>, ClusterSeen), Error> {
        let namespace = run.namespace();
        let namespace = namespace.unwrap_or_else(|| self.cluster.namespace().to_owned());
        let cluster = self.cluster.at(&namespace);
        let (earlier, seen) = if let Some(known) = self.known.get(&namespace) {
            known.clone()
        } else {
            let runs = cluster.all_runs(false).await?;
            let read = (earlier(&runs), look(&cluster).await?);
            self.known.insert(namespace, read.clone());
            read
        };
        let seen = look_at_scaled(seen, &cluster, &run.spec, &self.written).await?;
        Ok((earlier, seen))
    }
}

/// The cluster, but for objects that runs scale.
pub async fn look(cluster: &Cluster) -> Result<ClusterSeen, Error> {
    let seen = read::read(cluster, None).await?;
    let cold_starts = match &seen.config {
        Ok(config) => rights::cold_starts(cluster, config).await?,
        Err(why) => Err(why.clone()),
    };
    Ok(ClusterSeen {
        seen,
        cold_starts,
        quotas: read::quotas(cluster).await?,
        scaled: BTreeMap::new(),
    })
}

/// The same with the objects that a run of this spec scales. Those of the file itself need not be there yet.
pub async fn look_at_scaled(
    mut seen: ClusterSeen,
    cluster: &Cluster,
    spec: &BenchmarkRunSpec,
    written: &Written,
) -> Result<ClusterSeen, Error> {
    let variants = spec.variants.iter();
    let scales = variants.filter_map(|variant| variant.scale.as_ref());
    let targets: BTreeSet<Target> = scales.filter_map(|scale| seen.target(scale)).collect();
    for target in targets {
        let may_scale = rights::may_scale(cluster, &target).await?;
        let object = match written.get(&(target.kind.clone(), target.name.clone())) {
            Some(written) => Ok(written.clone()),
            None => read::target(cluster, &target).await?,
        };
        seen.scaled.insert(target, Scalable { object, may_scale });
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mock;

    #[tokio::test]
    async fn each_run_is_planned_for_its_own_namespace() {
        let (cluster, log) = mock::cluster(|_| mock::nothing());
        let spec = json!({
            "variants": [{"name": "native", "preset": "native"}], "workloads": [{"name": "hello"}],
            "sweeps": {"warmLatency": {}},
        });
        let mut run = BenchmarkRun::new("own", serde_json::from_value(spec).unwrap());
        run.metadata.namespace = Some("team-a".to_owned());
        let mut namespaces = Namespaces::new(cluster, Written::new());
        let (_, seen) = namespaces.read(&run).await.unwrap();
        assert_eq!(seen.seen.namespace, "team-a");
        let calls = log.lock().unwrap().clone();
        let is_there = |part: &str| calls.iter().any(|call| call.contains(part));
        assert!(is_there("/namespaces/team-a/resourcequotas"), "{calls:?}");
        assert!(!is_there("/namespaces/bench"), "{calls:?}");
        namespaces.read(&run).await.unwrap();
        assert_eq!(log.lock().unwrap().len(), calls.len(), "it is read once");
        run.metadata.namespace = None;
        let (_, seen) = namespaces.read(&run).await.unwrap();
        assert_eq!(seen.seen.namespace, "bench");
    }

    #[test]
    fn a_copy_in_the_file_counts_as_if_it_were_there() {
        let copy = json!({
            "kind": "Deployment",
            "metadata": {"name": "shop-bench", "annotations": {"wasmbench.dev/offered": "true"}},
            "spec": {"replicas": 0},
        });
        let written = written(&[copy, json!({"kind": "BenchmarkRun", "metadata": {}})]);
        let found = &written[&("Deployment".to_owned(), "shop-bench".to_owned())];
        assert!(found.is_offered && found.replicas == 0, "{found:?}");
        assert_eq!(written.len(), 1);
    }
}
