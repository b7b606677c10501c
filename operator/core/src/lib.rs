//! Everything wasmbench decides, without a client, a clock or async code (`Cargo.toml` proves it).
//!
//! Reading order: [`validate`] (what a run means), [`admit`] (whether it may begin), [`twin`] (what
//! else it measures), [`observed`] (what was seen of the cluster), [`demands`] (what a run asks of its node), [`plan`] (what to do next: the
//! rules), [`build`] (the objects to create), [`altered`] (whether a pod is what was asked for),
//! [`containers`] (which of its containers is ours), [`variants`] (one file per way to execute a
//! service), [`outcome`] (how a trial ended), [`noise`] (whether the node was quiet), [`open_loop`] (a load
//! on a schedule), [`ordinary_image`] (what cannot be known about an image), [`points`] (which
//! points the sweeps have), [`progress_message`] (what a run says it is doing), [`lifetime`] (how
//! long a run is kept), [`schedule`] (what starts runs), [`wire`] (what passes between operator and
//! probe, and what a record holds), [`store`] (how records are kept), [`units`] and [`rounding`]
//! (numbers for people) and [`version`] (which build it was).
//! `wasmbench-results` computes results from the records, and `wasmbench-report` presents them to
//! people.

pub mod admit;
pub mod altered;
pub mod build;
pub mod config;
pub mod containers;
pub mod cpu_list;
pub mod demands;
pub mod lifetime;
pub mod noise;
pub mod observed;
pub mod open_loop;
pub mod ordinary_image;
pub mod outcome;
pub mod plan;
pub mod points;
pub mod progress_message;
pub mod rounding;
pub mod schedule;
pub mod store;
pub mod twin;
pub mod units;
pub mod validate;
pub mod variants;
pub mod version;
pub mod waiting;
pub mod wire;
