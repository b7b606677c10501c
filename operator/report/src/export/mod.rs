//! A summary in the formats of other programs: [`junit`] for test reports, [`bmf`] for a benchmark
//! tracker, [`benchstat`] for Go's tools, [`github`] for a job summary or a comment. [`points`] has
//! the numbers that they export.

pub mod benchstat;
pub mod bmf;
pub mod github;
pub mod junit;
mod points;
