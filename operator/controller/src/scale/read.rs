//! One object with a scale, as it is now.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use wasmbench_api::owner::is_offered;
use wasmbench_core::scale::{
    Autoscaler, ObservedTarget, Scaled, Target, is_settling, obstacle, selector, set_by_other,
    stuck, template_labels, without_pods,
};

use super::owners::{Owners, Top};
use super::{SCALERS, api, if_there};
use crate::context::Context;
use crate::error::Error;
use crate::pages::{NOT_ENDED, Pages};

/// So many pods of an object are as good as more: a run asks for one, and what its probe asks for, it reads itself.
const ENOUGH: usize = 16;

/// What was found of an object.
#[derive(Default)]
pub struct Found {
    /// The object.
    pub observed: ObservedTarget,
    /// Its pods that have not ended; of very many, some.
    pub pods: Vec<Pod>,
    /// The labels that its template demands of a node.
    pub template: BTreeMap<String, String>,
}

fn failed(source: kube::Error) -> Error {
    let what = "an object that the run scales";
    Error::Observe { what, source }
}

/// Reads an object; `noted` is what a claim notes of it.
pub async fn read(
    context: &Context,
    namespace: &str,
    target: &Target,
    noted: Option<&Scaled>,
    autoscalers: &[Autoscaler],
) -> Result<Found, Error> {
    let found = once(context, namespace, target, noted, autoscalers).await?;
    let desired = usize::try_from(found.observed.replicas).unwrap_or(usize::MAX);
    if noted.is_none() || desired == 0 || found.pods.len() <= desired {
        return Ok(found);
    }
    // Its owner may have set the replicas after they were read, and these pods follow from that.
    once(context, namespace, target, noted, autoscalers).await
}

/// Reads the object, and then its pods.
async fn once(
    context: &Context,
    namespace: &str,
    target: &Target,
    noted: Option<&Scaled>,
    autoscalers: &[Autoscaler],
) -> Result<Found, Error> {
    let api = api(&context.client, namespace, target);
    let object = if_there(api.get(&target.name).await).map_err(failed)?;
    let (mut observed, template) = match &object {
        None => (ObservedTarget::default(), BTreeMap::new()),
        Some(object) => {
            let now = context.clock.now();
            let observed = of_object(&api, target, object, autoscalers, now).await?;
            (observed, template_labels(&object.data))
        }
    };
    // The pods of one that is gone are found as they were.
    let (selector, uid) = match noted {
        Some(noted) => (&noted.selector, Some(&noted.uid)),
        None => (&observed.selector, observed.uid.as_ref()),
    };
    let pods = match uid {
        Some(uid) if !selector.is_empty() => pods(context, namespace, selector, uid).await?,
        Some(_) | None => vec![],
    };
    observed.pods = pods.len();
    // Of one that a run has noted, they are the run's.
    if let Some(object) = object.filter(|_| noted.is_none() && observed.replicas == 0) {
        let left = pods.iter().map(|pod| &pod.metadata);
        let stuck = stuck(target, &object.metadata, left, context.clock.now());
        observed.obstacle = observed.obstacle.or(stuck);
    }
    Ok(Found {
        observed,
        pods,
        template,
    })
}

async fn of_object(
    api: &Api<DynamicObject>,
    target: &Target,
    object: &DynamicObject,
    autoscalers: &[Autoscaler],
    now: Timestamp,
) -> Result<ObservedTarget, Error> {
    let scale = if_there(api.get_scale(&target.name).await).map_err(failed)?;
    let meta = &object.metadata;
    let is_settling = is_settling(meta, &object.data, scale.as_ref(), now);
    let without_pods = without_pods(target, scale.as_ref()).filter(|_| !is_settling);
    let selector = selector(scale.as_ref());
    let replicas = scale.and_then(|scale| scale.spec?.replicas);
    Ok(ObservedTarget {
        uid: meta.uid.clone(),
        // That of the object, which was read first: what was read later may be newer.
        resource_version: meta.resource_version.clone(),
        generation: meta.generation,
        selector,
        replicas: replicas.map_or(0, |replicas| u32::try_from(replicas).unwrap_or_default()),
        is_offered: is_offered(meta),
        set_by_other: set_by_other(meta, &SCALERS),
        is_settling,
        without_pods,
        obstacle: obstacle(target, &object.data, autoscalers),
        pods: 0,
    })
}

/// The pods that the object with this uid makes, or that go because it is gone; of very many, some.
async fn pods(
    context: &Context,
    namespace: &str,
    selector: &str,
    uid: &str,
) -> Result<Vec<Pod>, Error> {
    let api: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let params = ListParams::default().labels(selector).fields(NOT_ENDED);
    let mut pages = Pages::new(api, params);
    let mut owners = Owners::new(context, namespace, uid);
    let mut pods = vec![];
    while pods.len() < ENOUGH
        && let Some(page) = pages.page().await.map_err(failed)?
    {
        for pod in page {
            if owners.top(&pod.metadata).await? != Top::Other {
                pods.push(pod);
            }
        }
    }
    Ok(pods)
}
