//! An object that is there already and whose scale the probe sets: its replicas, and which pods are its own,
//! namely those whose owners lead up to it.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use serde_json::json;
use tokio::time::sleep;
use wasmbench_api::labels;
use wasmbench_api::owner::{MOST_OWNERS, controller_of, is_offered, kind_between};
use wasmbench_model::wire::cold_start::ScaledObject;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::{failure, unavailable};
use crate::clock::unix_nanoseconds;

/// How often to set the replicas while the object's status changes in between, and the pauses.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// An object whose scale the probe sets.
pub struct Scaler<'a> {
    pub(super) object: &'a ScaledObject,
    pods: Api<Pod>,
    namespace: String,
    /// How many pods it is to make, by the probe's last word.
    pub(super) replicas: u32,
    /// Whether these owners lead up to the object. The whole reference counts: anyone may write one with a uid that
    /// is right and a name that is not.
    owners: Vec<(OwnerReference, bool)>,
}

impl<'a> Scaler<'a> {
    /// The object, which makes no pods yet.
    pub fn new(pods: &Api<Pod>, namespace: &str, object: &'a ScaledObject) -> Self {
        Self {
            object,
            pods: pods.clone(),
            namespace: namespace.to_owned(),
            replicas: 0,
            owners: vec![],
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

    /// Sets the replicas, unless the object's owner has taken it back meanwhile. Returns when the request was sent,
    /// and when it was confirmed.
    pub(super) async fn set(&mut self, replicas: u32) -> Result<(i64, i64), Failure> {
        let api = self.kind(self.own_kind());
        let name = &self.object.name;
        let params = PatchParams {
            field_manager: Some(labels::PROBE_MANAGER.to_owned()),
            ..PatchParams::default()
        };
        for _ in 0..ATTEMPTS {
            // A Scale has no annotations. The object is read first: what of it changes after that, be it the offer
            // or the replicas, makes its version an old one, and the patch a conflict.
            let found = api.get_metadata_opt(name).await;
            let found = found.map_err(|error| lost(name, &error))?;
            let its_own = |meta: &ObjectMeta| meta.uid.as_ref() == Some(&self.object.uid);
            let meta = found.map(|found| found.metadata).filter(its_own);
            let Some(meta) = meta.filter(is_offered) else {
                return Err(taken_back(name));
            };
            let scale = api
                .get_scale(name)
                .await
                .map_err(|error| lost(name, &error))?;
            let now = scale.spec.and_then(|spec| spec.replicas);
            let now = u32::try_from(now.unwrap_or_default()).unwrap_or_default();
            if now != self.replicas {
                return Err(taken_back(name));
            }
            let patch = json!({
                "metadata": { "resourceVersion": meta.resource_version },
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
    pub(super) async fn makes(&mut self, pod: &Pod) -> Result<bool, Failure> {
        let Some(first) = controller_of(&pod.metadata) else {
            return Ok(false);
        };
        let mut known = self.owners.iter();
        if let Some((_, leads)) = known.find(|(owner, _)| *owner == first) {
            return Ok(*leads);
        }
        let leads = self.leads_up(first.clone()).await?;
        self.owners.push((first, leads));
        Ok(leads)
    }

    async fn leads_up(&self, first: OwnerReference) -> Result<bool, Failure> {
        let mut owner = Some(first);
        for _ in 0..MOST_OWNERS {
            let Some(reference) = owner else { break };
            if reference.uid == self.object.uid {
                return Ok(true);
            }
            let listed = self.object.between.iter();
            let listed = listed.map(|kind| kind.each_ref().map(String::as_str));
            let Some(kind) = kind_between(&reference, listed) else {
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
    pub(super) fn unfit(&self, pod: &Pod) -> Option<Failure> {
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

fn taken_back(name: &str) -> Failure {
    let message = format!(
        "somebody else has set the replicas of {name}, has removed the annotation that offers it, or has deleted or \
         replaced it, while the run was using it: it is its owner's again and left alone; have it offered again, and \
         create a new run"
    );
    failure(FailureReason::TakenBack, message)
}

fn lost(name: &str, error: &kube::Error) -> Failure {
    unavailable(format!("{name} cannot be read or scaled: {error}"))
}
