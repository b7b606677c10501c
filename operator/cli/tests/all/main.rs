//! The plugin with files, and against a mock API server.
//!
//! One binary for all of them: linking another takes longer than most tests do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod apiserver_mock;
mod check;
mod cost;
mod follow;
mod init;
mod report_from_files;
#[path = "../../../report/tests/all/results_support/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the core's own tests use all of it"
)]
mod results_support;
mod text;
