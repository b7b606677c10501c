//! Tests of the operator against a mock API server, and of the files that must match the operator.
//!
//! One binary for all of them: linking another would take longer than most tests do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod admission;
mod api_reference;
mod apiserver_mock;
mod bodies;
mod catalogue_in_sync;
mod chart;
mod chart_rbac;
mod circles;
mod crd_in_sync;
mod engine_settings;
mod installations;
mod manifests;
mod mistakes;
mod scale;
mod schedules;
mod support;
mod undecodable;
mod unwritten;
mod waiting;
