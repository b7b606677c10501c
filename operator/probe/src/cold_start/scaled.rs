//! Pods that an object makes once it is scaled. The time counts from the probe's own patch. Which pods these
//! are shows when they appear: those that the selector finds and whose owners lead up to the object.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout_at};
use wasmbench_api::labels;
use wasmbench_model::wire::cold_start::{ColdStep, SCALE_DOWN_SECONDS, ScaledObject};
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::sample::{Course, Pods};
use super::watch::News;
use super::{failure, unavailable};
use crate::clock::unix_nanoseconds;

/// How often to set the replicas while the object's status changes in between, and the pauses.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);
/// Kinds between an object and its pods.
const BETWEEN: [[&str; 4]; 2] = [
    ["apps", "v1", "ReplicaSet", "replicasets"],
    ["apps", "v1", "Deployment", "deployments"],
];
/// Owners that are followed.
const MOST: usize = 4;

/// An object whose scale the probe sets.
pub struct Scaler<'a> {
    object: &'a ScaledObject,
    pods: Api<Pod>,
    namespace: String,
    /// How many pods it is to make, by the probe's last word.
    replicas: u32,
    /// Whether the owner of this uid leads up to the object.
    owners: BTreeMap<String, bool>,
}

impl<'a> Scaler<'a> {
    /// The object, which makes no pods yet.
    pub fn new(pods: &Api<Pod>, namespace: &str, object: &'a ScaledObject) -> Self {
        Self {
            object,
            pods: pods.clone(),
            namespace: namespace.to_owned(),
            replicas: 0,
            owners: BTreeMap::new(),
        }
    }

