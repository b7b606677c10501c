//! What the node already had when a pod was created. The kubelet reports in an event of the pod
//! whether it pulled the image. Events are read after a sample, when its pods are gone, so that
//! nothing waits for them.

use std::time::Duration;

use k8s_openapi::api::core::v1::Event;
use kube::Api;
use kube::api::ListParams;
use tokio::time::{Instant, sleep, timeout};
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_model::wire::cold_start::{CompileCache, EVENT_SECONDS, ImagePull};

use super::pull::{PullEvents, parse_message};
use super::sample::{Course, Pods};
use crate::output::progress;

const PAUSE: Duration = Duration::from_millis(250);
/// An API server that does not answer must not hold up the trial.
const PATIENCE: Duration = Duration::from_secs(10);

/// Beginning of the kubelet's event if the image was on the node.
const PRESENT: &str = "Container image ";
const PRESENT_TOO: &str = " already present on machine";
/// Beginning of the kubelet's event if it pulled the image.
const PULLED: &str = "Successfully pulled image ";

impl Course<'_> {
    /// Notes for each pod what its node already had. `compiled` is what was known before the sample
    /// about a compiled form. A pod without evidence gets no class.
    pub(super) async fn find_classes(
        &self,
        compiled: Option<CompileCache>,
        pull: &PullEvents,
        pods: &mut Pods,
    ) {
        if self.request.class.is_none() {
            return;
        }
        if self.request.shares_pod() {
            // The pod that hosts the functions is already running.
            for timeline in &mut pods.timelines {
                timeline.found(ColdStartClass::ImageCached);
            }
            return;
        }
        let uids: Vec<Option<String>> = (0..pods.timelines.len())
            .map(|index| pods.uid(index).map(str::to_owned))
            .collect();
        let mut found = vec![None; uids.len()];
        let until = Instant::now() + Duration::from_secs(EVENT_SECONDS.into());
        loop {
            let events = pulls(&self.events, &uids).await;
            for (evidence, uid) in found.iter_mut().zip(&uids) {
                *evidence = uid.as_deref().and_then(|uid| evidence_of(&events, uid));
            }
            if found.iter().all(Option::is_some) || Instant::now() >= until {
                break;
            }
            sleep(PAUSE).await;
        }
        for (index, (timeline, evidence)) in pods.timelines.iter_mut().zip(found).enumerate() {
            let Some(evidence) = evidence else {
                continue;
            };
            timeline.found(with_compiled(evidence.class, compiled));
            if evidence.class == ColdStartClass::NodeCold {
                timeline.pulled(evidence.pull, pull.image(), pull.container(index));
            }
        }
    }
}

/// What the kubelet reported about a pod's image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Evidence {
    class: ColdStartClass,
    pull: Option<ImagePull>,
}

/// A compiled form counts only if the image was there, too: it is removed with the image.
fn with_compiled(class: ColdStartClass, compiled: Option<CompileCache>) -> ColdStartClass {
    match (class, compiled) {
        (ColdStartClass::ImageCached, Some(CompileCache::Warm)) => ColdStartClass::CompileCached,
        (class, _) => class,
    }
}

/// Returns the pull events of the pods with these uids, and perhaps of others. The API server
/// searches all events of the namespace for each request, so many pods share one request.
async fn pulls(api: &Api<Event>, uids: &[Option<String>]) -> Vec<Event> {
    let all = "involvedObject.kind=Pod,reason=Pulled".to_owned();
    let selector = match uids {
        [Some(uid)] => format!("involvedObject.uid={uid},reason=Pulled"),
        _ => all,
    };
    let params = ListParams::default().fields(&selector);
    match timeout(PATIENCE, api.list(&params)).await {
        Ok(Ok(events)) => events.items,
        Ok(Err(error)) => {
            progress(&format!("no events: {error}"));
            vec![]
        }
        Err(_) => {
            progress("no events: the API server does not answer");
            vec![]
        }
    }
}

