//! The `ConfigMaps` that hold records and the report. Their contents come from [`wasmbench_model::store`] and
//! `wasmbench-results`.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource as _, ResourceExt as _};
use wasmbench_api::{BenchmarkSchedule, labels};
use wasmbench_model::version;
use wasmbench_model::wire::record::Cell;

use crate::build::{names, owned_map, owned_meta};
use crate::validate::ValidatedRun;

/// An empty chunk for records of the cell's variant and workload.
pub fn records(run: &ValidatedRun, cell: &Cell, chunk: u32, node: &str) -> ConfigMap {
    let name = names::records(run, cell, chunk);
    let mut metadata = owned_meta(run, name, labels::COMPONENT_RECORDS);
    metadata.labels.get_or_insert_default().extend(owned_map([
        (labels::VARIANT, cell.variant.clone()),
        (labels::WORKLOAD, cell.workload.clone()),
    ]));
    metadata
        .annotations
        .get_or_insert_default()
        .insert(labels::NODE.into(), node.to_owned());
    ConfigMap {
        metadata,
        ..ConfigMap::default()
    }
}

/// The report with its files, computed by an operator of this build.
pub fn report(
    run: &ValidatedRun,
    files: BTreeMap<String, String>,
    build: Option<&str>,
) -> ConfigMap {
    let mut metadata = owned_meta(run, names::report(&run.name), labels::COMPONENT_REPORT);
    if let Some(tag) = version::tag(build) {
        let annotations = metadata.annotations.get_or_insert_default();
        annotations.insert(labels::OPERATOR_BUILD.into(), tag.to_owned());
    }
    ConfigMap {
        metadata,
        data: Some(files),
        ..ConfigMap::default()
    }
}

/// The history of a schedule, which is deleted along with it.
pub fn history(schedule: &BenchmarkSchedule, key: &str, bytes: Vec<u8>) -> ConfigMap {
    let name = schedule.name_any();
    let labels = [
        (labels::NAME, labels::APP.to_owned()),
        (labels::COMPONENT, labels::COMPONENT_HISTORY.to_owned()),
        (labels::PART_OF, labels::APP.to_owned()),
        (labels::MANAGED_BY, labels::OPERATOR.to_owned()),
        (labels::SCHEDULE, name.clone()),
        (labels::SCHEDULE_UID, schedule.uid().unwrap_or_default()),
    ];
    let metadata = ObjectMeta {
        name: Some(names::history(&name)),
        namespace: schedule.namespace(),
        labels: Some(owned_map(labels)),
        owner_references: schedule.controller_owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    ConfigMap {
        metadata,
        binary_data: Some([(key.to_owned(), ByteString(bytes))].into()),
        ..ConfigMap::default()
    }
}
