//! All end-to-end tests, in one program. The folder determines how a test runs:
//!
//! - `beside`: in parallel with the others, each run on a node that the operator chooses. Asserts
//!   no number that depends on how busy the machine is.
//! - `alone`: one after the other, because it stops or changes what all tests share.
//! - `selftest`: on a quiet machine, by `make selftest`: planted differences must be found, and
//!   times are asserted.
//! - `bench`: on a quiet machine, by `make bench`.
//! - `surface`: with a Prometheus or a browser, by `make test-surface`.

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
