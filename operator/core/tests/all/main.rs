//! What the core decides, seen from outside.
//!
//! One binary for all of them: linking another takes longer than most tests do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod common;
mod hostile_records;
mod objects;
mod older_versions;
mod precision_simulation;
mod presets;
mod queue;
mod results_across;
mod results_coldstart;
mod results_density;
mod results_golden;
mod results_html;
mod results_open_loop;
mod results_period;
mod results_precision;
mod results_properties;
mod results_rounding;
mod results_shown;
mod results_summary;
mod results_support;
mod retention;
mod simulated_run;
mod simulated_world;
mod statistics_simulation;
mod status_size;
mod synthetic;
mod validation;
