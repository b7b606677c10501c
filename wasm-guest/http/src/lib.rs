//! The workloads as a `wasi:http` component: the host reads requests and sends answers, and makes an
//! instance for each. Comes in: a request as a resource of the host. Goes out: the same answer as that
//! of the native gateway, or that of the upstream.
//!
//! Reading order: `exchange` (one request to its end), `answer`, `upstream` (forwarding), `stream` (bodies).

#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod answer;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod exchange;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod stream;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod upstream;
