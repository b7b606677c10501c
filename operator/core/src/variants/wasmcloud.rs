//! `wasmcloud`: the workloads as a `wasi:http` component on a wasmCloud host, with its HTTP server
//! and a NATS server of its own, in an ordinary pod.

use wasmbench_api::run::Workload;

use crate::config::Images;
use crate::variants::{SubjectSpec, gateway, wasmtime_shim_http};

pub(super) fn subject(images: &Images) -> SubjectSpec {
    gateway(&images.wasmcloud, images)
}

/// Why it cannot do a workload: an instance answers one request, and the component is linked to
/// nothing but the HTTP server.
pub(super) fn cannot(workload: &Workload) -> Option<&'static str> {
    let upstream = workload
        .upstream
        .then_some("a component that is linked to the HTTP server alone has no upstream to ask");
    upstream.or_else(|| wasmtime_shim_http::cannot(workload))
}
