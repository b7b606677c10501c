//! A summary in the formats of other programs: [`junit`] for test reports, [`bmf`] for a tracker of
//! benchmarks, [`benchstat`] for Go's tools, [`github`] for a job summary or a comment. [`points`]
//! has the numbers that they give away.

pub mod benchstat;
pub mod bmf;
pub mod github;
pub mod junit;
mod points;
