//! The `ConfigMap` with the bodies that a probe sends, a copy of what is in the run's namespace, and
//! its mount. The probe's Job owns it and has the same name, so both go together, and no probe can
//! mount another's.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, ConfigMapVolumeSource, PodSpec, Volume, VolumeMount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use wasmbench_api::labels;
use wasmbench_api::run::{BodyFrom, Workload};
use wasmbench_model::wire::sent::BODIES_MOUNT;

/// Name of the volume.
const VOLUME: &str = "bodies";
/// Most bytes of all bodies that a probe mounts: etcd stores no more in one object.
pub const MOST_BYTES: usize = 1_000_000;

/// The bodies that `workloads` send from `ConfigMaps`, by the workload's name.
pub fn stored<'a>(workloads: &[&'a Workload]) -> BTreeMap<&'a str, &'a BodyFrom> {
    let all = workloads.iter().copied();
    let stored = all.filter_map(|workload| {
        let from = workload.body_from.as_ref()?;
        Some((workload.name.as_str(), from))
    });
    stored.collect()
}

/// The pod of the Job called `job`, with the mount that `workloads` need.
pub(super) fn mounted(mut spec: PodSpec, job: &str, workloads: &[&Workload]) -> PodSpec {
    if stored(workloads).is_empty() {
        return spec;
    }
    spec.volumes.get_or_insert_default().push(Volume {
        name: VOLUME.into(),
        config_map: Some(ConfigMapVolumeSource {
            name: job.to_owned(),
            ..ConfigMapVolumeSource::default()
        }),
        ..Volume::default()
    });
    for container in &mut spec.containers {
        let mounts = container.volume_mounts.get_or_insert_default();
        mounts.push(VolumeMount {
            name: VOLUME.into(),
            mount_path: BODIES_MOUNT.into(),
            read_only: Some(true),
            ..VolumeMount::default()
        });
    }
    spec
}

/// The same pod for a Job of another name.
pub(super) fn renamed(spec: &mut PodSpec, job: &str) {
    let volumes = spec.volumes.iter_mut().flatten();
    for source in volumes.filter_map(|volume| volume.config_map.as_mut()) {
        job.clone_into(&mut source.name);
    }
}

/// The `ConfigMap` of the Job with this metadata, as it was created, with bodies by the workload's
/// name.
pub fn config_map(job: &ObjectMeta, bodies: BTreeMap<String, Vec<u8>>) -> ConfigMap {
    let component = (
        labels::COMPONENT.to_owned(),
        labels::COMPONENT_BODIES.to_owned(),
    );
    let mut labels = job.labels.clone().unwrap_or_default();
    labels.extend([component]);
    let owner = OwnerReference {
        api_version: "batch/v1".into(),
        kind: "Job".into(),
        name: job.name.clone().unwrap_or_default(),
        uid: job.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    };
    let bytes = |(name, bytes)| (name, ByteString(bytes));
    ConfigMap {
        metadata: ObjectMeta {
            name: job.name.clone(),
            namespace: job.namespace.clone(),
            labels: Some(labels),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        binary_data: Some(bodies.into_iter().map(bytes).collect()),
        ..ConfigMap::default()
    }
}
