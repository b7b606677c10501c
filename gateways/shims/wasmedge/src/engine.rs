//! WasmEdge's C library: the few functions that are needed to run one module. Only this file is
//! unsafe.

use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

use anyhow::{Result, anyhow, bail};

use crate::module::Mode;

/// An object of the library.
#[repr(C)]
struct Opaque {
    _bytes: [u8; 0],
    _not_to_be_shared: PhantomData<*mut u8>,
}

#[repr(C)]
struct Text {
    length: u32,
    start: *const c_char,
}

#[repr(C)]
struct Bytes {
    length: u32,
    start: *const u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Outcome {
    code: u32,
}

/// `WasmEdge_HostRegistration_Wasi`.
const WASI: c_int = 0;

#[allow(non_snake_case, reason = "names of the library")]
unsafe extern "C" {
    fn WasmEdge_VersionGet() -> *const c_char;
    fn WasmEdge_LogSetErrorLevel();
    fn WasmEdge_ResultOK(outcome: Outcome) -> bool;
    fn WasmEdge_ResultGetMessage(outcome: Outcome) -> *const c_char;
    fn WasmEdge_ConfigureCreate() -> *mut Opaque;
    fn WasmEdge_ConfigureDelete(configuration: *mut Opaque);
    fn WasmEdge_ConfigureAddHostRegistration(configuration: *mut Opaque, host: c_int);
    fn WasmEdge_ConfigureSetForceInterpreter(configuration: *mut Opaque, interpret: bool);
    fn WasmEdge_VMCreate(configuration: *const Opaque, store: *mut Opaque) -> *mut Opaque;
    fn WasmEdge_VMDelete(machine: *mut Opaque);
    fn WasmEdge_VMGetImportModuleContext(machine: *const Opaque, host: c_int) -> *mut Opaque;
    fn WasmEdge_ModuleInstanceInitWASI(
        wasi: *mut Opaque,
        arguments: *const *const c_char,
        argument_count: u32,
        environment: *const *const c_char,
        environment_count: u32,
        folders: *const *const c_char,
        folder_count: u32,
    );
    fn WasmEdge_ModuleInstanceWASIGetExitCode(wasi: *const Opaque) -> u32;
    fn WasmEdge_VMLoadWasmFromBytes(machine: *mut Opaque, module: Bytes) -> Outcome;
    fn WasmEdge_VMValidate(machine: *mut Opaque) -> Outcome;
    fn WasmEdge_VMInstantiate(machine: *mut Opaque) -> Outcome;
    fn WasmEdge_VMExecute(
        machine: *mut Opaque,
        function: Text,
        parameters: *const Opaque,
        parameter_count: u32,
        results: *mut Opaque,
        result_count: u32,
    ) -> Outcome;
    fn _exit(code: c_int) -> !;
}

/// The library's own version.
pub fn version() -> String {
    // SAFETY: the library returns a zero-terminated string that lives as long as the library.
    let version = unsafe { CStr::from_ptr(WasmEdge_VersionGet()) };
    version.to_string_lossy().into_owned()
}

/// Ends the process at once, even while its guest is running: the library's destructors would free
/// what the guest uses.
pub fn end_process(code: i32) -> ! {
    // SAFETY: nothing in this process is used any more.
    unsafe { _exit(code) }
}

/// One WasmEdge, for one module.
pub struct Machine(*mut Opaque);

// SAFETY: a machine has one owner at a time, and the library does not tie it to a thread.
unsafe impl Send for Machine {}

impl Machine {
    /// Creates a machine that executes in this `mode`, whatever the library's default is.
    pub fn new(mode: Mode) -> Result<Self> {
        // SAFETY: objects are checked before their use, and the machine keeps a copy of its configuration.
        let machine = unsafe {
            WasmEdge_LogSetErrorLevel();
            let configuration = WasmEdge_ConfigureCreate();
            if configuration.is_null() {
                bail!("WasmEdge makes no configuration");
            }
            WasmEdge_ConfigureAddHostRegistration(configuration, WASI);
            WasmEdge_ConfigureSetForceInterpreter(configuration, mode == Mode::Interpreter);
            let machine = WasmEdge_VMCreate(configuration, null_mut());
            WasmEdge_ConfigureDelete(configuration);
            machine
        };
        if machine.is_null() {
            bail!("WasmEdge makes no machine");
        }
        Ok(Self(machine))
    }

