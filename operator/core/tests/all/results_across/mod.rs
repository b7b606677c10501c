//! Two runs compared: which may be, what is listed, and what the numbers come to.

#![allow(clippy::unwrap_used, reason = "a broken fixture must stop the test")]

mod differences;
mod engines;
mod invalid;
mod lost;
mod ratios;
mod support;
mod versus;
