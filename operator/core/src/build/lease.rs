//! The claim on a node: one Lease per node in the operator's namespace, held by a run's uid. It
//! carries no duration and is not renewed: whether its holder still counts follows from the run
//! itself.

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use wasmbench_api::labels;

use crate::build::{foreign_meta, names};
use crate::observed::ObservedLease;
use crate::validate::ValidatedRun;

/// `run`'s claim on `node`. A claim that replaces an `existing` one carries its resource version,
/// so that only one of two contenders succeeds.
pub fn claim(
    run: &ValidatedRun,
    node: &str,
    existing: Option<&ObservedLease>,
    namespace: &str,
    now: Timestamp,
) -> Lease {
    let name = names::node_lease(node);
    let mut metadata = foreign_meta(run, name, labels::COMPONENT_NODE_LEASE, namespace);
    metadata
        .annotations
        .get_or_insert_default()
        .insert(labels::NODE.into(), node.to_owned());
    metadata.resource_version = existing.and_then(|lease| lease.resource_version.clone());
    Lease {
        metadata,
        spec: Some(LeaseSpec {
            holder_identity: Some(run.uid.clone()),
            acquire_time: Some(MicroTime(now)),
            ..LeaseSpec::default()
        }),
    }
}
