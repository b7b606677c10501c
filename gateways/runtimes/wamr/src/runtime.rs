//! The runtime, of which a process has one.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

use wamrx_sys as sys;

/// Bytes of the buffer that the runtime writes a message to.
const MESSAGE_BYTES: usize = 256;

static STARTED: OnceLock<bool> = OnceLock::new();

/// Starts the runtime unless it was started before. It is never ended.
pub fn start() -> Result<(), String> {
    let started = STARTED.get_or_init(|| {
        let mut arguments = sys::RuntimeInitArgs {
            mem_alloc_type: sys::Alloc_With_System_Allocator,
            // Guests have one thread. The runtime would keep parts of a guest's stack for others.
            max_thread_num: 1,
            ..Default::default()
        };
        // SAFETY: the arguments are valid, and no other thread does the same.
        unsafe {
            let started = sys::wasm_runtime_full_init(&raw mut arguments);
            // It would write warnings to standard output, which belongs to executors.
            sys::wasm_runtime_set_log_level(sys::WASM_LOG_LEVEL_FATAL);
            started
        }
    });
    started
        .then_some(())
        .ok_or_else(|| "the runtime could not be started".into())
}

/// The runtime's version.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: it writes to these numbers.
    unsafe { sys::wasm_runtime_get_version(&raw mut major, &raw mut minor, &raw mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// What the runtime keeps for a thread that calls guests.
struct ThreadEnvironment;

impl ThreadEnvironment {
    fn new() -> Self {
        // SAFETY: the runtime was started.
        unsafe { sys::wasm_runtime_init_thread_env() };
        Self
    }
}

impl Drop for ThreadEnvironment {
    fn drop(&mut self) {
        // SAFETY: it belongs to this thread, which ends.
        unsafe { sys::wasm_runtime_destroy_thread_env() };
    }
}

/// Prepares this thread for calls of guests, unless that is done. The runtime must have been started.
pub fn prepare_thread() {
    thread_local!(static ENVIRONMENT: ThreadEnvironment = ThreadEnvironment::new());
    ENVIRONMENT.with(|_| ());
}

/// Calls a function that returns null and writes a message if it fails.
pub fn checked<T>(function: impl FnOnce(*mut c_char, u32) -> *mut T) -> Result<*mut T, String> {
    let mut buffer = [0_u8; MESSAGE_BYTES];
    let returned = function(buffer.as_mut_ptr().cast(), MESSAGE_BYTES as u32);
    if !returned.is_null() {
        return Ok(returned);
    }
    let message = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
    Err(message.to_string_lossy().into_owned())
}
