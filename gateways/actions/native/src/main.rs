//! `action-native`: one function of the action protocol, as a program that this proxy starts for
//! each call, as the platform's image for programs does. The container is the function's sandbox.

mod program;

use std::fs::File;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use action_host::{Ended, Executor, Limits};
use rustix::fs::{MemfdFlags, memfd_create};

/// The magic number of every Linux program.
const ELF: &[u8] = b"\x7fELF";

struct Native;

fn main() -> ExitCode {
    action_host::program::main(Ok(Native))
}

impl Executor for Native {
    /// The program, kept in memory because the container's file system is read-only.
    type Code = File;
    const PRESET: &'static str = "action-native";
    const IS_SHARED: bool = false;

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("engine", "none".into())]
    }

    fn load(&self, code: &[u8]) -> Result<File, String> {
        if !code.starts_with(ELF) {
            return Err(
                "the code is no program of Linux: send a static ELF binary of this architecture"
                    .into(),
            );
        }
        let not_kept = |error: std::io::Error| format!("the program cannot be kept: {error}");
        let memory = memfd_create("action", MemfdFlags::CLOEXEC);
        let mut memory = File::from(memory.map_err(|error| not_kept(error.into()))?);
        memory.write_all(code).map_err(not_kept)?;
        // A file that is open for writing cannot be executed.
        File::open(program::path(&memory)).map_err(not_kept)
    }

    fn call(&self, code: &File, input: Vec<u8>, limits: Limits) -> Ended {
        let (output, ran) = program::run(code, &input, limits.time);
        Ended {
            output,
            message: vec![],
            failure: ran.err(),
        }
    }

    fn chain(&self) -> Option<Duration> {
        None
    }
}