/// What the events show about the pod with this uid; `None` if they show nothing. One pulled image
/// is enough to make a pod node-cold.
fn evidence_of(events: &[Event], uid: &str) -> Option<Evidence> {
    let of_pod = events.iter().filter(|event| {
        event.involved_object.uid.as_deref() == Some(uid)
            && event.reason.as_deref() == Some("Pulled")
    });
    let evidence = of_pod.filter_map(|event| parse(event.message.as_deref()?));
    evidence.min_by_key(|evidence| evidence.class != ColdStartClass::NodeCold)
}

fn parse(message: &str) -> Option<Evidence> {
    if let Some(rest) = message.strip_prefix(PULLED) {
        return Some(Evidence {
            class: ColdStartClass::NodeCold,
            pull: parse_message(rest),
        });
    }
    let is_present = message.starts_with(PRESENT) && message.contains(PRESENT_TOO);
    is_present.then_some(Evidence {
        class: ColdStartClass::ImageCached,
        pull: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // As written by the kubelets of Kubernetes 1.27, 1.34 and 1.35.
    const OLD: &str = r#"Container image "docker.io/library/a:1" already present on machine"#;
    const NEW: &str = r#"Container image "docker.io/library/a:1" already present on machine and can be accessed by the pod"#;
    const PULL: &str = r#"Successfully pulled image "docker.io/library/a:1" in 1.2s (1.2s including waiting). Image size: 4227376 bytes."#;

    fn event(uid: &str, reason: &str, message: &str) -> Event {
        serde_json::from_value(serde_json::json!({
            "metadata": {}, "reason": reason, "message": message,
            "involvedObject": { "kind": "Pod", "uid": uid },
        }))
        .unwrap()
    }

    fn class_of(events: &[Event], uid: &str) -> Option<ColdStartClass> {
        evidence_of(events, uid).map(|evidence| evidence.class)
    }

    #[test]
    fn the_kubelets_messages_show_whether_the_image_was_pulled() {
        let events = [
            event("old", "Pulled", OLD),
            event("new", "Pulled", NEW),
            event("pull", "Pulled", PULL),
        ];
        let cached = Some(ColdStartClass::ImageCached);
        assert_eq!(class_of(&events, "old"), cached);
        assert_eq!(class_of(&events, "new"), cached);
        assert_eq!(class_of(&events, "pull"), Some(ColdStartClass::NodeCold));
        let pull = evidence_of(&events, "pull").unwrap().pull.unwrap();
        assert_eq!(
            (pull.milliseconds, pull.image_bytes),
            (1200, Some(4_227_376))
        );
        assert_eq!(evidence_of(&events, "new").unwrap().pull, None);
    }

    #[test]
    fn other_messages_reasons_and_pods_are_no_evidence() {
        let events = [
            event("a", "Pulling", PULL),
            event("a", "Pulled", "Image is on the machine"),
            event("b", "Pulled", OLD),
        ];
        assert_eq!(class_of(&events, "a"), None);
        assert_eq!(class_of(&[], "a"), None);
    }

    #[test]
    fn a_compiled_form_counts_only_where_the_image_was_there() {
        use ColdStartClass::{CompileCached, ImageCached, NodeCold};
        for (class, compiled, found) in [
            (ImageCached, Some(CompileCache::Warm), CompileCached),
            (ImageCached, Some(CompileCache::Cold), ImageCached),
            (
                ImageCached,
                Some(CompileCache::NothingToCompile),
                ImageCached,
            ),
            (ImageCached, None, ImageCached),
            (NodeCold, Some(CompileCache::Warm), NodeCold),
        ] {
            assert_eq!(with_compiled(class, compiled), found);
        }
    }

    #[test]
    fn one_pulled_image_makes_a_pod_node_cold() {
        let events = [event("a", "Pulled", OLD), event("a", "Pulled", PULL)];
        assert_eq!(class_of(&events, "a"), Some(ColdStartClass::NodeCold));
    }
}
