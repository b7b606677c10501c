//! What a function may import, as host functions of WAMR.

use action_host::wasi::{Guest, MODULE, errno};
use wamr::{Caller, Exit, Functions};

/// Registers the functions, which the runtime gives to every module that is loaded from now on.
pub fn register() -> Result<(), String> {
    let mut functions = Functions::new(MODULE)?;
    add_to_linker(&mut functions)?;
    functions.register()
}

fn add_to_linker(linker: &mut Functions) -> Result<(), String> {
    action_host::add_to_linker!(linker, Caller<'_>, with, exit);
    Ok(())
}

/// Unwinds the guest; the exit code shows that this is not a failure.
fn exit(mut caller: Caller<'_>, code: i32) -> Result<(), Exit> {
    if let Some((_, guest)) = caller.memory_and_state::<Guest>() {
        guest.streams.exit_code = Some(code);
    }
    Err(Exit)
}

fn with(caller: &mut Caller<'_>, call: impl FnOnce(&mut [u8], &mut Guest) -> i32) -> i32 {
    match caller.memory_and_state::<Guest>() {
        Some((memory, guest)) => call(memory, guest),
        None => errno::FAULT,
    }
}
