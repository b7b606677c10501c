//! All end-to-end tests, in one program. The folder determines how a test runs:
//!
//! - `parallel`: in parallel with the others, each run on a node that the operator chooses. Asserts
//!   no number that depends on how busy the machine is.
//! - `serial`: one after the other, because it stops or changes what all tests share.
//! - `selftest`: on a quiet machine, by `make selftest`: planted differences must be found, and
//!   times are asserted.
//! - `bench`: on a quiet machine, by `make bench`.
//! - `ui`: with a Prometheus or a browser, by `make test-ui`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a broken fixture must stop the test, and figures help"
)]

mod bench;
mod parallel;
mod selftest;
mod serial;
mod ui;
