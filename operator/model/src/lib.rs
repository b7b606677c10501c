//! What a run reports and what is kept of it: the ground that everything else stands on. Nothing is
//! decided here, and there is no client, no clock and no async code.
//!
//! [`wire`] (what passes between operator and probe, and what a record holds), [`store`] (how records
//! are kept), [`pace`] (when they were, and what made trials longer), [`points`], [`cells`] and [`twin`] (what a run measures), [`variants`] (the built-in ways
//! to execute a service) and [`images`] (what they need), [`altered`] and [`containers`] (whether a pod
//! is the desired one), [`waiting`] (why it does not start), [`quote`] (what others write), [`noise`] and [`cpu_list`] (whether a
//! node was quiet), [`open_loop`] (a load on a schedule), [`ladder`] (several of them, one after the
//! other), [`names`] (of objects), [`digest`] (of contents), [`units`] and [`rounding`] (numbers for
//! people) and [`version`] (which build it was).

pub mod altered;
pub mod cells;
pub mod containers;
pub mod cpu_list;
pub mod digest;
pub mod images;
pub mod ladder;
pub mod names;
pub mod noise;
pub mod open_loop;
pub mod pace;
pub mod points;
pub mod quote;
pub mod rounding;
pub mod store;
pub mod twin;
pub mod units;
pub mod variants;
pub mod version;
pub mod waiting;
pub mod wire;
