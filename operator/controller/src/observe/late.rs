//! Probes that an operator launched although this one had taken over from it.

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt;
use wasmbench_api::labels;
use wasmbench_core::build::node_of;
use wasmbench_core::observed::{LateProbe, ObservedLease};
use wasmbench_core::plan::is_to_remove;

use super::claims;
use crate::context::Context;
use crate::error::Error;

/// Whether the probe of this Job is such a one.
pub fn is_late(context: &Context, job: &Job) -> bool {
    let created = job.creation_timestamp();
    let created = created.map_or(Timestamp::MIN, |time| time.0);
    let epoch = context.leader.epoch();
    epoch.is_some_and(|epoch| epoch.is_late(job.labels(), created))
}

/// Late probes, and the others.
pub fn split(context: &Context, jobs: Vec<Job>) -> (Vec<Job>, Vec<Job>) {
    jobs.into_iter().partition(|job| is_late(context, job))
}

/// Those of these late probes that the run with this uid removes, whose claims are the `own` ones.
pub async fn to_remove(
    context: &Context,
    late: &[Job],
    run_uid: &str,
    own: &[ObservedLease],
) -> Result<Vec<LateProbe>, Error> {
    let mut observed: Vec<LateProbe> = late.iter().filter_map(late_probe).collect();
    let holds = |node: &str| {
        let is_held = |lease: &ObservedLease| lease.holder.as_deref() == Some(run_uid);
        own.iter().any(|lease| lease.node == node && is_held(lease))
    };
    // Who holds the node of its own probe is read, not taken from a watch, which may be behind: the probe is
    // the evidence of what it disturbed.
    let is_elsewhere = |probe: &LateProbe| probe.run_uid == run_uid && !holds(&probe.node);
    let leases = if observed.iter().any(is_elsewhere) {
        let all = format!("{}={}", labels::COMPONENT, labels::COMPONENT_NODE_LEASE);
        claims(context, &all).await?
    } else {
        own.to_vec()
    };
    observed.retain(|probe| is_to_remove(probe, run_uid, &leases));
    Ok(observed)
}

fn late_probe(job: &Job) -> Option<LateProbe> {
    Some(LateProbe {
        node: node_of_job(job)?.to_owned(),
        job: job.name_any(),
        uid: job.uid()?,
        run_uid: job.labels().get(labels::RUN_UID)?.clone(),
        deleting: job.metadata.deletion_timestamp.is_some(),
    })
}

/// The node on which the Job's pod runs, or will run.
pub fn node_of_job(job: &Job) -> Option<&str> {
    let template = &job.spec.as_ref()?.template;
    node_of(template.spec.as_ref()?)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use serde_json::json;
    use wasmbench_model::images::Images;

    use super::*;

    /// A context whose API server has one claim: the run `holder` has the node `bench-1`. Also how often it
    /// was queried.
    fn server() -> (Arc<Context>, Arc<AtomicUsize>) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let service = tower::service_fn(move |_: Request<Body>| {
            counted.fetch_add(1, Ordering::Relaxed);
            let claim = json!({
                "metadata": { "name": "claim", "annotations": { labels::NODE: "bench-1" } },
                "spec": { "holderIdentity": "holder" },
            });
            let list = json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "LeaseList", "metadata": {},
                "items": [claim],
            });
            let body = Body::from(serde_json::to_vec(&list).unwrap());
            async move { Ok::<_, Infallible>(Response::new(body)) }
        });
        let config = json!({
            "operatorNamespace": "ops", "coldStartServiceAccount": "cold",
            "images": Images::in_registry("example.com", "1"),
        });
        let config = serde_json::from_value(config).unwrap();
        (Context::new(Client::new(service, "default"), config), calls)
    }

    #[tokio::test]
    async fn who_holds_a_node_is_asked_only_about_a_probe_of_the_run_itself() {
        let job = json!({
            "metadata": { "name": "late", "uid": "1", "labels": { labels::RUN_UID: "own" } },
            "spec": { "template": { "spec": { "containers": [], "nodeName": "bench-1" } } },
        });
        let late: Vec<Job> = vec![serde_json::from_value(job).unwrap()];
        let claim = ObservedLease {
            node: "bench-1".into(),
            holder: Some("holder".into()),
            resource_version: None,
            scaled: None,
        };
        for (run_uid, own, removed, queries) in [
            ("own", vec![], 0, 1),
            ("holder", vec![claim], 1, 0),
            ("third", vec![], 0, 0),
        ] {
            let (context, calls) = server();
            let found = to_remove(&context, &late, run_uid, &own).await.unwrap();
            let calls = calls.load(Ordering::Relaxed);
            assert_eq!((found.len(), calls), (removed, queries), "{run_uid}");
        }
    }
}
