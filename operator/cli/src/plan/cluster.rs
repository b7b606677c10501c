//! Reads what decides whether runs can be measured in a cluster, with the user's own rights.

use std::collections::{BTreeMap, BTreeSet};

use kube::ResourceExt as _;
use serde_json::Value;
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_core::scale::Target;

use crate::assumed;
use crate::check::observed::{Answer, ObservedObject};
use crate::check::{read, rights};
use crate::cluster::Cluster;
use crate::error::Error;
use crate::plan::earlier::{Earlier, earlier};
use crate::plan::obstacles::{ObservedCluster, Scalable, as_written};

/// Objects of a file by kind and name, as they will be.
pub type Written = BTreeMap<(String, String), ObservedObject>;

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
    known: BTreeMap<String, (Vec<Earlier>, ObservedCluster)>,
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
    pub async fn read(
        &mut self,
        run: &BenchmarkRun,
    ) -> Result<(Vec<Earlier>, ObservedCluster), Error> {
        let namespace = run.namespace();
        let namespace = namespace.unwrap_or_else(|| self.cluster.namespace().to_owned());
        let cluster = self.cluster.at(&namespace);
        let (earlier, observed) = if let Some(known) = self.known.get(&namespace) {
            known.clone()
        } else {
            let runs = cluster.all_runs(false).await?;
            let read = (earlier(&runs), look(&cluster).await?);
            self.known.insert(namespace, read.clone());
            read
        };
        let observed = look_at_scaled(observed, &cluster, &run.spec, &self.written).await?;
        Ok((earlier, observed))
    }
}

/// The cluster, but for objects that runs scale.
pub async fn look(cluster: &Cluster) -> Result<ObservedCluster, Error> {
    let observed = read::read(cluster, None).await?;
    let cold_starts = match &observed.config {
        Ok(config) => rights::cold_starts(cluster, config).await?,
        Err(why) => Err(why.clone()),
    };
    Ok(ObservedCluster {
        observed,
        cold_starts,
        quotas: read::quotas(cluster).await?,
        scaled: BTreeMap::new(),
    })
}

/// The same with the objects that a run of this spec scales. Those of the file itself need not be there yet.
pub async fn look_at_scaled(
    mut observed: ObservedCluster,
    cluster: &Cluster,
    spec: &BenchmarkRunSpec,
    written: &Written,
) -> Result<ObservedCluster, Error> {
    let variants = spec.variants.iter();
    let scales = variants.filter_map(|variant| variant.scale.as_ref());
    let targets: BTreeSet<Target> = scales.filter_map(|scale| observed.target(scale)).collect();
    for target in targets {
        let may_scale = rights::may_scale(cluster, &target).await?;
        let mut object = read::target(cluster, &target).await?;
        let of_file = of_file(&target, written);
        let is_to_apply = of_file.is_some() && is_missing(&object);
        if let Some(of_file) = of_file.filter(|_| is_to_apply) {
            object = Ok(of_file.clone());
        }
        let scalable = Scalable {
            object,
            is_to_apply,
            may_scale,
        };
        observed.scaled.insert(target, scalable);
    }
    Ok(observed)
}

/// The object as the file has it.
fn of_file<'a>(target: &Target, written: &'a Written) -> Option<&'a ObservedObject> {
    written.get(&(target.kind.clone(), target.name.clone()))
}

fn is_missing(object: &Answer<ObservedObject>) -> bool {
    object
        .as_ref()
        .is_ok_and(|found| found.target.uid.is_none())
}

/// An object that a run of this spec scales and that is in its file alone.
pub async fn not_applied(
    cluster: &Cluster,
    spec: &BenchmarkRunSpec,
    written: &Written,
) -> Result<Option<Target>, Error> {
    // A kind that only the administrator has allowed is not known here.
    let allowed = assumed::config().scale;
    let scales = spec.variants.iter();
    let scales = scales.filter_map(|variant| allowed.target(variant.scale.as_ref()?));
    for target in scales {
        let is_written = of_file(&target, written).is_some();
        if is_written && is_missing(&read::target(cluster, &target).await?) {
            return Ok(Some(target));
        }
    }
    Ok(None)
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
        let (_, observed) = Box::pin(namespaces.read(&run)).await.unwrap();
        assert_eq!(observed.observed.namespace, "team-a");
        let calls = log.lock().unwrap().clone();
        let is_there = |part: &str| calls.iter().any(|call| call.contains(part));
        assert!(is_there("/namespaces/team-a/resourcequotas"), "{calls:?}");
        assert!(!is_there("/namespaces/bench"), "{calls:?}");
        Box::pin(namespaces.read(&run)).await.unwrap();
        assert_eq!(log.lock().unwrap().len(), calls.len(), "it is read once");
        run.metadata.namespace = None;
        let (_, observed) = Box::pin(namespaces.read(&run)).await.unwrap();
        assert_eq!(observed.observed.namespace, "bench");
    }

    #[tokio::test]
    async fn a_copy_in_the_file_alone_counts_and_is_to_be_applied() {
        let answer = |path: &str| {
            if path.contains("/deployments/") {
                mock::not_found()
            } else {
                mock::nothing()
            }
        };
        let (cluster, _) = mock::cluster(answer);
        let spec = json!({
            "variants": [{"name": "shop", "scale": {"resource": "deployments", "name": "shop-bench"}}],
            "workloads": [{"name": "hello"}], "sweeps": {"warmLatency": {}},
        });
        let run = BenchmarkRun::new("own", serde_json::from_value(spec).unwrap());
        let written = written(&[copy()]);
        let mut namespaces = Namespaces::new(cluster, written);
        let (_, observed) = Box::pin(namespaces.read(&run)).await.unwrap();
        let found = observed.scaled.values().next().unwrap();
        assert!(found.is_to_apply, "{found:?}");
        let object = found.object.as_ref().unwrap();
        assert!(object.target.is_offered, "{found:?}");
    }

    fn copy() -> Value {
        json!({
            "kind": "Deployment",
            "metadata": {"name": "shop-bench", "annotations": {"wasmbench.dev/offered": "true"}},
            "spec": {"replicas": 0},
        })
    }

    #[test]
    fn the_objects_of_a_file_are_found_by_kind_and_name() {
        let written = written(&[copy(), json!({"kind": "BenchmarkRun", "metadata": {}})]);
        let found = &written[&("Deployment".to_owned(), "shop-bench".to_owned())].target;
        assert!(found.is_offered && found.replicas == 0, "{found:?}");
        assert_eq!(written.len(), 1);
    }
}
