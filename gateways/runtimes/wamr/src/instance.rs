//! An instance of a module, on the thread that made it.

use std::any::Any;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wamrx_sys as sys;

use crate::module::{Module, text};
use crate::runtime;

/// What an instance may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the interpreter's stack.
    pub stack_bytes: u32,
    /// Pages to which the memory may grow; a module that begins with more gets them. 0: as many as
    /// the module says.
    pub memory_pages: u32,
}

/// An instance.
pub struct Instance<'module> {
    raw: sys::wasm_module_inst_t,
    environment: sys::wasm_exec_env_t,
    running: Arc<Running>,
    module: PhantomData<&'module Module>,
}

/// The instance for other threads, as long as it exists.
struct Running(Mutex<Option<Handle>>);

struct Handle(sys::wasm_module_inst_t);

// SAFETY: it is used for nothing but to stop a call, which any thread may do.
unsafe impl Send for Handle {}

/// Stops the call of an instance, from another thread. Needs the feature `interrupt`.
pub struct Interrupter(Arc<Running>);

impl Interrupter {
    /// Stops the call that is running, if there is one.
    pub fn interrupt(&self) {
        if let Some(handle) = self.0.lock().as_ref() {
            // SAFETY: the instance is not dropped while the lock is held.
            unsafe { sys::wasm_runtime_terminate(handle.0) };
        }
    }
}

impl Running {
    fn lock(&self) -> MutexGuard<'_, Option<Handle>> {
        // Nothing panics while the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'module> Instance<'module> {
    /// Makes an instance. A start function runs at once.
    pub fn new(module: &'module Module, limits: Limits) -> Result<Self, String> {
        runtime::prepare_thread();
        let arguments = sys::InstantiationArgs {
            default_stack_size: limits.stack_bytes,
            host_managed_heap_size: 0,
            max_memory_pages: limits.memory_pages,
        };
        let raw = runtime::checked(|message, length| {
            // SAFETY: the module is loaded, and outlives the instance.
            unsafe {
                sys::wasm_runtime_instantiate_ex(
                    module.raw(),
                    &raw const arguments,
                    message,
                    length,
                )
            }
        })?;
        // SAFETY: the instance exists.
        let environment = unsafe { sys::wasm_runtime_create_exec_env(raw, limits.stack_bytes) };
        if environment.is_null() {
            // SAFETY: nothing uses the instance.
            unsafe { sys::wasm_runtime_deinstantiate(raw) };
            return Err("there is no memory for the interpreter's stack".into());
        }
        Ok(Self {
            raw,
            environment,
            running: Arc::new(Running(Mutex::new(Some(Handle(raw))))),
            module: PhantomData,
        })
    }

    /// What stops its calls.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(Arc::clone(&self.running))
    }

    /// Calls an export without parameters and results. Host functions get the state.
    pub fn call(&mut self, name: &CStr, state: &mut dyn Any) -> Result<(), String> {
        let function = self.function(name, &[], &[])?;
        let mut state = state;
        let pointer = (&raw mut state).cast();
        // SAFETY: the state outlives the call, and is forgotten after it.
        unsafe { sys::wasm_runtime_set_custom_data(self.raw, pointer) };
        let called = self.invoke(function, 0, &mut []);
        // SAFETY: the instance exists.
        unsafe { sys::wasm_runtime_set_custom_data(self.raw, null_mut()) };
        called
    }

    /// Calls an export that takes an `i32` and returns an `f64`.
    pub fn call_f64(&mut self, name: &CStr, argument: i32) -> Result<f64, String> {
        let function = self.function(name, &[sys::WASM_I32], &[sys::WASM_F64])?;
        let mut cells = [argument.cast_unsigned(), 0];
        self.invoke(function, 1, &mut cells)?;
        let [low, high] = cells.map(u64::from);
        Ok(f64::from_bits(low | high << 32))
    }

    /// Calls an export that takes an `i32` and returns one.
    pub fn call_i32(&mut self, name: &CStr, argument: i32) -> Result<i32, String> {
        let function = self.function(name, &[sys::WASM_I32], &[sys::WASM_I32])?;
        let mut cells = [argument.cast_unsigned()];
        self.invoke(function, 1, &mut cells)?;
        Ok(cells[0].cast_signed())
    }

    /// An export of that name and type.
    fn function(
        &self,
        name: &CStr,
        parameters: &[u32],
        results: &[u32],
    ) -> Result<sys::wasm_function_inst_t, String> {
        let wrong = || {
            let name = name.to_string_lossy();
            format!("the module exports no function {name} of the right type")
        };
        // SAFETY: the instance exists, and the name ends with a zero.
        let function = unsafe { sys::wasm_runtime_lookup_function(self.raw, name.as_ptr()) };
        if function.is_null() {
            return Err(wrong());
        }
        // SAFETY: the function belongs to the instance, and the vectors have as many places as it has
        // parameters and results.
        let (has, gives) = unsafe {
            let mut has = vec![0; sys::wasm_func_get_param_count(function, self.raw) as usize];
            sys::wasm_func_get_param_types(function, self.raw, has.as_mut_ptr());
            let mut gives = vec![0; sys::wasm_func_get_result_count(function, self.raw) as usize];
            sys::wasm_func_get_result_types(function, self.raw, gives.as_mut_ptr());
            (has, gives)
        };
        let is = |kinds: Vec<u8>, expected: &[u32]| {
            let kinds = kinds.into_iter().map(u32::from);
            kinds.eq(expected.iter().copied())
        };
        if is(has, parameters) && is(gives, results) {
            Ok(function)
        } else {
            Err(wrong())
        }
    }

    /// Calls a function. The cells hold its arguments, and its results afterwards.
    fn invoke(
        &mut self,
        function: sys::wasm_function_inst_t,
        arguments: u32,
        cells: &mut [u32],
    ) -> Result<(), String> {
        // SAFETY: the cells have room for the function's arguments and results, by its type.
        let called = unsafe {
            sys::wasm_runtime_call_wasm(self.environment, function, arguments, cells.as_mut_ptr())
        };
        if called {
            return Ok(());
        }
        // SAFETY: the instance exists.
        let message = text(unsafe { sys::wasm_runtime_get_exception(self.raw) });
        let message = message.strip_prefix("Exception: ").unwrap_or(&message);
        Err(message.to_owned())
    }
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        *self.running.lock() = None;
        // SAFETY: no thread has them any more.
        unsafe {
            sys::wasm_runtime_destroy_exec_env(self.environment);
            sys::wasm_runtime_deinstantiate(self.raw);
        }
    }
}
