//! What is planted must be found, and the instruments are checked against others.

mod cpu_time;
mod failures;
mod harness_floor;
mod instruments;
mod many;
mod noise_steps;
mod planted;
mod slow_start;
mod start_delay;
