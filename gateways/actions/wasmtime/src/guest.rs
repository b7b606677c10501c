//! What a function may import, for wasmtime's linker.

use action_host::wasi::{Guest, errno};
use wasmtime::{Caller, Linker, ModuleExport, Result, StoreLimits};

/// The data of a store.
pub struct State {
    /// The guest.
    pub guest: Guest,
    /// The limits of the guest's instance.
    pub limits: StoreLimits,
    /// The guest's memory.
    pub memory: ModuleExport,
}

/// Adds the functions to a linker.
pub fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    action_host::add_to_linker!(linker, Caller<'_, State>, with, exit);
    Ok(())
}

/// Unwinds the guest with an error; the exit code shows that this is not a failure.
fn exit(mut caller: Caller<'_, State>, code: i32) -> Result<()> {
    caller.data_mut().guest.streams.exit_code = Some(code);
    Err(wasmtime::Error::msg("proc_exit"))
}

fn with(caller: &mut Caller<'_, State>, call: impl FnOnce(&mut [u8], &mut Guest) -> i32) -> i32 {
    let export = caller.data().memory;
    let memory = caller
        .get_module_export(&export)
        .and_then(wasmtime::Extern::into_memory);
    let Some(memory) = memory else {
        return errno::FAULT;
    };
    let (memory, state) = memory.data_and_store_mut(caller);
    call(memory, &mut state.guest)
}
