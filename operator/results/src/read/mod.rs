//! Records as numbers: what one record shows of its trial, and what all of them together show of the
//! run. Nothing is compared and nothing is judged here.
//!
//! Reading order: [`fortio`] and [`histogram`] (what one window measured), [`trial`],
//! [`open_loop_trial`], [`climb_trial`], [`payload_trial`], [`cold_trial`] and [`density_trial`] (the numbers of one record),
//! [`observation`] (all that a summary needs of it), [`answers`] and [`environment`] (all
//! observations of a run).

pub mod additional;
pub mod answer_sizes;
pub mod answers;
pub mod bodies;
pub mod ceiling;
pub mod climb_trial;
mod clock;
pub mod cold_trial;
pub mod cpu_limit;
pub mod density_trial;
pub mod env_values;
pub mod environment;
pub mod figures;
pub mod fortio;
mod generator;
pub mod histogram;
pub mod mix;
pub mod node_use;
pub mod observation;
pub mod open_loop_trial;
pub mod payload_trial;
pub mod period;
pub mod pod_use;
pub mod scout;
pub mod substrate;
pub mod traffic;
pub mod trial;
pub mod trial_columns;
