//! What executors need of WAMR (WebAssembly Micro Runtime): its fast interpreter, which translates a
//! module when it is loaded, and compares each address with the memory's length.
//!
//! Unlike the bindings in the crate `wamrx`, a module is loaded once and instantiated often and on
//! any thread, host functions reach the guest's memory, memory is limited, and calls can be stopped.
//!
//! Reading order: [`Module`], [`Instance`], [`host`] (functions that guests import), [`version`].

pub mod host;
mod instance;
mod module;
mod runtime;

pub use host::{Caller, Exit, Functions};
pub use instance::{Instance, Interrupter, Limits};
pub use module::Module;
pub use runtime::version;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 65_536;
