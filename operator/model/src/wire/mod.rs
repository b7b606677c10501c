//! The documents that leave a process: what the operator requests of a probe ([`request`]) and what
//! that sends ([`sent`]), what the probe prints ([`document`], [`instrument`], [`open_loop`]), both
//! of these for cold starts ([`cold_start`]) and for density ([`density`]), whatever a probe
//! printed ([`evidence`]), what the cluster added to a pod ([`addition`]), and what is kept of a
//! trial ([`record`]). Plain data; what a probe prints and what is kept name their schema. Unknown
//! fields are ignored, and what has another schema is refused ([`schema`]).

pub mod action;
pub mod addition;
pub mod cold_start;
pub mod density;
pub mod document;
pub mod evidence;
pub mod failure;
pub mod instrument;
pub mod open_loop;
pub mod record;
pub mod request;
pub mod schema;
pub mod scout;
pub mod sent;
