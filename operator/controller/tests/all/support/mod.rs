//! What several tests share: the chart as Helm renders it, its policies, the operator's objects.

pub mod chart;
pub mod policy;
pub mod runs;
pub mod structural;
