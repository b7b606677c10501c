//! The operator: validate -> observe -> plan -> act -> report.
//!
//! Reading order: [`reconcile`] (the five verbs), [`observe`] (reads), [`act`] (writes), [`report`]
//! (status), [`show`] with [`exported`] (results for Prometheus), then [`controller`] (what wakes it up),
//! [`queue`] with [`turns`] (whose turn it is), [`schedules`] (what starts runs) and [`operator`] with
//! [`leader`] (which process does all that). Every rule is in `wasmbench-core`; this crate holds the client.

pub mod act;
mod clock;
pub mod context;
pub mod controller;
pub mod crds;
pub mod deletions;
pub mod error;
pub mod exported;
mod guard;
pub mod http;
pub mod leader;
pub mod metrics;
mod namespaces;
pub mod observe;
pub mod operator;
mod pages;
mod pause;
mod queue;
pub mod quiet;
pub mod reconcile;
mod remove;
pub mod report;
mod runs_in_memory;
pub mod scale;
pub mod schedules;
mod show;
pub mod status;
pub mod sweep;
pub mod turns;

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Tag of this build, if it has one.
pub const BUILD: Option<&str> = option_env!("WASMBENCH_BUILD");

/// Version and build, for people.
pub static VERSION: LazyLock<String> =
    LazyLock::new(|| wasmbench_model::version::describe(wasmbench_model::version::VERSION, BUILD));

/// The contents of a mutex, which stay consistent even if a thread panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
