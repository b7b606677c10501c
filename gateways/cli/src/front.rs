//! What stands in front of the runtime: its settings, the command for each response, and what it
//! reports about itself.

use crate::compute;
use crate::runtime::{Compile, Runtime};
use gateway_http::{ChildCommand, Failed, Invalid, PROFILE, Settings, Transform};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Concurrent children per CPU: while one starts, another computes. More would wait for each other,
/// and many half-done processes make all of them late.
const CHILDREN_PER_CPU: usize = 2;
const MAX_CHILDREN: usize = 1024;
/// One second less than the load generator waits, so that it sees a 504 response instead of giving
/// up.
const TIMEOUT: Duration = Duration::from_secs(9);
const RUNTIMES: &str = "wasmtime, wasmedge, v8 or wasmer";

/// A runtime, and the module that it runs for each response.
#[derive(Debug)]
pub struct Front {
    runtime: Runtime,
    program: PathBuf,
    /// The module that `/engine` runs.
    compute_module: PathBuf,
    compile: Compile,
    module: PathBuf,
    module_digest: String,
    at_once: usize,
    timeout: Duration,
}

impl Front {
    /// Takes its options out of `settings`.
    pub fn take(settings: &mut Settings) -> Result<Self, Invalid> {
        let runtime = settings.take_parsed("runtime", None, RUNTIMES, |name| {
            Runtime::from_name(name).map(Some)
        })?;
        let runtime =
            runtime.ok_or_else(|| Invalid(format!("--runtime is missing: {RUNTIMES}")))?;
        let compile = settings.take_parsed(
            "engine-compile",
            runtime.usual_compile(),
            "Aot, Interpreter or Jit",
            Compile::from_name,
        )?;
        if !runtime.can(compile) {
            let (name, compile) = (runtime.name(), compile.name());
            return Err(Invalid(format!(
                "{name} is not called as {compile} here: leave out --engine-compile"
            )));
        }
        let mut path =
            |option: &str, usual: PathBuf| settings.take(option).map_or(usual, PathBuf::from);
        let program = path("program", runtime.usual_program());
        let module = path("module", runtime.usual_file(compile, "transform"));
        let compute_module = path("compute-module", runtime.usual_file(compile, "compute"));
        let bytes = read(&module)?;
        for (file, bytes) in [
            (&module, &bytes),
            (&compute_module, &read(&compute_module)?),
        ] {
            if !runtime.fits(compile, bytes) {
                let (file, name, compile) = (file.display(), runtime.name(), compile.name());
                return Err(Invalid(format!(
                    "{name} would not execute {file} as {compile}: name another file or another --engine-compile"
                )));
            }
        }
        Ok(Self {
            module_digest: digest(&bytes),
            runtime,
            program,
            compute_module,
            compile,
            module,
            at_once: at_once(settings)?,
            timeout: timeout(settings)?,
        })
    }
}

impl Transform for Front {
    fn apply(&mut self, _body: &mut Vec<u8>) -> Result<(), Failed> {
        Err(Failed("a child process does this".to_owned()))
    }

    fn child(&self) -> Option<ChildCommand> {
        Some(ChildCommand {
            program: self.program.clone(),
            arguments: self.runtime.command(&self.module),
            at_once: self.at_once,
            timeout: self.timeout,
        })
    }

    fn describe(&self) -> String {
        let version = compute::output(&self.program, self.runtime.version()).unwrap_or_default();
        let arguments = |steps| {
            self.runtime
                .invoke(&self.compute_module, compute::FUNCTION, steps)
        };
        let ratio = compute::ratio(&self.program, arguments);
        let ratio = ratio.map_or_else(|_| "null".to_owned(), |ratio| format!("{ratio:.2}"));
        format!(
            r#"{{"engine":"{}","version":"{}","frontend":"cli","compileMode":"{}","profile":"{PROFILE}","childrenAtOnce":{},"moduleSha256":"{}","computeRatio":{ratio}}}"#,
            self.runtime.name(),
            version_of(&version),
            self.compile.name(),
            self.at_once,
            self.module_digest,
        )
    }
}

/// Finds the first word that is a version: a runtime may print more, such as its plugins.
pub fn version_of(text: &str) -> String {
    let is_version = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b))
    };
    let mut words = text.split_whitespace();
    words.find(is_version).unwrap_or_default().to_owned()
}

fn at_once(settings: &mut Settings) -> Result<usize, Invalid> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let usual = cpus.saturating_mul(CHILDREN_PER_CPU).min(MAX_CHILDREN);
    settings.take_parsed("children", usual, "a number from 1 to 1024", |value| {
        let count = value.parse().ok();
        count.filter(|count| (1..=MAX_CHILDREN).contains(count))
    })
}

fn timeout(settings: &mut Settings) -> Result<Duration, Invalid> {
    let expected = "a number of milliseconds from 1 to 3600000";
    settings.take_parsed("child-timeout-ms", TIMEOUT, expected, |value| {
        let count = value.parse().ok();
        let count = count.filter(|count| (1..=3_600_000).contains(count));
        count.map(Duration::from_millis)
    })
}

fn read(module: &Path) -> Result<Vec<u8>, Invalid> {
    std::fs::read(module).map_err(|error| {
        Invalid(format!(
            "could not read the Wasm module {}: {error}",
            module.display()
        ))
    })
}

fn digest(bytes: &[u8]) -> String {
    let mut digest = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to memory does not fail.
        let _ = write!(digest, "{byte:02x}");
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_the_output_of_runtimes() {
        for (text, version) in [
            ("wasmtime 48.0.8\n", "48.0.8"),
            (
                "/usr/bin/wasmedge version 0.14.1\n (plugin \"wasi_logging\") version 0.1.0.0\n",
                "0.14.1",
            ),
            ("13.6.233.17-node.26\n", "13.6.233.17-node.26"),
            ("wasmer 7.4.2\n", "7.4.2"),
            ("nothing", ""),
        ] {
            assert_eq!(version_of(text), version);
        }
    }
}
