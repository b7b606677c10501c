//! All end-to-end tests, in one program. The folder says how a test runs:
//!
//! - `beside`: side by side with the others, each run on a node that the operator chooses. No number
//!   that a busy machine moves is asserted here.
//! - `alone`: one after the other, because it stops or changes what all tests share.
//! - `selftest`: on a quiet machine, by `make selftest`: what is planted must be found, and times are
//!   asserted.
//! - `bench`: on a quiet machine, by `make bench`.
//! - `surface`: beside a Prometheus or with a browser, by `make test-surface`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a broken fixture must stop the test, and figures help"
)]

mod alone;
mod bench;
mod beside;
mod selftest;
mod surface;
