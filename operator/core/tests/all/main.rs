//! What the core decides, seen from outside.
//!
//! One binary for all tests: linking another one takes longer than most tests do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod altered;
mod common;
mod complete_blocks;
mod exclusion;
mod finishing;
mod interruption;
mod kernels;
mod nodes;
mod objects;
mod overlap;
mod own_resources;
mod pace;
mod payload;
mod presets;
mod queue;
mod retention;
mod schedule;
mod schedule_status;
mod scouted;
mod simulated_fleet;
mod simulated_objects;
mod simulated_run;
mod simulated_scale;
mod simulated_world;
mod turns;
mod validation;
