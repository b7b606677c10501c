//! A summary in the formats of other programs. The snapshots document the formats.

mod github;
mod hostile;
mod junit;
mod support;
