//! The workloads as a `wasi:http` component: the host reads requests and sends responses, and
//! creates an instance for each. Input: a request as a resource of the host. Output: the same
//! response as the native gateway's, or the upstream's.
//!
//! Reading order: `exchange` (one request to its end), `answer`, `upstream` (forwarding), `stream`
//! (bodies).

#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod answer;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod exchange;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod stream;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod upstream;
