//! Everything wasmbench decides, without a client, a clock or async code (`Cargo.toml` proves it).
//!
//! Reading order: [`wire`] (what passes between operator and probe, and what a record holds),
//! [`results`] (records to numbers, tables and reports).

pub mod results;
pub mod wire;
