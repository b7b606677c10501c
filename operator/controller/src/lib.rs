//! The operator: observe -> validate -> plan -> act -> report.
//!
//! Reading order: [`reconcile`] (the five verbs), [`observe`] (reads), [`act`] (writes),
//! [`report`] (status), then [`controller`] (what wakes it up). Every rule is in `wasmbench-core`;
//! this crate holds the client.

pub mod act;
pub mod context;
pub mod controller;
pub mod error;
pub mod http;
pub mod metrics;
pub mod observe;
pub mod quiet;
pub mod reconcile;
pub mod report;
pub mod sweep;
