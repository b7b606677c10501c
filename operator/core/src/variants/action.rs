//! `action-...`: functions that are called through Apache OpenWhisk's action protocol. A native
//! function has a pod of its own, whose proxy starts the function's program for each call; a Wasm
//! module is one of many in a long-lived process.

use wasmbench_api::run::{Engine, Workload};

use crate::config::Images;
use crate::variants::{SubjectSpec, compile, compile_env, gateway};
use crate::wire::action::{ActionCall, Instances};

pub(super) fn native(images: &Images) -> SubjectSpec {
    SubjectSpec {
        actions: Some(Instances::Pods),
        ..gateway(&images.action_native, images)
    }
}

/// An executor that compiles: ahead of time means once, before the starts that count.
pub(super) fn compiled(image: &str, images: &Images, engine: Engine) -> SubjectSpec {
    SubjectSpec {
        env: vec![compile_env(compile(engine))],
        ..interpreted(image, images)
    }
}

pub(super) fn interpreted(image: &str, images: &Images) -> SubjectSpec {
    SubjectSpec {
        actions: Some(Instances::Modules),
        ..gateway(image, images)
    }
}

/// Why a preset cannot do `workload`; `is_host` tells whether it is called through the protocol.
pub(super) fn cannot(is_host: bool, workload: &Workload) -> Option<&'static str> {
    match (is_host, workload.action.is_some()) {
        (true, true) | (false, false) => None,
        (true, false) => {
            Some("it is called by the action protocol only: give the workload an action")
        }
        (false, true) => {
            Some("it does not speak the action protocol, by which the workload is called")
        }
    }
}

/// The call of the workload's function, if it has one.
pub fn call(subject: &SubjectSpec, workload: &Workload) -> Option<ActionCall> {
    let action = workload.action.as_ref()?;
    let parameters = action.parameters.iter();
    let parameters = parameters.map(|(name, value)| (name.clone(), value.0.clone()));
    Some(ActionCall {
        code: <&str>::from(action.code).to_owned(),
        parameters: parameters.collect(),
        instances: subject.actions?,
    })
}
