//! What is planted must be found, the instruments are checked against others, and what is to happen
//! at once is timed.

mod cpu_time;
mod equal_runs;
mod failures;
mod harness_floor;
mod instruments;
mod many;
mod noise_steps;
mod planted;
mod promptness;
mod slow_start;
mod start_delay;
