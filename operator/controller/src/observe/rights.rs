//! What probes that make pods may not do in the run's namespace.

use std::collections::BTreeSet;

use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview};
use kube::Api;
use kube::api::PostParams;
use wasmbench_core::build::review::{create_pods, patch_scale, review};
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
    let mut found = Forbidden {
        pods: lacks(context, run, create_pods()).await?,
        scales: false,
    };
    let targets = run.variants.iter();
    let targets = targets.filter_map(|variant| variant.subject.target.as_ref());
    let kinds: BTreeSet<_> = targets.map(|one| (&one.group, &one.resource)).collect();
    for (group, resource) in kinds {
        found.scales |= lacks(context, run, patch_scale(group, resource)).await?;
    }
    Ok(found)
}

/// Whether the account lacks this right in the run's namespace.
async fn lacks(
    context: &Context,
    run: &ValidatedRun,
    right: ResourceAttributes,
) -> Result<bool, Error> {
    let review = review(&context.config, &run.namespace, right);
    let api: Api<SubjectAccessReview> = Api::all(context.client.clone());
    let answer = api.create(&PostParams::default(), &review).await;
    let answer = answer.map_err(|source| Error::Observe {
        what: "the rights of the account of cold starts",
        source,
    })?;
    Ok(!answer.status.is_some_and(|status| status.allowed))
}
