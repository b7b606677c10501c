//! A summary in the formats of other programs: [`junit`] for test reports, [`github`] for a job
//! summary or a comment.

pub mod github;
pub mod junit;
