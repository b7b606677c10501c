//! What the host asks of that which executes functions.

use std::time::Duration;

/// What one call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until it is stopped.
    pub time: Duration,
    /// Memory of its instance.
    pub memory_bytes: usize,
}

/// The end of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Standard output.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub message: Vec<u8>,
    /// Why it did not end by itself and well.
    pub failure: Option<String>,
}

/// What executes functions, all of them side by side.
pub trait Executor: Send + Sync + Sized + 'static {
    /// A function's code, ready to be called.
    type Code: Send + Sync + 'static;

    /// Name of the preset.
    const PRESET: &'static str;
    /// Whether it hosts many functions, each under a name.
    const IS_SHARED: bool;

    /// What `/engine` tells of it, by member.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// Makes code ready. An error says what is wrong with it, and what would be right.
    fn load(&self, code: &[u8]) -> Result<Self::Code, String>;

    /// Calls a function with its parameters as JSON.
    fn call(&self, code: &Self::Code, input: Vec<u8>, limits: Limits) -> Ended;

    /// How long the engine takes for a known piece of work; `None` where no engine is between.
    fn chain(&self) -> Option<Duration>;
}
