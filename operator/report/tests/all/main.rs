//! What records add up to and what people see of it, tested from outside.
//!
//! One binary for all of them: linking another takes longer than most tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod capacity_simulation;
mod change_simulation;
mod climbs_that_say_little;
#[path = "../../../core/tests/all/common/fixtures.rs"]
mod common;
mod difference_simulation;
mod env_values;
mod expectations_simulation;
mod history;
mod hostile_histories;
mod hostile_records;
mod memory;
mod modes_simulation;
mod noise_simulation;
mod order_simulation;
mod payload_simulation;
mod power_simulation;
mod precision_simulation;
mod results_across;
mod results_capacity;
mod results_capacity_plot;
mod results_coldstart;
mod results_cost;
mod results_density;
mod results_exported;
mod results_first_screen;
mod results_gave_up;
mod results_golden;
mod results_html;
mod results_ladder_plot;
mod results_limits;
mod results_open_loop;
mod results_payload;
mod results_period;
mod results_power;
mod results_precision;
mod results_properties;
mod results_rounding;
mod results_scouts;
mod results_shown;
mod results_summary;
mod results_support;
mod statistics_simulation;
mod status_size;
mod steady_simulation;
mod synthetic;
