//! The objects that the operator creates: one file per kind, each a pure function from a validated
//! run. The snapshots in `tests/all/snapshots` show every one of them.

pub mod bodies;
pub mod cold_start_job;
pub mod config_map;
pub mod density_job;
pub mod leader;
pub mod lease;
pub mod names;
pub mod payload;
mod pod;
pub mod probe_job;
pub mod review;
pub mod scout_job;
pub mod subject_pod;
pub mod upstream_pod;

pub use pod::node_of;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use wasmbench_api::{GROUP, VERSION, labels};
use wasmbench_model::wire::record::TrialId;

use crate::validate::ValidatedRun;

/// Version of the operator, set on every object.
pub const OPERATOR_VERSION: &str = wasmbench_model::version::VERSION;

/// The label selector that finds every object of a run, in any namespace. Its labels are a subset
/// of those that objects carry.
pub fn selector(run_uid: &str) -> String {
    format!("{}={run_uid}", labels::RUN_UID)
}

/// The same for one kind of object.
pub fn component_selector(run_uid: &str, component: &str) -> String {
    format!("{},{}={component}", selector(run_uid), labels::COMPONENT)
}

/// Metadata of an object in the run's namespace: the run owns it, so it is deleted along with the
/// run.
fn owned_meta(run: &ValidatedRun, name: String, component: &str) -> ObjectMeta {
    ObjectMeta {
        owner_references: Some(vec![OwnerReference {
            api_version: format!("{GROUP}/{VERSION}"),
            kind: "BenchmarkRun".into(),
            name: run.name.clone(),
            uid: run.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(false),
        }]),
        namespace: Some(run.namespace.clone()),
        ..meta(run, name, component)
    }
}

/// Metadata of an object in the operator's namespace. Ownership cannot cross namespaces, so the
/// operator removes it when the run is gone.
fn foreign_meta(run: &ValidatedRun, name: String, component: &str, namespace: &str) -> ObjectMeta {
    ObjectMeta {
        namespace: Some(namespace.to_owned()),
        ..meta(run, name, component)
    }
}

fn meta(run: &ValidatedRun, name: String, component: &str) -> ObjectMeta {
    let labels = [
        (labels::NAME, labels::APP.to_owned()),
        (labels::INSTANCE, names::label_value(&run.name)),
        (labels::COMPONENT, component.to_owned()),
        (labels::PART_OF, labels::APP.to_owned()),
        (labels::MANAGED_BY, labels::OPERATOR.to_owned()),
        (labels::RUN_UID, run.uid.clone()),
    ];
    let annotations = [
        (labels::RUN_NAMESPACE, run.namespace.clone()),
        (labels::RUN_NAME, run.name.clone()),
        (labels::OPERATOR_VERSION, OPERATOR_VERSION.to_owned()),
    ];
    ObjectMeta {
        name: Some(name),
        labels: Some(owned_map(labels)),
        annotations: Some(owned_map(annotations)),
        ..ObjectMeta::default()
    }
}

/// Adds the labels and the annotation that identify a trial.
fn with_trial(mut meta: ObjectMeta, trial: &TrialId) -> ObjectMeta {
    meta.labels.get_or_insert_default().extend(owned_map([
        (labels::VARIANT, trial.cell.variant.clone()),
        (labels::WORKLOAD, trial.cell.workload.clone()),
        (labels::POINT, trial.cell.point.to_string()),
        (labels::BLOCK, trial.block.to_string()),
    ]));
    meta.annotations
        .get_or_insert_default()
        .insert(labels::TRIAL.to_owned(), trial.to_string());
    meta
}

fn owned_map<const N: usize>(pairs: [(&str, String); N]) -> BTreeMap<String, String> {
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
