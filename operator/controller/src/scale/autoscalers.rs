//! What scales objects by itself in a namespace.

use std::fmt::Debug;

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use kube::api::{DynamicObject, ListParams};
use kube::{Api, ResourceExt};
use serde::de::DeserializeOwned;
use wasmbench_core::scale::Autoscaler;

use super::if_there;
use crate::context::Context;
use crate::error::Error;
use crate::pages::Pages;

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
    let (mut found, of_keda) = futures::try_join!(all(hpas, hpa), all(keda, scaled_object))?;
    found.extend(of_keda);
    Ok(found)
}

/// What these objects scale; nothing if the cluster does not have their kind.
async fn all<K: Clone + DeserializeOwned + Debug>(
    api: Api<K>,
    scaler: fn(&K) -> Option<Autoscaler>,
) -> Result<Vec<Autoscaler>, Error> {
    let mut pages = Pages::new(api, ListParams::default());
    let mut found = vec![];
    while let Some(page) = if_there(pages.page().await).map_err(failed)?.flatten() {
        found.extend(page.iter().filter_map(scaler));
    }
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
