//! What the host requires of whatever executes functions.

use std::time::Duration;

/// The limits of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time after which the call is stopped.
    pub time: Duration,
    /// Memory of the call's instance.
    pub memory_bytes: usize,
}

/// The outcome of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Standard output.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub message: Vec<u8>,
    /// Why the call failed, if it did.
    pub failure: Option<String>,
}

/// An executor of functions, whose calls run concurrently.
pub trait Executor: Send + Sync + Sized + 'static {
    /// A function's code, ready to be called.
    type Code: Send + Sync + 'static;

    /// Name of the preset.
    const PRESET: &'static str;
    /// Whether it hosts many functions, each under its own name.
    const IS_SHARED: bool;

    /// What `/engine` reports about it, by JSON member.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// Prepares code for calls. An error names what is wrong with the code, and what would be
    /// right.
    fn load(&self, code: &[u8]) -> Result<Self::Code, String>;

    /// Calls a function with its parameters as JSON.
    fn call(&self, code: &Self::Code, input: Vec<u8>, limits: Limits) -> Ended;

    /// How long the engine takes for a known piece of work; `None` if there is no engine.
    fn chain(&self) -> Option<Duration>;
}
