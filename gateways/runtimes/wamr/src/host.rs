//! Functions that guests import. They belong to the process: the runtime finds them by name when it
//! loads a module.

use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use wamrx_sys as sys;

use crate::runtime;

/// The guest that called a host function.
pub struct Caller<'a> {
    environment: sys::wasm_exec_env_t,
    call: PhantomData<&'a mut ()>,
}

/// Unwinds the guest.
#[derive(Clone, Copy, Debug)]
pub struct Exit;

impl Caller<'_> {
    /// The guest's memory, and the state of its call if it has this type.
    pub fn memory_and_state<T: 'static>(&mut self) -> Option<(&mut [u8], &mut T)> {
        // SAFETY: the guest is in this call, no other thread has its memory, and nothing grows the
        // memory while it is borrowed. The state is that of `Instance::call`, which waits.
        unsafe {
            let instance = sys::wasm_runtime_get_module_inst(self.environment);
            let state: *mut &mut dyn Any = sys::wasm_runtime_get_custom_data(instance).cast();
            let state = state.as_mut()?.downcast_mut::<T>()?;
            let memory = sys::wasm_runtime_get_default_memory(instance);
            if memory.is_null() {
                return None;
            }
            let base: *mut u8 = sys::wasm_memory_get_base_address(memory).cast();
            let pages = sys::wasm_memory_get_cur_page_count(memory);
            let bytes = pages * sys::wasm_memory_get_bytes_per_page(memory);
            if base.is_null() {
                return Some((&mut [], state));
            }
            let memory = std::slice::from_raw_parts_mut(base, usize::try_from(bytes).ok()?);
            Some((memory, state))
        }
    }

    fn set_exception(&mut self, message: &CStr) {
        // SAFETY: the guest is in this call; the runtime copies the message.
        unsafe {
            let instance = sys::wasm_runtime_get_module_inst(self.environment);
            sys::wasm_runtime_set_exception(instance, message.as_ptr());
        }
    }
}

/// What a guest passes.
pub trait Argument {
    /// Its letter in a signature.
    const LETTER: char;

    /// The argument in one of the runtime's 64-bit slots.
    fn from_slot(slot: u64) -> Self;
}

impl Argument for i32 {
    const LETTER: char = 'i';

    fn from_slot(slot: u64) -> Self {
        // The lower half.
        slot as Self
    }
}

impl Argument for i64 {
    const LETTER: char = 'I';

    fn from_slot(slot: u64) -> Self {
        slot.cast_signed()
    }
}

/// What a host function returns.
pub trait Returned {
    /// Its letter in a signature, if the guest gets anything.
    const LETTER: &'static str;

    /// The value for the guest; an error unwinds it.
    fn into_slot(self) -> Result<Option<u64>, Exit>;
}

impl Returned for i32 {
    const LETTER: &'static str = "i";

    fn into_slot(self) -> Result<Option<u64>, Exit> {
        Ok(Some(u64::from(self.cast_unsigned())))
    }
}

impl Returned for Result<(), Exit> {
    const LETTER: &'static str = "";

    fn into_slot(self) -> Result<Option<u64>, Exit> {
        self.map(|()| None)
    }
}

/// A function of a caller and its arguments; `Types` are those of its result and arguments.
pub trait HostFunction<Types>: 'static {
    /// Its type, in the runtime's notation.
    fn signature() -> String;

    /// Calls it with one slot for each argument.
    fn call(&self, caller: Caller<'_>, slots: *const u64) -> Result<Option<u64>, Exit>;
}

macro_rules! host_functions {
    ($(($($argument:ident $index:literal),+))*) => {$(
        impl<F, R, $($argument),+> HostFunction<(R, $($argument),+)> for F
        where
            F: Fn(Caller<'_>, $($argument),+) -> R + 'static,
            R: Returned,
            $($argument: Argument,)+
        {
            fn signature() -> String {
                let arguments: String = [$($argument::LETTER),+].into_iter().collect();
                format!("({arguments}){}", R::LETTER)
            }

            fn call(&self, caller: Caller<'_>, slots: *const u64) -> Result<Option<u64>, Exit> {
                // SAFETY: there is a slot for each argument of the signature.
                self(caller, $($argument::from_slot(unsafe { *slots.add($index) })),+).into_slot()
            }
        }
    )*};
}

host_functions! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
}

/// A host function of any type.
type Erased = Box<dyn Fn(Caller<'_>, *const u64) -> Result<Option<u64>, Exit>>;

/// Functions that are to be registered, of one module.
pub struct Functions {
    module: CString,
    symbols: Vec<sys::NativeSymbol>,
}

impl Functions {
    /// No functions of that module. The name has no zero.
    pub fn new(module: &str) -> Result<Self, String> {
        Ok(Self {
            module: without_zero(module)?,
            symbols: vec![],
        })
    }

    /// Adds a function, in the same way as the linkers of other engines: `module` is that of all.
    pub fn func_wrap<Types>(
        &mut self,
        module: &str,
        name: &str,
        function: impl HostFunction<Types>,
    ) -> Result<(), String> {
        if self.module.to_bytes() != module.as_bytes() {
            return Err(format!("{module}.{name} is of another module"));
        }
        let (name, signature) = (without_zero(name)?, signature(&function));
        let function: Erased = Box::new(move |caller, slots| function.call(caller, slots));
        // The runtime keeps these pointers for as long as the process runs.
        self.symbols.push(sys::NativeSymbol {
            symbol: name.into_raw(),
            func_ptr: trampoline as *mut c_void,
            signature: without_zero(&signature)?.into_raw(),
            attachment: Box::into_raw(Box::new(function)).cast(),
        });
        Ok(())
    }

    /// Gives the functions to all modules that are loaded from now on, in this process.
    pub fn register(self) -> Result<(), String> {
        runtime::start()?;
        let symbols = Box::leak(self.symbols.into_boxed_slice());
        let count = u32::try_from(symbols.len()).map_err(|error| error.to_string())?;
        let module = self.module.into_raw();
        // SAFETY: all pointers stay valid, because nothing frees them.
        let registered =
            unsafe { sys::wasm_runtime_register_natives_raw(module, symbols.as_mut_ptr(), count) };
        registered
            .then_some(())
            .ok_or_else(|| "the host functions could not be registered".into())
    }
}

fn signature<Types, F: HostFunction<Types>>(_: &F) -> String {
    F::signature()
}

fn without_zero(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("'{text}' has a zero"))
}

/// What the runtime calls for every host function. The result takes the place of the first argument.
unsafe extern "C" fn trampoline(environment: sys::wasm_exec_env_t, slots: *mut u64) {
    let caller = || Caller {
        environment,
        call: PhantomData,
    };
    // SAFETY: it is the attachment of `func_wrap`, which nothing frees.
    let function =
        unsafe { &*sys::wasm_runtime_get_function_attachment(environment).cast::<Erased>() };
    // A panic must not unwind the runtime's own functions.
    match catch_unwind(AssertUnwindSafe(|| function(caller(), slots))) {
        Ok(Ok(None)) => {}
        // SAFETY: the runtime provides room for the result.
        Ok(Ok(Some(result))) => unsafe { *slots = result },
        Ok(Err(Exit)) => caller().set_exception(c"exit"),
        Err(_) => caller().set_exception(c"a host function panicked"),
    }
}