    fn wasi(&self) -> Result<*mut Opaque> {
        // SAFETY: the machine lives.
        let wasi = unsafe { WasmEdge_VMGetImportModuleContext(self.0, WASI) };
        if wasi.is_null() {
            bail!("WasmEdge has no WASI");
        }
        Ok(wasi)
    }

    /// Sets what the guest sees. `folders` have the form `GUEST:HOST`.
    pub fn set_up(
        &self,
        arguments: &[String],
        environment: &[String],
        folders: &[String],
    ) -> Result<()> {
        let wasi = self.wasi()?;
        let arguments = Texts::new(arguments)?;
        let environment = Texts::new(environment)?;
        let folders = Texts::new(folders)?;
        // SAFETY: the pointers are to zero-terminated strings; the library copies them.
        unsafe {
            WasmEdge_ModuleInstanceInitWASI(
                wasi,
                arguments.pointers.as_ptr(),
                arguments.count()?,
                environment.pointers.as_ptr(),
                environment.count()?,
                folders.pointers.as_ptr(),
                folders.count()?,
            );
        }
        Ok(())
    }

    /// Loads a module and instantiates it.
    pub fn load(&self, module: &[u8]) -> Result<()> {
        let module = Bytes {
            length: u32::try_from(module.len())?,
            start: module.as_ptr(),
        };
        // SAFETY: the machine lives, and the library keeps no reference to the bytes.
        unsafe {
            checked(WasmEdge_VMLoadWasmFromBytes(self.0, module))?;
            checked(WasmEdge_VMValidate(self.0))?;
            checked(WasmEdge_VMInstantiate(self.0))
        }
    }

    /// Runs a function without parameters to its end, and returns the guest's exit code.
    pub fn run(&self, function: &str) -> Result<i32> {
        let name = Text {
            length: u32::try_from(function.len())?,
            start: function.as_ptr().cast(),
        };
        // SAFETY: the machine lives, and there are neither parameters nor results.
        checked(unsafe { WasmEdge_VMExecute(self.0, name, null(), 0, null_mut(), 0) })?;
        let wasi = self.wasi()?;
        // SAFETY: the machine lives, and with it its WASI module.
        Ok(unsafe { WasmEdge_ModuleInstanceWASIGetExitCode(wasi) }.cast_signed())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: it lived until here.
        unsafe { WasmEdge_VMDelete(self.0) }
    }
}

fn checked(outcome: Outcome) -> Result<()> {
    // SAFETY: the outcome is the library's; a message is zero-terminated and lives as long as the
    // library.
    unsafe {
        if WasmEdge_ResultOK(outcome) {
            return Ok(());
        }
        let message = CStr::from_ptr(WasmEdge_ResultGetMessage(outcome));
        Err(anyhow!("{}", message.to_string_lossy()))
    }
}

/// Strings in the form that C uses.
struct Texts {
    _owned: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Texts {
    fn new(texts: &[String]) -> Result<Self> {
        let owned = texts.iter().map(|text| CString::new(text.as_str()));
        let owned: Vec<CString> = owned.collect::<Result<_, _>>()?;
        let pointers = owned.iter().map(|text| text.as_ptr()).collect();
        Ok(Self {
            _owned: owned,
            pointers,
        })
    }

    fn count(&self) -> Result<u32> {
        Ok(u32::try_from(self.pointers.len())?)
    }
}
