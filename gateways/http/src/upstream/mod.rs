//! Forwarding to the upstream: one exchange per forwarded request, over kept connections.

mod address;
mod exchange;
mod pool;

pub(crate) use address::Authority;
pub(crate) use exchange::{Fault, Forwarded};
pub(crate) use pool::{Finished, Pool};
