//! Two runs compared: which may be, what is listed, and what the numbers come to.

mod between_runs;
mod differences;
mod engines;
mod invalid;
mod lost_points;
mod ratios;
mod support;
mod untrusted;
mod versus;
