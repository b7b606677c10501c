//! Comparison of two runs: which runs may be compared, what is listed, and what the numbers say.

mod between_runs;
mod differences;
mod engines;
mod invalid;
mod lost_points;
mod ratios;
mod run_scatter;
mod support;
mod untrusted;
mod versus;
