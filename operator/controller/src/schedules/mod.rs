//! Looks after `BenchmarkSchedules`: they start runs, and remove those of which there are too many. What they decide is
//! in `wasmbench_core::schedule`.
//!
//! Reading order: [`reconcile`] (one look at a schedule), [`observe`] (reads), [`history`] (keeps what runs measured),
//! [`act`] (writes), [`report`] (status and Events), then [`watch`] and [`wakes`] (what wakes it up).

mod act;
mod history;
mod observe;
pub mod reconcile;
mod report;
mod wakes;
mod watch;

pub use wakes::Wakes;
pub use watch::{Woken, look_after, wired};
