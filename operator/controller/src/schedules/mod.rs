//! Reconciles `BenchmarkSchedules`: they start runs, and remove surplus ones. Their rules are in
//! `wasmbench_core::schedule`.
//!
//! Reading order: [`reconcile`] (one reconcile of a schedule), [`observe`] (reads), [`history`]
//! (stores what runs measured), [`act`] (writes), [`report`] (status and Events), then [`watch`]
//! and [`wakes`] (what wakes it up).

mod act;
mod history;
mod observe;
pub mod reconcile;
mod report;
mod wakes;
mod watch;

pub use wakes::Wakes;
pub use watch::{Woken, reconcile_all, wired};
