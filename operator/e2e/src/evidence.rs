//! What a run leaves in the cluster.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use wasmbench_core::build::leader::holder;
use wasmbench_core::build::selector;

use crate::{answered, operator_namespace};

/// Pods and Jobs of the run with this uid, in any namespace, and the claims that it holds.
pub async fn left_of(client: &Client, run_uid: &str) -> Vec<String> {
    let objects = objects_of(client, run_uid).await.into_iter();
    let mut left: Vec<String> = objects.map(|(name, _)| name).collect();
    left.extend(claims_of(client, run_uid).await);
    left
}

/// Those of the run's pods and Jobs that have not been deleted yet. Deleted ones may still be
/// terminating.
pub async fn undeleted_of(client: &Client, run_uid: &str) -> Vec<String> {
    let objects = objects_of(client, run_uid).await.into_iter();
    let kept = objects.filter(|(_, is_deleted)| !is_deleted);
    kept.map(|(name, _)| name).collect()
}

/// Pods and Jobs of the run, and whether they were deleted.
async fn objects_of(client: &Client, run_uid: &str) -> Vec<(String, bool)> {
    let params = ListParams::default().labels(&selector(run_uid));
    let pods: Api<Pod> = Api::all(client.clone());
    let jobs: Api<Job> = Api::all(client.clone());
    let (pods, jobs) = answered("pods and Jobs are listed", || async {
        futures::try_join!(pods.list(&params), jobs.list(&params))
    })
    .await;
    let of_pods = pods.items.iter().map(|pod| described("pod", pod));
    let of_jobs = jobs.items.iter().map(|job| described("job", job));
    of_pods.chain(of_jobs).collect()
}

fn described<K: ResourceExt>(kind: &str, object: &K) -> (String, bool) {
    let is_deleted = object.meta().deletion_timestamp.is_some();
    (format!("{kind} {}", object.name_any()), is_deleted)
}

/// Claims on nodes that the run holds.
async fn claims_of(client: &Client, run_uid: &str) -> Vec<String> {
    let api: Api<Lease> = Api::namespaced(client.clone(), &operator_namespace());
    let all = ListParams::default();
    let leases = answered("claims are listed", || api.list(&all)).await;
    let held = leases.items.iter();
    let held = held.filter(|lease| holder(lease) == Some(run_uid));
    held.map(|lease| format!("lease {}", lease.name_any()))
        .collect()
}
