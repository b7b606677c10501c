//! An object with a scale as the API server has it -> whether its owner offers it, and what else scales
//! or changes it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value;

use crate::scale::target::Target;

/// How long an object's controller may take to act on a change, and a pod to go after its time. What takes longer has
/// failed, and is not waited for.
const ACTS: SignedDuration = SignedDuration::from_secs(60);

/// Something that scales an object by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscaler {
    /// Its kind and name, for people.
    pub name: String,
    /// Kind of the object that it scales.
    pub kind: String,
    /// Name of that object.
    pub target: String,
}

impl Autoscaler {
    fn scales(&self, target: &Target) -> bool {
        self.kind == target.kind && self.target == target.name
    }
}

/// Who else scales or changes the `target`, whose status is part of `content`, and what to do.
pub fn obstacle(target: &Target, content: &Value, autoscalers: &[Autoscaler]) -> Option<String> {
    let mut scalers = autoscalers.iter().filter(|one| one.scales(target));
    if let Some(Autoscaler { name, .. }) = scalers.next() {
        return Some(format!(
            "{name} scales {target}: remove it, or measure a copy of {target} that it does not scale"
        ));
    }
    let text = |pointer: &str| content.pointer(pointer).and_then(Value::as_str);
    // What Argo Rollouts and controllers like it report while two versions are there.
    let (stable, current) = (text("/status/stableRS"), text("/status/currentPodHash"));
    let is_between = stable
        .zip(current)
        .is_some_and(|(a, b)| !a.is_empty() && a != b);
    is_between.then(|| {
        format!("{target} is in the middle of a rollout: let it finish, or abort it, and start the run again")
    })
}

/// Which of these pods of `target`, which is to make none, will not go, and what to do. As long as one is on its way,
/// others may come after it.
pub fn stuck<'a>(
    target: &Target,
    meta: &ObjectMeta,
    mut pods: impl Iterator<Item = &'a ObjectMeta> + Clone,
    now: Timestamp,
) -> Option<String> {
    let due = |pod: &'a ObjectMeta| Some((pod.deletion_timestamp.as_ref()?.0, pod));
    let name = |pod: &ObjectMeta| pod.name.clone().unwrap_or_default();
    if let Some((due, pod)) = pods.clone().filter_map(due).min_by_key(|(due, _)| *due) {
        let is_late = now >= due.saturating_add(ACTS).unwrap_or(Timestamp::MAX);
        return is_late.then(|| {
            format!(
                "pod {} of {target} was deleted, should have gone at {due}, and is still there: see whether its node works, \
                 and its metadata.finalizers, remove it, and start the run again",
                name(pod)
            )
        });
    }
    let pod = pods.next()?;
    (!changed_recently(meta, now)).then(|| {
        format!(
            "pod {} is still there although {target} has 0 replicas: see whether its controller runs, and start the run \
             again",
            name(pod)
        )
    })
}

/// The selector of the object's pods; empty if its scale names none.
pub fn selector(scale: Option<&Scale>) -> String {
    let status = scale.and_then(|scale| scale.status.as_ref());
    let selector = status.and_then(|status| status.selector.clone());
    selector.unwrap_or_default()
}

/// Why the pods of `target`, whose scale this is, cannot be found, and what to do.
pub fn without_pods(target: &Target, scale: Option<&Scale>) -> Option<String> {
    if scale.is_none() {
        return Some(format!(
            "{target} has no scale subresource, so no run can scale it: let scale.resource and scale.name name what it \
             makes, such as its Deployment"
        ));
    }
    selector(scale).is_empty().then(|| {
        format!(
            "the scale of {target} names no pods: see whether its controller runs, and start the run again"
        )
    })
}

/// Whether the object's controller has not seen its last change yet. Some report the generation as a
/// number, and some as text; some report which pods are the object's only once they have seen it.
pub fn is_settling(
    meta: &ObjectMeta,
    content: &Value,
    scale: Option<&Scale>,
    now: Timestamp,
) -> bool {
    let observed = content.pointer("/status/observedGeneration");
    let as_text = |found: &Value| found.as_str()?.parse().ok();
    let observed = observed.and_then(|found| found.as_i64().or_else(|| as_text(found)));
    let both = meta.generation.zip(observed);
    let is_behind = both.is_some_and(|(wanted, observed)| observed < wanted);
    let has_no_selector = scale.is_some() && selector(scale).is_empty();
    (is_behind || has_no_selector) && changed_recently(meta, now)
}

