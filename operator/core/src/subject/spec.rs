//! What the pod of a subject runs.

use wasmbench_api::run::{EnvVar, Ready, Scheme};
use wasmbench_model::images::Images;
use wasmbench_model::variants::presets::{GATEWAY_LINE, GATEWAY_PORT};
use wasmbench_model::wire::action::Instances;

use crate::scale::Target;

/// The path at which every gateway reports how it executes.
const ENGINE_PATH: &str = "/engine";

/// What a variant's pod runs.
#[derive(Clone, Debug, PartialEq)]
pub struct SubjectSpec {
    /// The object whose controller makes the pod; `None`: wasmbench makes it. What such a pod runs is
    /// its owner's business, so that of the fields below only those about the port count.
    pub target: Option<Target>,
    /// Image.
    pub image: String,
    /// Pull policy; `None` leaves it to Kubernetes, as for the user's own images.
    pub pull_policy: Option<String>,
    /// Program and first arguments that run instead of the entrypoint, if there are any.
    pub command: Vec<String>,
    /// Arguments of the entrypoint.
    pub args: Vec<String>,
    /// Number of its user; `None` leaves it to the image.
    pub run_as_user: Option<i64>,
    /// Number of its group; `None` leaves it to the image.
    pub run_as_group: Option<i64>,
    /// Environment, besides what the operator adds.
    pub env: Vec<EnvVar>,
    /// Port of the service.
    pub port: u16,
    /// How it is spoken to there.
    pub scheme: Scheme,
    /// `RuntimeClass` of the pod.
    pub runtime_class: Option<String>,
    /// Whether the pod is on the node's network, regardless of the other variants.
    pub host_network: bool,
    /// Why the administrator's settings forbid it, and what to do; `None` if they allow it.
    pub not_allowed: Option<&'static str>,
    /// Prefix that the variant by definition puts before every body.
    pub body_prefix: &'static str,
    /// Part of the log line that announces that the service listens; `None`: the first line does.
    pub listening_line: Option<String>,
    /// The request that shows that it is ready; `None`: the workload's own does.
    pub ready: Option<Ready>,
    /// Path at which it describes its engine; `None` for a service that claims none.
    pub engine_path: Option<&'static str>,
    /// Whether it adds up there what its Wasm instances cost.
    pub counts_instances: bool,
    /// What each further function is, if the subject is called through the action protocol.
    pub actions: Option<Instances>,
}

/// A pod of one of our own images, by its name in the catalogue, without arguments.
pub(super) fn gateway(image: &str, images: &Images) -> SubjectSpec {
    SubjectSpec {
        target: None,
        image: images.reference(image).to_owned(),
        pull_policy: Some(images.pull_policy.clone()),
        command: vec![],
        args: vec![],
        run_as_user: None,
        run_as_group: None,
        env: vec![],
        port: GATEWAY_PORT,
        scheme: Scheme::Http,
        runtime_class: None,
        host_network: false,
        not_allowed: None,
        body_prefix: "",
        listening_line: Some(GATEWAY_LINE.into()),
        ready: None,
        engine_path: Some(ENGINE_PATH),
        counts_instances: false,
        actions: None,
    }
}
