//! Brings an object back to 0 before the claim that notes it goes, whatever became of the run: it may be
//! gone, and this process may be another one than that which has scaled the object up.

use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt;
use wasmbench_api::labels;
use wasmbench_core::scale::{Return, Scaled};

use super::event::not_brought_back;
use super::{allows, read, set};
use crate::context::Context;
use crate::error::Error;

/// What a claim notes of the object that its holder has scaled up.
pub fn noted(lease: &Lease) -> Option<Scaled> {
    let text = lease.annotations().get(labels::SCALED)?;
    let noted = serde_json::from_str(text);
    if noted.is_err() {
        tracing::warn!(
            lease = lease.name_any(),
            "the note of a scaled object cannot be read"
        );
    }
    noted.ok()
}

/// Brings back the object that `lease` notes. An error as long as it is on its way.
pub async fn bring_back(context: &Context, lease: &Lease) -> Result<(), Error> {
    let namespace = lease.annotations().get(labels::RUN_NAMESPACE);
    let Some((scaled, namespace)) = noted(lease).zip(namespace) else {
        return Ok(());
    };
    let target = &scaled.target;
    if !allows(context, namespace, target) {
        return out_of_reach(context, namespace, &scaled).await;
    }
    let found = match read(context, namespace, target, Some(&scaled), &[]).await {
        // Its namespace may be gone, and the operator's rights with it.
        Err(Error::Observe {
            source: kube::Error::Api(status),
            ..
        }) if status.is_forbidden() => return out_of_reach(context, namespace, &scaled).await,
        other => other?,
    };
    let on_its_way = || Error::OnItsWayBack {
        target: target.to_string(),
    };
    match found.observed.to_return(&scaled, context.clock.now()) {
        Return::Forget => Ok(()),
        Return::Wait => Err(on_its_way()),
        Return::ScaleDown => {
            let version = found.observed.resource_version.as_deref();
            let done = set(context, namespace, target, version, 0).await;
            if let Err(error @ Error::ScaleRefused { .. }) = &done {
                not_brought_back(context, namespace, &scaled, &error.to_string()).await;
            }
            done?;
            Err(on_its_way())
        }
    }
}

/// Nothing can be done about an object that the administrator has taken from the operator, but to say so: its node is
/// for others, too.
async fn out_of_reach(context: &Context, namespace: &str, scaled: &Scaled) -> Result<(), Error> {
    let why = "the administrator has taken its kind or its namespace from wasmbench meanwhile (scale.resources and \
               scale.namespaces of the chart)";
    not_brought_back(context, namespace, scaled, why).await;
    Ok(())
}
