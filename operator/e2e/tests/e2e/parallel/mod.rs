//! Tests of mechanisms, which run in parallel.

mod actions;
mod altered;
mod capacity;
mod cold_start;
mod cold_start_classes;
mod compare_runs;
mod density;
mod faults;
mod gunicorn;
mod host_network;
mod hostile;
mod isolation;
mod kernels;
mod lifecycle;
mod limits;
mod main_job;
mod misbehaviour;
mod no_room;
mod node_cold;
mod open_loop;
mod payload;
mod presets;
mod schedule;
mod shim_faults;
mod shims;
mod taken_away;
