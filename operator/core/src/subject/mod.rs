//! What the pod of a variant runs. The rest of the pod (placement, resources, security) is in
//! [`crate::build`].

mod preset;
mod spec;

use wasmbench_api::run::{OwnContainer, ScaleTarget, Variant, Workload};
use wasmbench_model::images::{Images, PROBE};
use wasmbench_model::variants::catalogue;
use wasmbench_model::wire::action::ActionCall;

use crate::config::OperatorConfig;
pub use spec::SubjectSpec;
use spec::gateway;

/// The probe's command that listens.
const LISTEN: &str = "listen";

/// What the pod of `variant` runs; `None` when it has neither preset nor container, and scales nothing
/// that the administrator allows.
pub fn subject(variant: &Variant, config: &OperatorConfig) -> Option<SubjectSpec> {
    let settings = variant.engine.unwrap_or_default();
    catalogue::definition_of(variant)
        .map(|row| preset::subject(row, settings, config))
        .or_else(|| variant.container.as_ref().map(own_container))
        .or_else(|| scaled(variant.scale.as_ref()?, config))
}

/// The user's own container. Only the fields on the API's closed list reach the pod.
fn own_container(own: &OwnContainer) -> SubjectSpec {
    SubjectSpec {
        target: None,
        image: own.image.clone(),
        pull_policy: None,
        command: own.command.clone(),
        args: own.args.clone(),
        run_as_user: own.run_as_user,
        run_as_group: own.run_as_group,
        env: own.env.clone(),
        port: own.port,
        scheme: own.scheme,
        runtime_class: own.runtime_class_name.clone(),
        host_network: false,
        not_allowed: None,
        body_prefix: "",
        listening_line: own.listening_line.clone(),
        ready: own.ready.clone(),
        engine_path: None,
        counts_instances: false,
        actions: None,
    }
}

/// A pod that an object makes once it is scaled.
fn scaled(scale: &ScaleTarget, config: &OperatorConfig) -> Option<SubjectSpec> {
    Some(SubjectSpec {
        target: Some(config.scale.target(scale)?),
        image: String::new(),
        pull_policy: None,
        command: vec![],
        args: vec![],
        run_as_user: None,
        run_as_group: None,
        env: vec![],
        port: scale.port,
        scheme: scale.scheme,
        runtime_class: None,
        host_network: false,
        not_allowed: None,
        body_prefix: "",
        listening_line: None,
        ready: scale.ready.clone(),
        engine_path: None,
        counts_instances: false,
        actions: None,
    })
}

/// The harness's floor: not a variant, but a subject that does nothing except listen. It runs the
/// probe's own image, which is already on the node, under the node's default runtime.
pub fn floor(images: &Images) -> SubjectSpec {
    SubjectSpec {
        args: vec![LISTEN.into()],
        ..gateway(PROBE, images)
    }
}

/// The call of the workload's function through the action protocol, if it has one.
pub fn action_call(subject: &SubjectSpec, workload: &Workload) -> Option<ActionCall> {
    let action = workload.action.as_ref()?;
    let given = action.parameters.iter();
    let parameters = given.map(|(name, value)| (name.clone(), value.0.clone()));
    Some(ActionCall {
        code: <&str>::from(action.code).to_owned(),
        parameters: parameters.collect(),
        instances: subject.actions?,
    })
}
