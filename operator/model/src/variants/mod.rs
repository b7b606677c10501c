//! The ways to execute a service: [`presets`] has a row for each that is built in.

pub mod engine;
pub mod not_applicable;
pub mod presets;