    fn kind(&self, [group, version, kind, plural]: [&str; 4]) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
        Api::namespaced_with(self.pods.clone().into_client(), &self.namespace, &resource)
    }

    fn own_kind(&self) -> [&str; 4] {
        let object = self.object;
        [
            &object.group,
            &object.version,
            &object.kind,
            &object.resource,
        ]
    }

    /// Sets the replicas, unless somebody else has set them meanwhile. Returns when the request was sent, and
    /// when it was confirmed.
    async fn set(&mut self, replicas: u32) -> Result<(i64, i64), Failure> {
        let api = self.kind(self.own_kind());
        let name = &self.object.name;
        let params = PatchParams {
            field_manager: Some(labels::PROBE_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        for _ in 0..ATTEMPTS {
            let scale = api
                .get_scale(name)
                .await
                .map_err(|error| lost(name, &error))?;
            let now = scale.spec.and_then(|spec| spec.replicas);
            let now = u32::try_from(now.unwrap_or_default()).unwrap_or_default();
            let is_it = scale.metadata.uid.as_ref() == Some(&self.object.uid);
            if !is_it || now != self.replicas {
                return Err(taken_back(name));
            }
            let patch = json!({
                "metadata": { "resourceVersion": scale.metadata.resource_version },
                "spec": { "replicas": replicas },
            });
            let sent = unix_nanoseconds();
            match api.patch_scale(name, &params, &Patch::Merge(&patch)).await {
                Ok(_) => {
                    self.replicas = replicas;
                    return Ok((sent, unix_nanoseconds()));
                }
                Err(kube::Error::Api(status)) if status.is_conflict() => sleep(PAUSE).await,
                Err(error) => return Err(lost(name, &error)),
            }
        }
        Err(unavailable(format!(
            "{name} changes faster than it can be scaled"
        )))
    }

    /// Whether the owners of the pod lead up to the object.
    async fn makes(&mut self, pod: &Pod) -> Result<bool, Failure> {
        let Some(first) = controller_of(&pod.metadata) else {
            return Ok(false);
        };
        if let Some(known) = self.owners.get(&first.uid) {
            return Ok(*known);
        }
        let uid = first.uid.clone();
        let leads = self.leads_up(first).await?;
        self.owners.insert(uid, leads);
        Ok(leads)
    }

    async fn leads_up(&self, first: OwnerReference) -> Result<bool, Failure> {
        let mut owner = Some(first);
        for _ in 0..MOST {
            let Some(reference) = owner else { break };
            if reference.uid == self.object.uid {
                return Ok(true);
            }
            let mut between = BETWEEN.into_iter();
            let is_it = |kind: &[&str; 4]| {
                reference.kind == kind[2]
                    && reference.api_version == format!("{}/{}", kind[0], kind[1])
            };
            let Some(kind) = between.find(is_it) else {
                break;
            };
            let found = self.kind(kind).get_metadata_opt(&reference.name).await;
            let found = found.map_err(|error| lost(&reference.name, &error))?;
            let is_same = |meta: &ObjectMeta| meta.uid.as_ref() == Some(&reference.uid);
            let meta = found.map(|found| found.metadata).filter(is_same);
            owner = meta.as_ref().and_then(controller_of);
        }
        Ok(false)
    }

    /// Why the pod is no subject, once that is known.
    fn unfit(&self, pod: &Pod) -> Option<Failure> {
        let spec = pod.spec.as_ref()?;
        let node = spec.node_name.as_deref()?;
        let why = if node != self.object.node {
            format!(
                "it is on node {node}, and the run measures on {}: pin it with a nodeSelector in the template",
                self.object.node
            )
        } else if spec.host_network == Some(true) && !self.object.host_network {
            "it is on the node's network, which the administrator does not allow: remove hostNetwork from the template"
                .to_owned()
        } else {
            return None;
        };
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        Some(failure(
            FailureReason::SubjectAltered,
            format!("pod {name} is no subject: {why}"),
        ))
    }
}

impl Course<'_> {
    /// Has the object make the pods from index `from` on, all at once.
    pub(super) async fn scale_up(&mut self, pods: &mut Pods, from: usize) -> Result<(), Failure> {
        let all = u32::try_from(pods.timelines.len()).unwrap_or(u32::MAX);
        let Some(scaler) = &mut self.scaler else {
            return Ok(());
        };
        let set = timeout_at(pods.deadline, scaler.set(all)).await;
        let late = || unavailable("the API server did not set the replicas in time".into());
        let (sent, at) = set.map_err(|_| late())??;
        for timeline in &mut pods.timelines[from..] {
            timeline.accepted(sent, at);
        }
        Ok(())
    }

    /// Has the object make no pods, and waits until they are gone. What somebody else has scaled is left alone.
    pub(super) async fn scale_down(&mut self, pods: &mut Pods) -> Result<(), Failure> {
        let Some(scaler) = self.scaler.as_mut().filter(|scaler| scaler.replicas > 0) else {
            return Ok(());
        };
        let (sent, _) = scaler.set(0).await?;
        let mut left = vec![];
        for (index, timeline) in pods.timelines.iter_mut().enumerate() {
            // One that never appeared has nothing to go.
            if timeline.may_exist() && pods.latest[index].is_some() {
                timeline.did(ColdStep::DeleteSent, sent);
                left.push(index);
            }
        }
        let deadline = Instant::now() + Duration::from_secs(SCALE_DOWN_SECONDS.into());
        self.see_gone(pods, left, deadline).await
    }

    /// Gives a pod that the object has made to the first timeline that has none.
    pub(super) async fn adopt(&mut self, pods: &mut Pods, news: &News) -> Result<(), Failure> {
        let (Some(scaler), News::Pod(pod, _)) = (&mut self.scaler, news) else {
            return Ok(());
        };
        let name = pod.metadata.name.as_deref();
        if pods.index(name).is_none() {
            let is_going = pod.metadata.deletion_timestamp.is_some();
            if is_going || !scaler.makes(pod).await? {
                return Ok(());
            }
            let all = pods.latest.iter().zip(&pods.timelines);
            let mut free = all.map(|(latest, timeline)| latest.is_none() && timeline.may_exist());
            let Some(index) = free.position(|is_free| is_free) else {
                let name = name.unwrap_or_default();
                let message = format!(
                    "{} makes more pods than it was asked for: {name}",
                    scaler.object.name
                );
                return Err(failure(FailureReason::SubjectAltered, message));
            };
            pods.timelines[index].rename(name.unwrap_or_default().to_owned());
        }
        scaler.unfit(pod).map_or(Ok(()), Err)
    }
}

fn controller_of(meta: &ObjectMeta) -> Option<OwnerReference> {
    let mut owners = meta.owner_references.iter().flatten();
    owners.find(|owner| owner.controller == Some(true)).cloned()
}

fn taken_back(name: &str) -> Failure {
    let message = format!(
        "somebody else has set the replicas of {name}, or replaced it, while the run was using it: it is its owner's \
         again and left alone"
    );
    failure(FailureReason::TakenBack, message)
}

fn lost(name: &str, error: &kube::Error) -> Failure {
    unavailable(format!("{name} cannot be read or scaled: {error}"))
}
