//! A module that was loaded: validated, and translated for the interpreter.

use std::ffi::{CStr, c_char};

use wamrx_sys as sys;

use crate::runtime;

/// A loaded module.
pub struct Module {
    raw: sys::wasm_module_t,
    /// The runtime has changed them, and keeps pointers into them.
    _bytes: Box<[u8]>,
}

// SAFETY: the runtime only reads a module after it was loaded; it instantiates one on several threads
// itself, for guests with threads.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a module in its binary form. Its imports are bound to the functions that were
    /// [registered](crate::Functions::register) before.
    pub fn load(bytes: &[u8]) -> Result<Self, String> {
        runtime::start()?;
        runtime::prepare_thread();
        let size = u32::try_from(bytes.len()).map_err(|_| "it has more than 4 GiB")?;
        let mut bytes: Box<[u8]> = bytes.into();
        let raw = runtime::checked(|message, length| {
            // SAFETY: the bytes stay where they are until the module is unloaded.
            unsafe { sys::wasm_runtime_load(bytes.as_mut_ptr(), size, message, length) }
        })?;
        Ok(Self { raw, _bytes: bytes })
    }

    pub(crate) fn raw(&self) -> sys::wasm_module_t {
        self.raw
    }

    /// Its imports: module, name, and whether they are provided with the same type.
    pub fn imports(&self) -> Vec<(String, String, bool)> {
        // SAFETY: the module is loaded.
        let count = unsafe { sys::wasm_runtime_get_import_count(self.raw) };
        (0..count)
            .map(|index| {
                // SAFETY: all members may be zero.
                let mut import: sys::wasm_import_t = unsafe { std::mem::zeroed() };
                // SAFETY: there is an import of that index.
                unsafe { sys::wasm_runtime_get_import_type(self.raw, index, &raw mut import) };
                let (module, name) = (text(import.module_name), text(import.name));
                (module, name, import.linked)
            })
            .collect()
    }

    /// The names of its exports.
    pub fn exports(&self) -> Vec<String> {
        // SAFETY: the module is loaded.
        let count = unsafe { sys::wasm_runtime_get_export_count(self.raw) };
        (0..count)
            .map(|index| {
                // SAFETY: all members may be zero.
                let mut export: sys::wasm_export_t = unsafe { std::mem::zeroed() };
                // SAFETY: there is an export of that index.
                unsafe { sys::wasm_runtime_get_export_type(self.raw, index, &raw mut export) };
                text(export.name)
            })
            .collect()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: instances borrow their module, so there is none.
        unsafe { sys::wasm_runtime_unload(self.raw) };
    }
}

/// A text of the runtime, which is null if there is none.
pub(crate) fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the runtime's texts end with a zero.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_string_lossy().into_owned()
}
