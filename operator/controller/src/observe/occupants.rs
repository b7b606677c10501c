//! What other runs have on nodes. Probes are seen on every pass, because they make load; any other
//! pod only by a run whose turn it is to take a node: a claim may outlive what it stands for, and the
//! other way round.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::ListParams;
use wasmbench_api::labels;
use wasmbench_core::build::node_of;
use wasmbench_core::observed::{Occupant, RunName};

use super::convert::{end_of, observed_pod};
use super::failed;
use crate::context::Context;
use crate::error::Error;
use crate::namespaces;

/// Those of these probe Jobs that may still start a pod, and those of these pods that have not
/// ended, unless they belong to the run with this uid.
pub fn list(jobs: &[Job], pods: &[Pod], run_uid: &str) -> Vec<Occupant> {
    let may_start = |job: &&Job| end_of(job).is_none() && job.metadata.deletion_timestamp.is_none();
    let jobs = jobs.iter().filter(may_start).filter_map(|job| {
        let template = job.spec.as_ref()?.template.spec.as_ref();
        occupant("Job", &job.metadata, template)
    });
    let works = |pod: &&Pod| observed_pod(pod).is_some_and(|observed| observed.works());
    pods.iter()
        .filter(works)
        .filter_map(|pod| occupant("pod", &pod.metadata, pod.spec.as_ref()))
        .chain(jobs)
        .filter(|occupant| occupant.run.uid != run_uid)
        .collect()
}

fn occupant(kind: &str, meta: &ObjectMeta, spec: Option<&PodSpec>) -> Option<Occupant> {
    let annotation = |key| meta.annotations.as_ref()?.get(key).cloned();
    let (namespace, name) = (meta.namespace.as_deref()?, meta.name.as_deref()?);
    Some(Occupant {
        node: node_of(spec?)?.to_owned(),
        what: format!("{kind} {namespace}/{name}"),
        run: RunName {
            uid: meta.labels.as_ref()?.get(labels::RUN_UID)?.clone(),
            namespace: annotation(labels::RUN_NAMESPACE)?,
            name: annotation(labels::RUN_NAME)?,
        },
        // Known only where it matters.
        lives: false,
    })
}

/// The pods of all other runs, in any followed namespace.
pub async fn pods(context: &Context, run_uid: &str) -> Result<Vec<Occupant>, Error> {
    let params = ListParams::default().labels(labels::RUN_UID);
    let mut pods = vec![];
    for api in namespaces::with_own::<Pod>(context) {
        let found = api.list(&params).await;
        pods.extend(found.map_err(failed("pods of runs"))?.items);
    }
    Ok(list(&[], &pods, run_uid))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn meta(run_uid: &str) -> Value {
        json!({
            "name": "p", "namespace": "ops", "uid": "1", "labels": { labels::RUN_UID: run_uid },
            "annotations": { labels::RUN_NAMESPACE: "team-a", labels::RUN_NAME: "r" },
        })
    }

    fn spec() -> Value {
        let term = json!({ "matchFields": [{
            "key": "metadata.name", "operator": "In", "values": ["bench-1"],
        }] });
        let required = json!({ "nodeSelectorTerms": [term] });
        json!({
            "containers": [],
            "affinity": { "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": required,
            } },
        })
    }

    fn found(jobs: &[Value], pods: &[Value]) -> Vec<String> {
        let job = |job: &Value| serde_json::from_value::<Job>(job.clone()).unwrap();
        let pod = |pod: &Value| serde_json::from_value::<Pod>(pod.clone()).unwrap();
        let jobs: Vec<Job> = jobs.iter().map(job).collect();
        let pods: Vec<Pod> = pods.iter().map(pod).collect();
        let all = list(&jobs, &pods, "mine").into_iter();
        all.map(|occupant| format!("{} on {}", occupant.what, occupant.node))
            .collect()
    }

    #[test]
    fn jobs_and_pods_of_another_run_occupy_its_node_until_they_end() {
        let job = |uid: &str, status: Value| {
            let template = json!({ "spec": spec() });
            json!({ "metadata": meta(uid), "spec": { "template": template }, "status": status })
        };
        let ended = json!({ "conditions": [{ "type": "Complete", "status": "True" }] });
        let pod = |uid: &str, phase: &str| json!({ "metadata": meta(uid), "spec": spec(), "status": { "phase": phase } });
        for (jobs, pods, expected) in [
            (
                vec![job("other", json!({}))],
                vec![],
                vec!["Job ops/p on bench-1"],
            ),
            (vec![job("other", ended)], vec![], vec![]),
            (vec![job("mine", json!({}))], vec![], vec![]),
            (
                vec![],
                vec![pod("other", "Running")],
                vec!["pod ops/p on bench-1"],
            ),
            (vec![], vec![pod("other", "Succeeded")], vec![]),
            (vec![], vec![pod("mine", "Running")], vec![]),
        ] {
            assert_eq!(found(&jobs, &pods), expected, "{jobs:?} {pods:?}");
        }
    }
}
