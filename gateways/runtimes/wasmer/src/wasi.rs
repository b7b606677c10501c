//! The part of WASI preview 1 that a filter from standard input to standard output imports: the
//! three standard streams of this process, no arguments, no environment, no files, no clock and no
//! randomness.

use std::fmt;
use std::io::{Read as _, Write as _, stderr, stdin, stdout};
use std::process::ExitCode;

use gateway_wasi::{errno, transfer};
use wasmer::{
    AsStoreRef as _, Function, FunctionEnv, FunctionEnvMut, Imports, Memory, Store, imports,
};

/// The state of the host for its guest.
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

fn fd_read(mut env: Env<'_>, fd: i32, list: i32, count: i32, total: i32) -> i32 {
    if fd != 0 {
        return errno::BADF;
    }
    with(&mut env, |memory| {
        transfer(memory, list, count, total, |buffer| {
            stdin().lock().read(buffer).map_err(|_| errno::IO)
        })
    })
}

fn fd_write(mut env: Env<'_>, fd: i32, list: i32, count: i32, total: i32) -> i32 {
    with(&mut env, |memory| {
        let written = transfer(memory, list, count, total, |buffer| {
            let written = match fd {
                1 => stdout().write_all(buffer),
                2 => stderr().write_all(buffer),
                _ => return Err(errno::BADF),
            };
            written.map(|()| buffer.len()).map_err(|_| errno::IO)
        });
        match stdout().flush() {
            Ok(()) => written,
            Err(_) => errno::IO,
        }
    })
}

fn no_strings(mut env: Env<'_>, count: i32, size: i32) -> i32 {
    with(&mut env, |memory| {
        gateway_wasi::no_strings(memory, count, size)
    })
}

fn with(env: &mut Env<'_>, call: impl FnOnce(&mut [u8]) -> i32) -> i32 {
    let (guest, store) = env.data_and_store_mut();
    let Some(memory) = &guest.memory else {
        return errno::FAULT;
    };
    let store = store.as_store_ref();
    let view = memory.view(&store);
    // SAFETY: the guest is in this call, no other thread has its memory, and nothing grows the
    // memory before the call ends.
    call(unsafe { view.data_unchecked_mut() })
}
