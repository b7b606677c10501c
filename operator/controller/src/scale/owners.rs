//! Whose pod a pod is: its owners up to the object that is scaled. A selector alone would also find the
//! pods of others that carry the same labels.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Api;
use kube::api::DynamicObject;
use wasmbench_api::owner::{MOST_OWNERS, controller_of, kind_between};

use super::if_there;
use crate::context::Context;
use crate::error::Error;

/// Where the owners of a pod lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// To the object.
    Target,
    /// To something that is gone or on its way: the pod will go, too.
    Gone,
    /// To something else.
    Other,
}

/// Where owners lead to that were followed in one reading: many pods have the same ones.
pub(super) struct Owners<'a> {
    context: &'a Context,
    namespace: &'a str,
    /// The uid of the scaled object.
    uid: &'a str,
    known: BTreeMap<Key, Top>,
}

/// What a reference to an owner is made of. Any part of it may be wrong.
type Key = [String; 4];

fn key(owner: &OwnerReference) -> Key {
    let parts = [&owner.api_version, &owner.kind, &owner.name, &owner.uid];
    parts.map(Clone::clone)
}

impl<'a> Owners<'a> {
    /// Of pods in this namespace, of which the object with this uid is scaled.
    pub(super) fn new(context: &'a Context, namespace: &'a str, uid: &'a str) -> Self {
        Self {
            context,
            namespace,
            uid,
            known: BTreeMap::new(),
        }
    }

    /// Where the owners of the object with this metadata lead to.
    pub(super) async fn top(&mut self, meta: &ObjectMeta) -> Result<Top, Error> {
        let Some(owner) = controller_of(meta) else {
            return Ok(Top::Other);
        };
        let key = key(&owner);
        if let Some(top) = self.known.get(&key) {
            return Ok(*top);
        }
        let top = self.follow(owner).await?;
        self.known.insert(key, top);
        Ok(top)
    }

    async fn follow(&self, first: OwnerReference) -> Result<Top, Error> {
        let mut owner = Some(first);
        for _ in 0..MOST_OWNERS {
            let Some(reference) = owner else {
                return Ok(Top::Other);
            };
            if reference.uid == self.uid {
                return Ok(Top::Target);
            }
            let Some(api) = api_of(self.context, self.namespace, &reference) else {
                return Ok(Top::Other);
            };
            let found = api.get_metadata(&reference.name).await;
            let found = if_there(found).map_err(|source| Error::Observe {
                what: "the owners of a pod",
                source,
            })?;
            let is_it = |meta: &ObjectMeta| meta.uid.as_ref() == Some(&reference.uid);
            let Some(found) = found.map(|found| found.metadata).filter(is_it) else {
                return Ok(Top::Gone);
            };
            if found.deletion_timestamp.is_some() {
                return Ok(Top::Gone);
            }
            owner = controller_of(&found);
        }
        Ok(Top::Other)
    }
}

/// The API of an owner's kind; `None` for one that the operator may not read.
fn api_of(
    context: &Context,
    namespace: &str,
    owner: &OwnerReference,
) -> Option<Api<DynamicObject>> {
    let listed = context.config.scale.resources.iter();
    let listed = listed.map(|one| [&*one.group, &*one.kind, &*one.resource]);
    let found = kind_between(owner, listed)?;
    Some(super::kind(&context.client, namespace, found))
}
