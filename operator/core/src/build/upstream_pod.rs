//! The echo server behind the proxy workload: one pod at a time, on the measured node, the same for
//! every variant.

use k8s_openapi::api::core::v1::{Container, ContainerPort, Pod, PodSpec};
use wasmbench_api::labels;
use wasmbench_model::containers;
use wasmbench_model::images::{Images, UPSTREAM};
use wasmbench_model::variants::presets::GATEWAY_PORT;

use crate::build::{names, owned_meta, pod};
use crate::validate::ValidatedRun;

/// The echo server of `run` on `node`, after so many `restarts`.
pub fn upstream_pod(run: &ValidatedRun, images: &Images, node: &str, restarts: usize) -> Pod {
    let placement = run.spec.placement.clone().unwrap_or_default();
    let name = names::upstream(run, restarts);
    let meta = owned_meta(run, name, labels::COMPONENT_UPSTREAM);
    pod::signed(Pod {
        metadata: pod::undisturbed(meta),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: containers::UPSTREAM.into(),
                image: Some(images.reference(UPSTREAM).to_owned()),
                image_pull_policy: Some(images.pull_policy.clone()),
                ports: Some(vec![ContainerPort {
                    name: Some("http".into()),
                    container_port: i32::from(GATEWAY_PORT),
                    ..ContainerPort::default()
                }]),
                resources: Some(pod::resources("50m", "32Mi", "128Mi")),
                security_context: Some(pod::locked_down(true)),
                ..Container::default()
            }],
            ..pod::restricted(node, &placement)
        }),
        status: None,
    })
}
