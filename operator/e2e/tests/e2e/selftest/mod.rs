//! Planted differences must be found, the instruments are checked against others, and prompt
//! actions are timed.

mod capacity;
mod cpu_time;
mod equal_runs;
mod failures;
mod harness_floor;
mod instruments;
mod leader;
mod limits;
mod many;
mod noise_steps;
mod planted;
mod promptness;
mod slow_start;
mod start_delay;
