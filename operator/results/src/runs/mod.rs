//! Several runs: [`across`] compares them with each other, [`history`] follows those of a schedule.

pub mod across;
pub mod history;
