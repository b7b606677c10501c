//! Benchmarks: figures with the bounds that they keep.

mod gateways;
mod processes;
