//! What is left in the cluster of a run.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use wasmbench_core::build::selector;

use crate::operator_namespace;

/// Pods and Jobs of the run with this uid, in any namespace, and claims that it holds.
pub async fn left_of(client: &Client, run_uid: &str) -> Vec<String> {
    let params = ListParams::default().labels(&selector(run_uid));
    let pods: Api<Pod> = Api::all(client.clone());
    let jobs: Api<Job> = Api::all(client.clone());
    let leases: Api<Lease> = Api::namespaced(client.clone(), &operator_namespace());
    let all = ListParams::default();
    let (pods, jobs, leases) =
        futures::try_join!(pods.list(&params), jobs.list(&params), leases.list(&all))
            .expect("the cluster answers");
    let pods = pods
        .items
        .iter()
        .map(|pod| format!("pod {}", pod.name_any()));
    let jobs = jobs
        .items
        .iter()
        .map(|job| format!("job {}", job.name_any()));
    let held = leases.items.iter().filter(|lease| {
        lease
            .spec
            .as_ref()
            .and_then(|spec| spec.holder_identity.as_deref())
            == Some(run_uid)
    });
    let held = held.map(|lease| format!("lease {}", lease.name_any()));
    pods.chain(jobs).chain(held).collect()
}
