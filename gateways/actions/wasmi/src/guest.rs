//! What a function may import, for wasmi's linker.

use action_host::wasi::{Guest, errno};
use wasmi::{Caller, Error, Linker, Memory, StoreLimits};

/// The data of a store.
pub struct State {
    /// The guest.
    pub guest: Guest,
    /// The limits of the guest's instance.
    pub limits: StoreLimits,
    /// The guest's memory, once it is instantiated.
    pub memory: Option<Memory>,
}

/// Adds the functions to a linker.
pub fn add_to_linker(linker: &mut Linker<State>) -> Result<(), Error> {
    action_host::add_to_linker!(linker, Caller<'_, State>, with, exit);
    Ok(())
}

/// Unwinds the guest with an error; the exit code shows that this is not a failure.
fn exit(mut caller: Caller<'_, State>, code: i32) -> Result<(), Error> {
    caller.data_mut().guest.streams.exit_code = Some(code);
    Err(Error::new("proc_exit"))
}

fn with(caller: &mut Caller<'_, State>, call: impl FnOnce(&mut [u8], &mut Guest) -> i32) -> i32 {
    let Some(memory) = caller.data().memory else {
        return errno::FAULT;
    };
    let (memory, state) = memory.data_and_store_mut(caller);
    call(memory, &mut state.guest)
}
