//! What a function may import, as Wasmer's imports. They belong to a store, so each call makes its
//! own.

use std::fmt;

use action_host::wasi::{Guest, errno};
use wasmer::{
    AsStoreRef as _, Function, FunctionEnv, FunctionEnvMut, HostFunction, Imports, Memory, Store,
    WasmTypeList, WithEnv,
};

/// The state that the functions of a store share.
pub struct State {
    /// The guest.
    pub guest: Guest,
    /// Its memory, once it is instantiated.
    pub memory: Option<Memory>,
}

/// The error that unwinds a guest that exits.
#[derive(Debug)]
pub struct Exit;

impl fmt::Display for Exit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("proc_exit")
    }
}

impl std::error::Error for Exit {}

/// Takes functions in the same way as the linkers of other engines.
struct Linker<'a> {
    store: &'a mut Store,
    env: &'a FunctionEnv<State>,
    imports: Imports,
}

impl Linker<'_> {
    fn func_wrap<Args: WasmTypeList, Rets: WasmTypeList>(
        &mut self,
        module: &str,
        name: &str,
        function: impl HostFunction<State, Args, Rets, WithEnv> + Send + Sync + 'static,
    ) -> Result<(), std::convert::Infallible> {
        let function = Function::new_typed_with_env(self.store, self.env, function);
        self.imports.define(module, name, function);
        Ok(())
    }
}

/// All functions, for the guest of `env`.
pub fn imports(store: &mut Store, env: &FunctionEnv<State>) -> Imports {
    let imports = Imports::new();
    let mut linker = Linker {
        store,
        env,
        imports,
    };
    let Ok(()) = add_to_linker(&mut linker);
    linker.imports
}

fn add_to_linker(linker: &mut Linker<'_>) -> Result<(), std::convert::Infallible> {
    action_host::add_to_linker!(linker, FunctionEnvMut<'_, State>, with, exit);
    Ok(())
}

fn exit(mut caller: FunctionEnvMut<'_, State>, code: i32) -> Result<(), Exit> {
    caller.data_mut().guest.streams.exit_code = Some(code);
    Err(Exit)
}

fn with(
    caller: &mut FunctionEnvMut<'_, State>,
    call: impl FnOnce(&mut [u8], &mut Guest) -> i32,
) -> i32 {
    let (state, store) = caller.data_and_store_mut();
    let Some(memory) = &state.memory else {
        return errno::FAULT;
    };
    let store = store.as_store_ref();
    let view = memory.view(&store);
    // SAFETY: the guest is in this call, no other thread has its memory, and nothing grows the
    // memory before the call ends.
    let memory = unsafe { view.data_unchecked_mut() };
    call(memory, &mut state.guest)
}
