//! Asks the API server what the user may do.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SubjectAccessReview,
};
use kube::Api;
use kube::api::PostParams;
use wasmbench_core::build::review::{create_pods, review};
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::scale::Target;

use crate::check::answer::answer;
use crate::check::observed::Answer;
use crate::cluster::Cluster;
use crate::error::Error;

/// The rights that a user needs in a namespace: description, verb, API group, resource.
const RIGHTS: [(&str, &str, &str, &str); 4] = [
    ("start runs", "create", "wasmbench.dev", "benchmarkruns"),
    ("follow runs", "watch", "wasmbench.dev", "benchmarkruns"),
    ("read results", "list", "", "configmaps"),
    // The admission policy `requester` requires it.
    ("create pods", "create", "", "pods"),
];

/// Whether the user has each of them.
pub(super) async fn rights(cluster: &Cluster) -> Result<Vec<(&'static str, Answer<bool>)>, Error> {
    let mut found = vec![];
    for (text, verb, group, resource) in RIGHTS {
        found.push((text, may(cluster, verb, group, resource, None).await?));
    }
    Ok(found)
}

/// Whether the user may do this in the namespace, with a resource or with a part of it.
async fn may(
    cluster: &Cluster,
    verb: &str,
    group: &str,
    resource: &str,
    part: Option<&str>,
) -> Result<Answer<bool>, Error> {
    let api: Api<SelfSubjectAccessReview> = Api::all(cluster.client().clone());
    let review = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                namespace: Some(cluster.namespace().to_owned()),
                verb: Some(verb.to_owned()),
                group: Some(group.to_owned()),
                resource: Some(resource.to_owned()),
                subresource: part.map(str::to_owned),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let params = PostParams::default();
    let answer = answer("ask for your rights", api.create(&params, &review)).await?;
    let allowed =
        |review: SelfSubjectAccessReview| review.status.is_some_and(|status| status.allowed);
    Ok(answer.map(allowed))
}

/// Whether the user may set how many pods an object makes.
pub async fn may_scale(cluster: &Cluster, target: &Target) -> Result<Answer<bool>, Error> {
    may(
        cluster,
        "patch",
        &target.group,
        &target.resource,
        Some("scale"),
    )
    .await
}

/// Whether the account of cold starts may create pods in the namespace, as the operator asks it. Few users may ask
/// for the rights of others.
pub async fn cold_starts(
    cluster: &Cluster,
    config: &OperatorConfig,
) -> Result<Answer<bool>, Error> {
    let api: Api<SubjectAccessReview> = Api::all(cluster.client().clone());
    let review = review(config, cluster.namespace(), create_pods());
    let params = PostParams::default();
    let found = answer("ask for the rights of others", api.create(&params, &review)).await?;
    Ok(found.map(|review| review.status.is_some_and(|status| status.allowed)))
}
