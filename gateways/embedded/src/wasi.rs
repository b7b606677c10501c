//! The part of WASI preview 1 that a filter from standard input to standard output imports.
//!
//! A complete WASI context costs more per instance than the instance itself. This one is three
//! vectors, kept from request to request. Descriptors 0, 1 and 2 exist; there are no arguments,
//! no environment, no files, no clock and no randomness.

use wasmtime::{Caller, Linker, Memory, ModuleExport, ResourceLimiter, Result};

/// The module name of all these functions.
const MODULE: &str = "wasi_snapshot_preview1";

/// Longest output of one request. A filter that writes more gets an error from `fd_write`.
const MAX_OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// Bytes kept of standard error, to be reported with a failure.
const MAX_MESSAGE_BYTES: usize = 512;

/// Largest memory of an instance: an input of 8 MiB, its copy, and the growth between them.
pub const MAX_MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Largest table of an instance, in elements.
pub const MAX_TABLE_ELEMENTS: usize = 20_000;

/// `errno` values of WASI.
mod errno {
    pub const SUCCESS: i32 = 0;
    pub const BADF: i32 = 8;
    pub const FAULT: i32 = 21;
    pub const NOSPC: i32 = 51;
}

/// The host's state for one instance.
#[derive(Default)]
pub struct Host {
    /// Standard input; `position` is how much of it has been read.
    pub input: Vec<u8>,
    position: usize,
    /// Standard output.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub message: Vec<u8>,
    /// The code that the guest passed to `proc_exit`.
    pub exit_code: Option<i32>,
    memory: Option<ModuleExport>,
}

impl Host {
    /// A host whose guest exports its memory as `memory`.
    pub fn new(memory: ModuleExport) -> Self {
        Self {
            memory: Some(memory),
            ..Self::default()
        }
    }

    /// Resets the host for the next instance, which reads `input`. The vectors keep their memory,
    /// so nothing is allocated.
    pub fn begin(&mut self, input: &mut Vec<u8>) {
        std::mem::swap(&mut self.input, input);
        self.position = 0;
        self.output.clear();
        self.message.clear();
        self.exit_code = None;
    }

    fn read(&mut self, buffer: &mut [u8]) -> usize {
        let rest = &self.input[self.position..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.position += count;
        count
    }

    fn write(&mut self, descriptor: i32, bytes: &[u8]) -> Option<()> {
        if descriptor == 1 {
            if bytes.len() > MAX_OUTPUT_BYTES - self.output.len() {
                return None;
            }
            self.output.extend_from_slice(bytes);
        } else {
            let room = MAX_MESSAGE_BYTES - self.message.len();
            self.message
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        Some(())
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
    linker.func_wrap(MODULE, "fd_read", fd_read)?;
    linker.func_wrap(MODULE, "fd_write", fd_write)?;
    linker.func_wrap(MODULE, "proc_exit", proc_exit)?;
    for name in ["args_sizes_get", "environ_sizes_get"] {
        linker.func_wrap(MODULE, name, no_strings)?;
    }
    for name in ["args_get", "environ_get"] {
        // Both lists are empty, so nothing is written.
        linker.func_wrap(MODULE, name, |_: i32, _: i32| errno::SUCCESS)?;
    }
    Ok(())
}

fn fd_read(mut caller: Caller<'_, Host>, fd: i32, list: i32, length: i32, total: i32) -> i32 {
    if fd != 0 {
        return errno::BADF;
    }
    let Some((data, host)) = memory_and_host(&mut caller) else {
        return errno::FAULT;
    };
    transfer(data, list, length, total, |bytes| Some(host.read(bytes)))
}

fn fd_write(mut caller: Caller<'_, Host>, fd: i32, list: i32, length: i32, total: i32) -> i32 {
    if fd != 1 && fd != 2 {
        return errno::BADF;
    }
    let Some((data, host)) = memory_and_host(&mut caller) else {
        return errno::FAULT;
    };
    transfer(data, list, length, total, |bytes| {
        host.write(fd, bytes).map(|()| bytes.len())
    })
}

fn proc_exit(mut caller: Caller<'_, Host>, code: i32) -> Result<()> {
    caller.data_mut().exit_code = Some(code);
    // An error unwinds the guest; the exit code shows that this is not a failure.
    Err(wasmtime::Error::msg("proc_exit"))
}

fn no_strings(mut caller: Caller<'_, Host>, count: i32, size: i32) -> i32 {
    let Some((data, _)) = memory_and_host(&mut caller) else {
        return errno::FAULT;
    };
    match (store(data, count, 0), store(data, size, 0)) {
        (Some(()), Some(())) => errno::SUCCESS,
        _ => errno::FAULT,
    }
}

/// Calls `each` with every buffer of a list of (address, length), until one is not fully used.
fn transfer(
    data: &mut [u8],
    list: i32,
    length: i32,
    total: i32,
    mut each: impl FnMut(&mut [u8]) -> Option<usize>,
) -> i32 {
    let mut moved = 0;
    for index in 0..length {
        let Some(buffer) = buffer(data, list, index) else {
            return errno::FAULT;
        };
        let size = buffer.len();
        let Some(count) = each(buffer) else {
            return errno::NOSPC;
        };
        moved += count;
        if count < size {
            break;
        }
    }
    match u32::try_from(moved)
        .ok()
        .and_then(|moved| store(data, total, moved))
    {
        Some(()) => errno::SUCCESS,
        None => errno::FAULT,
    }
}

fn buffer(data: &mut [u8], list: i32, index: i32) -> Option<&mut [u8]> {
    let entry = address(list)?.checked_add(address(index)?.checked_mul(8)?)?;
    let start = load(data, entry)?;
    let size = load(data, entry.checked_add(4)?)?;
    data.get_mut(start..start.checked_add(size)?)
}

fn load(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

fn store(data: &mut [u8], at: i32, value: u32) -> Option<()> {
    let at = address(at)?;
    data.get_mut(at..at.checked_add(4)?)?
        .copy_from_slice(&value.to_le_bytes());
    Some(())
}

/// Addresses and lengths are unsigned, although they are passed as `i32`.
fn address(value: i32) -> Option<usize> {
    usize::try_from(value.cast_unsigned()).ok()
}

fn memory_and_host<'a>(caller: &'a mut Caller<'_, Host>) -> Option<(&'a mut [u8], &'a mut Host)> {
    let export = caller.data().memory?;
    let memory: Memory = caller.get_module_export(&export)?.into_memory()?;
    Some(memory.data_and_store_mut(caller))
}