fn changed_recently(meta: &ObjectMeta, now: Timestamp) -> bool {
    let entries = meta.managed_fields.iter().flatten();
    let changes = entries.filter_map(|entry| entry.time.as_ref());
    let times = changes.chain(&meta.creation_timestamp).map(|time| time.0);
    let last = times.max();
    last.is_none_or(|last| now < last.saturating_add(ACTS).unwrap_or(Timestamp::MAX))
}

/// Whether the last one who set the object's replicas is none of these. The API server notes who that
/// was.
pub fn set_by_other(meta: &ObjectMeta, ours: &[&str]) -> bool {
    let entries = meta.managed_fields.iter().flatten();
    let mut setters = entries.filter(|entry| {
        let fields = entry.fields_v1.as_ref();
        fields.is_some_and(|fields| fields.0.pointer("/f:spec/f:replicas").is_some())
    });
    setters.any(|entry| {
        let manager = entry.manager.as_deref().unwrap_or_default();
        !ours.contains(&manager)
    })
}

/// The labels that the object's template demands of a node.
pub fn template_labels(content: &Value) -> BTreeMap<String, String> {
    let selector = content.pointer("/spec/template/spec/nodeSelector");
    let pairs = selector.and_then(Value::as_object).into_iter().flatten();
    pairs
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::autoscaling::v1::ScaleStatus;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, Time};
    use serde_json::json;

    use super::*;

    fn target() -> Target {
        Target {
            group: "argoproj.io".into(),
            version: "v1alpha1".into(),
            resource: "rollouts".into(),
            kind: "Rollout".into(),
            name: "shop".into(),
        }
    }

    #[test]
    fn an_object_is_refused_exactly_if_an_autoscaler_scales_it() {
        let scaler = |kind: &str, name: &str| Autoscaler {
            name: "HorizontalPodAutoscaler shop".into(),
            kind: kind.into(),
            target: name.into(),
        };
        let refused = |one: Autoscaler| obstacle(&target(), &json!({}), &[one]);
        assert!(
            refused(scaler("Rollout", "shop"))
                .unwrap()
                .contains("HorizontalPodAutoscaler shop")
        );
        assert_eq!(refused(scaler("Deployment", "shop")), None);
        assert_eq!(refused(scaler("Rollout", "other")), None);
    }

    #[test]
    fn a_rollout_in_progress_is_refused() {
        let status = |stable: &str, current: &str| {
            let content = json!({"status": {"stableRS": stable, "currentPodHash": current}});
            obstacle(&target(), &content, &[])
        };
        assert!(status("a", "b").unwrap().contains("middle of a rollout"));
        assert_eq!(status("a", "a"), None);
        assert_eq!(status("", "b"), None, "the first version");
    }

    const CREATED: Timestamp = Timestamp::UNIX_EPOCH;

    fn meta() -> ObjectMeta {
        ObjectMeta {
            generation: Some(4),
            creation_timestamp: Some(Time(CREATED)),
            ..ObjectMeta::default()
        }
    }

    fn scale(selector: Option<&str>) -> Scale {
        let status = ScaleStatus {
            replicas: 0,
            selector: selector.map(str::to_owned),
        };
        Scale {
            status: Some(status),
            ..Scale::default()
        }
    }

    fn after(seconds: i64) -> Timestamp {
        CREATED + SignedDuration::from_secs(seconds)
    }

    #[test]
    fn a_controller_that_is_behind_is_recognised_by_a_number_or_by_text() {
        let scale = scale(Some("app=shop"));
        for (observed, is_behind) in [
            (json!(3), true),
            (json!("3"), true),
            (json!(4), false),
            (json!("4"), false),
            (json!("a hash"), false),
            (json!(null), false),
        ] {
            let content = json!({"status": {"observedGeneration": observed}});
            assert_eq!(
                is_settling(&meta(), &content, Some(&scale), CREATED),
                is_behind,
                "{content}"
            );
        }
    }

    #[test]
    fn a_controller_is_waited_for_only_for_a_minute_after_the_last_change() {
        let content = json!({"status": {"observedGeneration": "3"}});
        let is_behind =
            |meta: &ObjectMeta, seconds| is_settling(meta, &content, None, after(seconds));
        assert!(is_behind(&meta(), 59));
        assert!(!is_behind(&meta(), 60));
        let entry = ManagedFieldsEntry {
            time: Some(Time(after(600))),
            ..ManagedFieldsEntry::default()
        };
        let changed = ObjectMeta {
            managed_fields: Some(vec![entry]),
            ..meta()
        };
        assert!(is_behind(&changed, 659));
        assert!(!is_behind(&changed, 660));
    }

    #[test]
    fn pods_that_do_not_go_are_an_obstacle_only_when_they_should_have_gone() {
        let pod = |name: &str, due: Option<i64>| ObjectMeta {
            name: Some(name.to_owned()),
            deletion_timestamp: due.map(|due| Time(after(due))),
            ..ObjectMeta::default()
        };
        let found =
            |pods: &[ObjectMeta], seconds| stuck(&target(), &meta(), pods.iter(), after(seconds));
        let ending = [pod("shop-0", None), pod("shop-1", Some(300))];
        assert_eq!(found(&ending, 359), None, "shop-0 comes after it");
        let why = found(&ending, 360).unwrap();
        assert!(
            why.contains("pod shop-1") && why.contains("its node"),
            "{why}"
        );
        let kept = [pod("shop-0", None)];
        assert_eq!(found(&kept, 59), None);
        let why = found(&kept, 60).unwrap();
        assert!(
            why.contains("pod shop-0") && why.contains("controller"),
            "{why}"
        );
        assert_eq!(found(&[], 3600), None);
    }

    /// A Rollout has its selector from its controller.
    #[test]
    fn a_scale_that_names_no_pods_yet_is_waited_for() {
        let unseen = scale(None);
        let is_waited_for =
            |scale: Option<&Scale>, now| is_settling(&meta(), &json!({}), scale, now);
        assert!(is_waited_for(Some(&unseen), CREATED));
        assert!(!is_waited_for(Some(&unseen), after(60)));
        assert!(
            !is_waited_for(None, CREATED),
            "there is nothing to wait for"
        );
    }

    #[test]
    fn an_object_whose_scale_names_no_pods_is_refused_with_the_remedy() {
        let refused = |scale: Option<&Scale>| without_pods(&target(), scale);
        assert_eq!(refused(Some(&scale(Some("app=shop")))), None);
        for (found, message) in [
            (None, "such as its Deployment"),
            (Some(Scale::default()), "its controller runs"),
            (Some(scale(Some(""))), "its controller runs"),
        ] {
            let why = refused(found.as_ref()).unwrap();
            assert!(why.contains(message), "{why}");
        }
    }

    #[test]
    fn the_last_one_who_set_the_replicas_is_known() {
        let meta = |manager: &str| -> ObjectMeta {
            let field = |name: &str, fields: &Value| json!({"manager": name, "fieldsV1": fields});
            let fields = [
                field("helm", &json!({"f:spec": {"f:template": {}}})),
                field(manager, &json!({"f:spec": {"f:replicas": {}}})),
            ];
            serde_json::from_value(json!({"managedFields": fields})).unwrap()
        };
        let ours = ["wasmbench-operator", "wasmbench-probe"];
        assert!(set_by_other(&meta("kubectl-scale"), &ours));
        assert!(!set_by_other(&meta("wasmbench-probe"), &ours));
        assert!(!set_by_other(&ObjectMeta::default(), &ours));
    }

    #[test]
    fn the_template_says_which_nodes_it_takes() {
        let content = json!({"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "a"}}}}});
        let labels = template_labels(&content);
        assert_eq!(
            labels.get("kubernetes.io/hostname").map(String::as_str),
            Some("a")
        );
        assert!(template_labels(&json!({"spec": {}})).is_empty());
    }
}
