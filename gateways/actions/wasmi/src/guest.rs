//! What a function may import, for wasmi's linker.

use action_host::wasi::{self, Guest, errno};
use wasmi::{Caller, Error, Linker, Memory, StoreLimits};

/// Names of all functions that are provided.
pub const PROVIDED: [&str; 10] = [
    "fd_read",
    "fd_write",
    "clock_time_get",
    "poll_oneoff",
    "random_get",
    "proc_exit",
    "args_sizes_get",
    "environ_sizes_get",
    "args_get",
    "environ_get",
];

/// What a store holds.
pub struct State {
    /// The guest.
    pub guest: Guest,
    /// What its instance may take.
    pub limits: StoreLimits,
    /// Its memory, once it is instantiated.
    pub memory: Option<Memory>,
}

/// Gives the functions to a linker.
pub fn add_to_linker(linker: &mut Linker<State>) -> Result<(), Error> {
    let module = wasi::MODULE;
    linker.func_wrap(
        module,
        "fd_read",
        |mut caller: Caller<'_, State>, fd: i32, list: i32, count: i32, total: i32| {
            with(&mut caller, |memory, guest| {
                guest.fd_read(memory, fd, list, count, total)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "fd_write",
        |mut caller: Caller<'_, State>, fd: i32, list: i32, count: i32, total: i32| {
            with(&mut caller, |memory, guest| {
                guest.fd_write(memory, fd, list, count, total)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "clock_time_get",
        |mut caller: Caller<'_, State>, clock: i32, _: i64, at: i32| {
            with(&mut caller, |memory, guest| {
                guest.clock_time_get(memory, clock, at)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "poll_oneoff",
        |mut caller: Caller<'_, State>, asked: i32, events: i32, count: i32, total: i32| {
            with(&mut caller, |memory, guest| {
                guest.poll_oneoff(memory, asked, events, count, total)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "random_get",
        |mut caller: Caller<'_, State>, at: i32, count: i32| {
            with(&mut caller, |memory, _| wasi::random_get(memory, at, count))
        },
    )?;
    linker.func_wrap(
        module,
        "proc_exit",
        |mut caller: Caller<'_, State>, code: i32| -> Result<(), Error> {
            caller.data_mut().guest.exit_code = Some(code);
            // An error is the way out of the guest; the code tells that it is none.
            Err(Error::new("proc_exit"))
        },
    )?;
    for name in ["args_sizes_get", "environ_sizes_get"] {
        linker.func_wrap(
            module,
            name,
            |mut caller: Caller<'_, State>, count: i32, size: i32| {
                with(&mut caller, |memory, _| {
                    wasi::no_strings(memory, count, size)
                })
            },
        )?;
    }
    for name in ["args_get", "environ_get"] {
        // There is nothing to give, so nothing is written.
        linker.func_wrap(module, name, |_: i32, _: i32| errno::SUCCESS)?;
    }
    Ok(())
}

fn with(caller: &mut Caller<'_, State>, call: impl FnOnce(&mut [u8], &mut Guest) -> i32) -> i32 {
    let Some(memory) = caller.data().memory else {
        return errno::FAULT;
    };
    let (memory, state) = memory.data_and_store_mut(caller);
    call(memory, &mut state.guest)
}
