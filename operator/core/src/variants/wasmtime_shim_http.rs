//! `wasmtime-shim-http`: the workloads as a `wasi:http` component. The wasmtime shim reads requests
//! and sends answers itself, and creates an instance for each request.

use wasmbench_api::run::Workload;

use crate::config::{Images, RuntimeClasses};
use crate::variants::{SubjectSpec, gateway};

pub(super) fn subject(images: &Images, classes: &RuntimeClasses) -> SubjectSpec {
    SubjectSpec {
        runtime_class: Some(classes.wasmtime.clone()),
        ..gateway(&images.http, images)
    }
}

/// Why it cannot do a workload: a counter has to outlive a request.
pub(super) fn cannot(workload: &Workload) -> Option<&'static str> {
    let path = workload.path.split('?').next();
    (path == Some("/state")).then_some(
        "an instance answers one request only, so that no state is kept from one to the next",
    )
}
