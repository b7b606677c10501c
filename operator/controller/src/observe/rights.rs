//! What probes that make pods may not do in the run's namespace. The API server decides, so a RoleBinding counts
//! whoever created it.

use std::collections::BTreeSet;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Api;
use kube::api::PostParams;
use wasmbench_core::observed::Forbidden;
use wasmbench_core::validate::ValidatedRun;

use crate::context::Context;
use crate::error::Error;

/// Asks for the rights that the probes of `run` need.
pub async fn forbidden(context: &Context, run: &ValidatedRun) -> Result<Forbidden, Error> {
    let sweeps = &run.spec.sweeps;
    if sweeps.cold_start.is_none() && sweeps.density.is_none() {
        return Ok(Forbidden::default());
    }
    let create = ResourceAttributes {
        verb: Some("create".into()),
        resource: Some("pods".into()),
        ..ResourceAttributes::default()
    };
    let mut found = Forbidden {
        pods: lacks(context, run, create).await?,
        scales: false,
    };
    let targets = run.variants.iter();
    let targets = targets.filter_map(|variant| variant.subject.target.as_ref());
    let kinds: BTreeSet<_> = targets.map(|one| (&one.group, &one.resource)).collect();
    for (group, resource) in kinds {
        let patch = ResourceAttributes {
            verb: Some("patch".into()),
            group: Some(group.clone()),
            resource: Some(resource.clone()),
            subresource: Some("scale".into()),
            ..ResourceAttributes::default()
        };
        found.scales |= lacks(context, run, patch).await?;
    }
    Ok(found)
}

/// Whether the account lacks this right in the run's namespace.
async fn lacks(
    context: &Context,
    run: &ValidatedRun,
    right: ResourceAttributes,
) -> Result<bool, Error> {
    let config = &context.config;
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(format!(
                "system:serviceaccount:{}:{}",
                config.operator_namespace, config.cold_start_service_account
            )),
            resource_attributes: Some(ResourceAttributes {
                namespace: Some(run.namespace.clone()),
                ..right
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    };
    let api: Api<SubjectAccessReview> = Api::all(context.client.clone());
    let answer = api.create(&PostParams::default(), &review).await;
    let answer = answer.map_err(|source| Error::Observe {
        what: "the rights of the account of cold starts",
        source,
    })?;
    Ok(!answer.status.is_some_and(|status| status.allowed))
}
