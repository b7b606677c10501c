//! The user's own container. Only the fields on the API's closed list reach the pod.

use wasmbench_api::run::OwnContainer;

use crate::variants::SubjectSpec;

pub(super) fn subject(own: &OwnContainer) -> SubjectSpec {
    SubjectSpec {
        image: own.image.clone(),
        pull_policy: None,
        args: own.args.clone(),
        env: own.env.clone(),
        port: own.port,
        runtime_class: own.runtime_class_name.clone(),
        host_network: false,
        not_allowed: None,
        body_prefix: "",
        listening_line: own.listening_line.clone(),
        engine_path: None,
        actions: None,
    }
}
