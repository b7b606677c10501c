//! The documents that leave a process: what the operator asks of a probe ([`request`]), what the
//! probe answers ([`document`], [`instrument`], [`open_loop`]), both for cold starts
//! ([`cold_start`]) and for density ([`density`]), all of which is [`evidence`], and what is kept
//! of a trial ([`record`]). Plain data with a schema name in each; unknown fields are ignored, so
//! that newer writers do not break older readers.

pub mod action;
pub mod cold_start;
pub mod density;
pub mod document;
pub mod evidence;
pub mod instrument;
pub mod open_loop;
pub mod record;
pub mod request;
