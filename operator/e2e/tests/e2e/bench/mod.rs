//! Benchmarks: figures and the bounds that they must keep.

mod estimate;
mod gateways;
mod idle;
mod image;
mod pods;
mod processes;
mod queue;
mod silence;
