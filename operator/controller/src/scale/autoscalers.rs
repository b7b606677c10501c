//! What scales objects by itself in a namespace.

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use kube::api::{DynamicObject, ListParams};
use kube::{Api, ResourceExt};
use wasmbench_core::scale::Autoscaler;

use super::if_there;
use crate::context::Context;
use crate::error::Error;

/// KEDA's kind; most clusters do not have it.
const KEDA: [&str; 4] = ["keda.sh", "v1alpha1", "ScaledObject", "scaledobjects"];
/// What KEDA scales where nothing else is named.
const KEDA_DEFAULT: &str = "Deployment";

fn failed(source: kube::Error) -> Error {
    let what = "what scales objects by itself";
    Error::Observe { what, source }
}

/// The autoscalers of a namespace.
pub async fn autoscalers(context: &Context, namespace: &str) -> Result<Vec<Autoscaler>, Error> {
    let hpas: Api<HorizontalPodAutoscaler> = Api::namespaced(context.client.clone(), namespace);
    let keda = super::kind(&context.client, namespace, KEDA);
    let all = ListParams::default();
    let (hpas, keda) = futures::join!(hpas.list(&all), keda.list(&all));
    let mut found: Vec<Autoscaler> = hpas.map_err(failed)?.items.iter().filter_map(hpa).collect();
    // Most clusters have no KEDA.
    let keda = if_there(keda).map_err(failed)?;
    let objects = keda.into_iter().flat_map(|list| list.items);
    found.extend(objects.filter_map(|one| scaled_object(&one)));
    Ok(found)
}

fn hpa(one: &HorizontalPodAutoscaler) -> Option<Autoscaler> {
    let scaled = &one.spec.as_ref()?.scale_target_ref;
    Some(Autoscaler {
        name: format!("HorizontalPodAutoscaler {}", one.name_any()),
        kind: scaled.kind.clone(),
        target: scaled.name.clone(),
    })
}

fn scaled_object(one: &DynamicObject) -> Option<Autoscaler> {
    let scaled = one.data.pointer("/spec/scaleTargetRef")?;
    let text = |key: &str| Some(scaled.get(key)?.as_str()?.to_owned());
    Some(Autoscaler {
        name: format!("ScaledObject {}", one.name_any()),
        kind: text("kind").unwrap_or_else(|| KEDA_DEFAULT.to_owned()),
        target: text("name")?,
    })
}
