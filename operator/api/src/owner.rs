//! Whose an object is: its owner references, by group, kind and uid. A label alone proves nothing, and neither does a
//! uid of another kind. And whether its owner offers it to runs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;

use crate::labels;

/// The owners of the object that are of this kind, in any version of its API.
pub fn owners<K: Resource<DynamicType = ()>>(
    meta: &ObjectMeta,
) -> impl Iterator<Item = &OwnerReference> {
    meta.owner_references
        .iter()
        .flatten()
        .filter(|owner| owner.kind == K::kind(&()) && group(owner) == K::group(&()))
}

/// Whether the object is owned by the object of this kind with this uid.
pub fn belongs_to<K: Resource<DynamicType = ()>>(meta: &ObjectMeta, uid: &str) -> bool {
    owners::<K>(meta).any(|owner| owner.uid == uid)
}

/// Kinds between an object with a scale and its pods: group, version, name and plural of each.
const BETWEEN: [[&str; 4]; 2] = [
    ["apps", "v1", "ReplicaSet", "replicasets"],
    ["apps", "v1", "Deployment", "deployments"],
];
/// Owners that are followed from a pod: its `ReplicaSet`, a Deployment, and what makes Deployments.
pub const MOST_OWNERS: usize = 4;

/// The owner that manages the object.
pub fn controller_of(meta: &ObjectMeta) -> Option<OwnerReference> {
    let mut owners = meta.owner_references.iter().flatten();
    owners.find(|owner| owner.controller == Some(true)).cloned()
}

/// The kind of an owner that may stand between an object with a scale and its pods: one of [`BETWEEN`], or of the
/// group, name and plural of a `listed` kind, in the version that the owner has.
pub fn kind_between<'a>(
    owner: &'a OwnerReference,
    listed: impl Iterator<Item = [&'a str; 3]>,
) -> Option<[&'a str; 4]> {
    let (group, version) = owner.api_version.split_once('/')?;
    let listed = listed.map(|[group, kind, plural]| [group, version, kind, plural]);
    let mut known = BETWEEN.into_iter().chain(listed);
    known.find(|[its, _, kind, _]| *its == group && *kind == owner.kind)
}

/// Labels by which controllers name the version of a pod's template: those of `ReplicaSets`, Argo Rollouts and
/// StatefulSets.
const TEMPLATES: [&str; 3] = [
    "pod-template-hash",
    "rollouts-pod-template-hash",
    "controller-revision-hash",
];

/// The version of the template that a pod was made from, as its controller names it.
pub fn template_of(meta: &ObjectMeta) -> Option<&str> {
    let labels = meta.labels.as_ref()?;
    TEMPLATES
        .iter()
        .find_map(|key| Some(labels.get(*key)?.as_str()))
}

/// Whether its owner offers the object to runs; one that is being deleted is not.
pub fn is_offered(meta: &ObjectMeta) -> bool {
    let annotations = meta.annotations.as_ref();
    let offer = annotations.and_then(|all| all.get(labels::OFFERED));
    offer.is_some_and(|offer| offer == "true") && meta.deletion_timestamp.is_none()
}

/// The API group of an owner; empty for the core group, whose versions stand alone.
fn group(owner: &OwnerReference) -> &str {
    owner
        .api_version
        .split_once('/')
        .map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchmarkRun, BenchmarkSchedule};

    fn owned_by(api_version: &str, kind: &str) -> ObjectMeta {
        let owner = OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name: "nightly".into(),
            uid: "1".into(),
            ..OwnerReference::default()
        };
        ObjectMeta {
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        }
    }

    #[test]
    fn a_pod_carries_the_version_of_its_template_under_its_controllers_label() {
        let meta = |key: &str| ObjectMeta {
            labels: Some([(key.to_owned(), "6d8f".to_owned())].into()),
            ..ObjectMeta::default()
        };
        for key in ["pod-template-hash", "controller-revision-hash"] {
            assert_eq!(template_of(&meta(key)), Some("6d8f"), "{key}");
        }
        assert_eq!(template_of(&meta("app")), None);
    }

    #[test]
    fn owners_match_by_group_kind_and_uid() {
        let mine = owned_by("wasmbench.dev/v1alpha1", "BenchmarkRun");
        assert!(belongs_to::<BenchmarkRun>(&mine, "1"));
        assert!(belongs_to::<BenchmarkRun>(
            &owned_by("wasmbench.dev/v1", "BenchmarkRun"),
            "1"
        ));
        assert!(!belongs_to::<BenchmarkRun>(&mine, "2"));
        assert!(!belongs_to::<BenchmarkSchedule>(&mine, "1"));
        for (api_version, kind) in [
            ("wasmbench.dev/v1alpha1", "Foo"),
            ("example.com/v1alpha1", "BenchmarkRun"),
            ("wasmbench.dev", "BenchmarkRun"),
            ("v1", "BenchmarkRun"),
            ("", ""),
        ] {
            let stranger = owned_by(api_version, kind);
            assert!(
                !belongs_to::<BenchmarkRun>(&stranger, "1"),
                "{api_version} {kind}"
            );
        }
        assert!(!belongs_to::<BenchmarkRun>(&ObjectMeta::default(), "1"));
    }
}
