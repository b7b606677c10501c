//! What is measured, and the terms that distinguish results. No number is computed here.

pub mod cell;
pub mod counts;
pub mod doubt;
pub mod measure;
pub mod minimum;
pub mod primary;
pub mod trial_reason;
