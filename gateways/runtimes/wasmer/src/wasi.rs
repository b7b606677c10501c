//! The part of WASI preview 1 that a filter from standard input to standard output imports: the
//! three standard streams of this process, no arguments, no environment, no files, no clock and no
//! randomness.

use std::fmt;
use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use wasmer::{
    Function, FunctionEnv, FunctionEnvMut, Imports, Memory, MemoryAccessError, MemoryView, Store,
    imports,
};

/// Most bytes per read; a guest that wants more reads again.
const MAX_READ_BYTES: u32 = 1 << 16;

/// `errno` values of WASI.
mod errno {
    pub const SUCCESS: i32 = 0;
    pub const BADF: i32 = 8;
    pub const FAULT: i32 = 21;
    pub const IO: i32 = 29;
}

/// What the host knows about its guest.
#[derive(Default)]
pub struct Guest {
    /// Its memory, once it is instantiated.
    pub memory: Option<Memory>,
}

/// The code that the guest passed to `proc_exit`; as an error, it unwinds the guest.
#[derive(Debug)]
pub struct Exit(i32);

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the guest ended with {}", self.0)
    }
}

impl std::error::Error for Exit {}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // Exit codes of processes have eight bits; a code that does not fit is no success.
        Self::from(u8::try_from(exit.0).unwrap_or(u8::MAX))
    }
}

/// Why a function fails, as an `errno`.
struct Errno(i32);

impl From<MemoryAccessError> for Errno {
    fn from(_: MemoryAccessError) -> Self {
        Self(errno::FAULT)
    }
}

impl From<std::io::Error> for Errno {
    fn from(_: std::io::Error) -> Self {
        Self(errno::IO)
    }
}

type Env<'a> = FunctionEnvMut<'a, Guest>;

/// All functions that the guest may import.
pub fn imports(store: &mut Store, env: &FunctionEnv<Guest>) -> Imports {
    let no_strings = Function::new_typed_with_env(store, env, no_strings);
    // Both lists are empty, so nothing is written.
    let nothing = Function::new_typed(store, |_: i32, _: i32| errno::SUCCESS);
    imports! {
        "wasi_snapshot_preview1" => {
            "fd_read" => Function::new_typed_with_env(store, env, fd_read),
            "fd_write" => Function::new_typed_with_env(store, env, fd_write),
            "proc_exit" => Function::new_typed(store, |code: i32| -> Result<(), Exit> { Err(Exit(code)) }),
            "args_sizes_get" => no_strings.clone(),
            "environ_sizes_get" => no_strings,
            "args_get" => nothing.clone(),
            "environ_get" => nothing,
        }
    }
}

fn fd_read(env: Env<'_>, fd: i32, list: i32, count: i32, total: i32) -> i32 {
    told(with_memory(&env, |memory| {
        if fd != 0 {
            return Err(Errno(errno::BADF));
        }
        let mut read = 0;
        // Reading less than requested is allowed: the first buffer with room is enough.
        for index in 0..count {
            let (address, length) = buffer(memory, list, index)?;
            if length > 0 {
                let mut bytes = vec![0; length.min(MAX_READ_BYTES) as usize];
                read = std::io::stdin().lock().read(&mut bytes)?;
                memory.write(address, &bytes[..read])?;
                break;
            }
        }
        store(memory, total, read)
    }))
}

fn fd_write(env: Env<'_>, fd: i32, list: i32, count: i32, total: i32) -> i32 {
    told(with_memory(&env, |memory| {
        let mut written = 0;
        for index in 0..count {
            let (address, length) = buffer(memory, list, index)?;
            let bytes = memory.copy_range_to_vec(address..address + u64::from(length))?;
            match fd {
                1 => std::io::stdout().lock().write_all(&bytes)?,
                2 => std::io::stderr().lock().write_all(&bytes)?,
                _ => return Err(Errno(errno::BADF)),
            }
            written += bytes.len();
        }
        std::io::stdout().lock().flush()?;
        store(memory, total, written)
    }))
}

fn no_strings(env: Env<'_>, count: i32, size: i32) -> i32 {
    told(with_memory(&env, |memory| {
        store(memory, count, 0)?;
        store(memory, size, 0)
    }))
}

fn told(outcome: Result<(), Errno>) -> i32 {
    outcome.map_or_else(|Errno(number)| number, |()| errno::SUCCESS)
}

fn with_memory(
    env: &Env<'_>,
    work: impl FnOnce(&MemoryView<'_>) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let memory = env.data().memory.as_ref().ok_or(Errno(errno::FAULT))?;
    work(&memory.view(env))
}

/// Returns the address and length in an entry of a list of buffers.
fn buffer(memory: &MemoryView<'_>, list: i32, index: i32) -> Result<(u64, u32), Errno> {
    let entry = address(list) + 8 * address(index);
    Ok((load(memory, entry)?.into(), load(memory, entry + 4)?))
}

fn load(memory: &MemoryView<'_>, at: u64) -> Result<u32, Errno> {
    let mut bytes = [0; 4];
    memory.read(at, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn store(memory: &MemoryView<'_>, at: i32, value: usize) -> Result<(), Errno> {
    let value = u32::try_from(value).map_err(|_| Errno(errno::FAULT))?;
    Ok(memory.write(address(at), &value.to_le_bytes())?)
}

/// Addresses are unsigned, although they are passed as `i32`.
fn address(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}
