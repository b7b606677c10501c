//! Benchmarks: figures with the bounds that they keep.

mod gateways;
mod idle;
mod image;
mod pods;
mod processes;
