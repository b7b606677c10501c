//! Reads what decides whether runs can be measured in a cluster, with the user's own rights.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_core::scale::{Target, TargetSeen};

use crate::check::{read, rights};
use crate::cluster::Cluster;
use crate::error::Error;
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

/// The same with the objects that runs of these specs scale. Those of the file itself need not be there yet.
pub async fn look_at_scaled(
    mut seen: ClusterSeen,
    cluster: &Cluster,
    specs: &[&BenchmarkRunSpec],
    written: &Written,
) -> Result<ClusterSeen, Error> {
    let variants = specs.iter().flat_map(|spec| &spec.variants);
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
