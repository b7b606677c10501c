//! The question to the API server whether the account of probes that make pods has a right.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};

use crate::config::OperatorConfig;

/// What such a probe needs wherever it makes pods.
pub fn create_pods() -> ResourceAttributes {
    ResourceAttributes {
        verb: Some("create".into()),
        resource: Some("pods".into()),
        ..ResourceAttributes::default()
    }
}

/// What it needs to scale objects of this kind.
pub fn patch_scale(group: &str, resource: &str) -> ResourceAttributes {
    ResourceAttributes {
        verb: Some("patch".into()),
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource: Some("scale".into()),
        ..ResourceAttributes::default()
    }
}

/// Asks whether the account has `right` in `namespace`. The API server decides, so a `RoleBinding` counts whoever
/// created it.
pub fn review(
    config: &OperatorConfig,
    namespace: &str,
    right: ResourceAttributes,
) -> SubjectAccessReview {
    let user = format!(
        "system:serviceaccount:{}:{}",
        config.operator_namespace, config.cold_start_service_account
    );
    let attributes = ResourceAttributes {
        namespace: Some(namespace.to_owned()),
        ..right
    };
    SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(user),
            resource_attributes: Some(attributes),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    }
}
