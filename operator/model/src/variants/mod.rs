//! The ways to execute a service: [`catalogue`] has a row for each that is built in.

pub mod catalogue;
pub mod engine;
pub mod not_applicable;
pub mod presets;
