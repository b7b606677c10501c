//! What the container runtime itself reports about a sample: when it pulled the image, when it
//! created and started the processes of the pods, and when they ended. Its events carry its own
//! timestamps and are read when the sample is over.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::time::{Instant, timeout_at};
use wasmbench_model::wire::cold_start::{Clock, ColdStep};

use super::pull::PullEvents;
use super::sample::{Course, Pods};
use super::timeline::Timeline;
use crate::containerd::Container;
use crate::containerd::events::{Happened, RuntimeEvent};
use crate::output::progress;

/// The kubelet's label on containers: the uid of the pod.
const POD_UID: &str = "io.kubernetes.pod.uid";
/// The CRI plugin's label: whether a container is a pod's sandbox.
const KIND: &str = "io.cri-containerd.kind";
/// The last events may still be on their way when the API reports that a pod is gone.
const LATE: Duration = Duration::from_millis(300);

/// Which pod a container belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the pod in its sample.
    pod: usize,
    is_sandbox: bool,
}

/// The place of each container, by container id.
pub type Places = BTreeMap<String, Place>;

impl Course<'_> {
    /// Returns the containers of the pods, as long as they exist.
    pub(super) async fn places(&self, pods: &Pods) -> Places {
        let Some(runtime) = self.runtime.as_ref().filter(|_| !self.request.shares_pod()) else {
            return Places::new();
        };
        let uids: Vec<&str> = (0..pods.timelines.len())
            .map(|index| pods.uid(index).unwrap_or_default())
            .collect();
        let filter = |uid: &&str| format!("labels.\"{POD_UID}\"==\"{uid}\"");
        let known = uids.iter().filter(|uid| !uid.is_empty());
        let filters: Vec<String> = known.map(filter).collect();
        // Without a filter all containers of the node would match.
        if filters.is_empty() {
            return Places::new();
        }
        match runtime.containerd.containers(filters).await {
            Ok(containers) => places(&containers, &uids),
            Err(error) => {
                progress(&format!("no containers: {error}"));
                Places::new()
            }
        }
    }

    /// Adds to the timelines what containerd reported about these containers; returns what it
    /// reported about the pull of their image.
    pub(super) async fn hear_runtime(&mut self, places: &Places, pods: &mut Pods) -> PullEvents {
        let mut pull = PullEvents::new(self.image());
        let Some(runtime) = &mut self.runtime else {
            return pull;
        };
        let mut missing = places.values().filter(|place| !place.is_sandbox).count();
        let deadline = Instant::now() + LATE;
        while missing > 0 {
            let Ok(Some(event)) = timeout_at(deadline, runtime.events.next()).await else {
                break;
            };
            let place = places.get(&event.of);
            pull.note(
                &event,
                place
                    .filter(|place| !place.is_sandbox)
                    .map(|place| place.pod),
            );
            let step = note(&event, places, &mut pods.timelines);
            missing -= usize::from(step == Some(ColdStep::TaskExited));
        }
        // Drop what is left: it belongs to no pod of a later sample.
        while runtime.events.try_recv().is_ok() {}
        pull
    }
}

fn places(containers: &[Container], uids: &[&str]) -> Places {
    let place = |container: &Container| {
        let uid = container.labels.get(POD_UID)?;
        let place = Place {
            pod: uids.iter().position(|known| known == uid)?,
            is_sandbox: container.labels.get(KIND)? == "sandbox",
        };
        Some((container.id.clone(), place))
    };
    containers.iter().filter_map(place).collect()
}

/// Adds an event to the timeline of its pod; returns the step, if the event marks one.
fn note(event: &RuntimeEvent, places: &Places, timelines: &mut [Timeline]) -> Option<ColdStep> {
    let place = places.get(&event.of)?;
    let step = match (event.happened, place.is_sandbox) {
        (Happened::Started, true) => ColdStep::SandboxStarted,
        (Happened::Created, false) => ColdStep::TaskCreated,
        (Happened::Started, false) => ColdStep::TaskStarted,
        (Happened::Exited, false) => ColdStep::TaskExited,
        (Happened::Created | Happened::Exited, true)
        | (Happened::Recorded | Happened::ImageCreated | Happened::LayerUnpacked, _) => {
            return None;
        }
    };
    timelines
        .get_mut(place.pod)?
        .reach(step, event.at, Clock::ContainerdEvent, None);
    Some(step)
}

#[cfg(test)]
mod tests {
    use wasmbench_model::wire::cold_start::ColdPod;

    use super::*;

    fn container(id: &str, uid: &str, kind: &str) -> Container {
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        Container {
            id: id.into(),
            labels: [label(POD_UID, uid), label(KIND, kind)].into(),
            image: "a".into(),
        }
    }

    fn event(container: &str, happened: Happened, at: i64) -> RuntimeEvent {
        RuntimeEvent {
            of: container.into(),
            happened,
            at,
        }
    }

    #[test]
    fn events_go_to_the_pod_of_their_container_and_to_the_step_of_its_kind() {
        let containers = [
            container("s0", "one", "sandbox"),
            container("c0", "one", "container"),
            container("c1", "two", "container"),
            container("other", "three", "container"),
        ];
        let places = places(&containers, &["one", "two"]);
        let mut timelines = ["p0", "p1"].map(|name| Timeline::new(name.into(), 1000));
        for (container, happened, at) in [
            ("s0", Happened::Created, 1010),
            ("s0", Happened::Started, 1020),
            ("c0", Happened::Created, 1030),
            ("c0", Happened::Started, 1040),
            ("c1", Happened::Started, 1045),
            ("other", Happened::Started, 1050),
            ("unknown", Happened::Started, 1060),
            ("c0", Happened::Exited, 1070),
            ("s0", Happened::Exited, 1080),
        ] {
            note(&event(container, happened, at), &places, &mut timelines);
        }
        let pods = timelines.map(Timeline::finish);
        let steps = |pod: &ColdPod| -> Vec<(ColdStep, i64)> {
            let steps = pod.steps.iter();
            steps.map(|(step, at)| (*step, at.nanoseconds)).collect()
        };
        let first = [
            (ColdStep::SandboxStarted, 20),
            (ColdStep::TaskCreated, 30),
            (ColdStep::TaskStarted, 40),
            (ColdStep::TaskExited, 70),
        ];
        assert_eq!(steps(&pods[0]), first);
        assert_eq!(steps(&pods[1]), [(ColdStep::TaskStarted, 45)]);
        let clocks = pods[0].steps.values().map(|moment| moment.clock);
        assert!(clocks.into_iter().all(|c| c == Clock::ContainerdEvent));
    }
}
