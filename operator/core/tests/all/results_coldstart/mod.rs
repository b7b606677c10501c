//! Cold starts from records to every place where people see them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

mod blind;
mod comparisons;
mod limits;
mod precision;
mod report;
mod shown;
mod support;
mod validity;
