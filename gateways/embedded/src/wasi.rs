//! What the module may import: the standard streams of WASI preview 1, and empty arguments and
//! environment; no files, no clock and no randomness.
//!
//! A complete WASI context costs more per instance than the instance itself. This one is three
//! vectors, kept from request to request.

use gateway_wasi::{Streams, errno};
use wasmtime::{Caller, Extern, Linker, ModuleExport, ResourceLimiter, Result};

/// Longest output of one request. A filter that writes more gets an error from `fd_write`.
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// Bytes kept of standard error, to be reported with a failure.
const MAX_MESSAGE_BYTES: usize = 512;

/// Largest memory of an instance: an input of 8 MiB, its copy, and the growth between them.
pub const MAX_MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Largest table of an instance, in elements.
pub const MAX_TABLE_ELEMENTS: usize = 20_000;

/// The host's state for one instance.
#[derive(Default)]
pub struct Host {
    /// The guest's standard streams.
    pub streams: Streams,
    memory: Option<ModuleExport>,
}

impl Host {
    /// A host whose guest exports its memory as `memory`.
    pub fn new(memory: ModuleExport) -> Self {
        Self {
            streams: Streams::new(MAX_OUTPUT_BYTES, MAX_MESSAGE_BYTES),
            memory: Some(memory),
        }
    }
}

impl ResourceLimiter for Host {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(desired <= MAX_MEMORY_BYTES)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(desired <= MAX_TABLE_ELEMENTS)
    }
}

/// Adds the functions to a linker.
pub fn add_to_linker(linker: &mut Linker<Host>) -> Result<()> {
    gateway_wasi::add_streams_to_linker!(linker, Caller<'_, Host>, with, exit);
    Ok(())
}

/// Unwinds the guest with an error; the exit code shows that this is not a failure.
fn exit(mut caller: Caller<'_, Host>, code: i32) -> Result<()> {
    caller.data_mut().streams.exit_code = Some(code);
    Err(wasmtime::Error::msg("proc_exit"))
}

fn with(caller: &mut Caller<'_, Host>, call: impl FnOnce(&mut [u8], &mut Streams) -> i32) -> i32 {
    let export = caller.data().memory;
    let memory = export
        .and_then(|export| caller.get_module_export(&export))
        .and_then(Extern::into_memory);
    let Some(memory) = memory else {
        return errno::FAULT;
    };
    let (memory, host) = memory.data_and_store_mut(caller);
    call(memory, &mut host.streams)
}
