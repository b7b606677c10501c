//! Everything wasmbench decides, without a client, a clock or async code (`Cargo.toml` proves it).
//!
//! Reading order: [`validate`] (what a run means), [`admit`] (whether it may begin), [`scale`] (objects that are there already), [`subject`] (what
//! the pods under test run), [`observed`] (what was seen of the cluster), [`epoch`] (which operator a
//! probe is of), [`demands`] (what a run asks of its node), [`fit`] (which nodes meet that), [`queue`]
//! (whose turn it is), [`plan`] (what to do next: the rules), [`build`] (the objects to create),
//! [`outcome`] (how a trial ended), [`mod@scope`] (how far a failure reaches), [`ordinary_image`] (what
//! cannot be known about an image), [`lifetime`] (how long a run is kept), [`schedule`] (what starts runs)
//! and [`config`] (what the administrator decided). Documents and records are in `wasmbench-model`.
//! `wasmbench-results` computes results from the records, and `wasmbench-report` presents them to people.

pub mod admit;
pub mod build;
pub mod config;
pub mod demands;
pub mod epoch;
pub mod fit;
pub mod lifetime;
pub mod observed;
pub mod ordinary_image;
pub mod outcome;
pub mod plan;
pub mod queue;
pub mod scale;
pub mod schedule;
pub mod scope;
pub mod subject;
pub mod validate;
