//! What the API reports about a pod, as moments of its timeline. Pure.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodStatus};
use wasmbench_api::owner::template_of;
use wasmbench_model::containers;
use wasmbench_model::wire::cold_start::{Clock, ColdStep};

use super::Timeline;

/// Conditions of a pod and the steps that they mark.
const CONDITIONS: [(&str, ColdStep); 3] = [
    ("PodScheduled", ColdStep::Scheduled),
    ("PodReadyToStartContainers", ColdStep::SandboxReady),
    ("Ready", ColdStep::ReadyPublished),
];

impl Timeline {
    /// Notes what the API reported about the pod at `at`; returns its address the first time only.
    pub fn saw(&mut self, pod: &Pod, at: i64) -> Option<IpAddr> {
        let status = pod.status.as_ref()?;
        for (type_, step) in CONDITIONS {
            if is_true(status, type_) {
                self.reach(step, at, Clock::WatchArrival, None);
            }
        }
        self.saw_containers(pod, at);
        self.pod.template = template_of(&pod.metadata).map(str::to_owned);
        self.stamps(pod, status);
        let address: IpAddr = status.pod_ip.as_ref()?.parse().ok()?;
        self.reach(ColdStep::AddressPublished, at, Clock::WatchArrival, None);
        self.address.replace(address).is_none().then_some(address)
    }

    /// Notes whether the containers that are measured run, and their images: ours, or all of somebody else's pod.
    fn saw_containers(&mut self, pod: &Pod, at: i64) {
        let (measured, all_run, image): (Vec<&ContainerStatus>, _, _) = if self.is_foreign {
            let all = containers::serving(pod).collect();
            (all, containers::all_run(pod), containers::image_ids(pod))
        } else {
            let ours = containers::status(pod);
            let image = ours.map(|one| one.image_id.clone());
            let runs = ours.is_some_and(containers::is_running);
            (
                ours.into_iter().collect(),
                runs,
                image.filter(|id| !id.is_empty()),
            )
        };
        if all_run {
            self.reach(ColdStep::ContainerStarted, at, Clock::WatchArrival, None);
            let started = |one: &&ContainerStatus| {
                let running = one.state.as_ref()?.running.as_ref()?;
                Some(running.started_at.as_ref()?.0)
            };
            if let Some(last) = measured.iter().filter_map(started).max() {
                let stamps = &mut self.pod.api_stamps;
                stamps.insert("running".into(), last.to_string());
            }
        }
        self.pod.image_id = image.or(self.pod.image_id.take());
    }

    /// Notes the API's timestamps, unless the pod is deleted, which changes them.
    fn stamps(&mut self, pod: &Pod, status: &PodStatus) {
        if pod.metadata.deletion_timestamp.is_some() {
            return;
        }
        let stamps = &mut self.pod.api_stamps;
        if let Some(created) = &pod.metadata.creation_timestamp {
            stamps.insert("created".into(), created.0.to_string());
        }
        for (type_, _) in CONDITIONS {
            let conditions = status.conditions.iter().flatten();
            let found = conditions
                .filter(|c| c.type_ == type_ && c.status == "True")
                .find_map(|c| c.last_transition_time.as_ref());
            if let Some(time) = found {
                stamps.insert(type_.into(), time.0.to_string());
            }
        }
    }
}

fn is_true(status: &PodStatus, type_: &str) -> bool {
    let mut conditions = status.conditions.iter().flatten();
    conditions.any(|c| c.type_ == type_ && c.status == "True")
}
