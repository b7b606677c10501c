//! `serve-wasmedge`: replaces this process with the runtime, whose guest is the gateway itself; the
//! guest listens.
//!
//! Input: the container's arguments and environment. Output: the same for the guest, because the
//! runtime passes on only what its options name, and how the guest is executed. Only for WasmEdge,
//! whose sockets the guest uses.

use crate::runtime::{Compile, Runtime};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The paths of the gateway as a guest in an image: with code from `wasmedge compile`, and without.
const COMPILED: &str = "/server-aot.wasm";
const PLAIN: &str = "/server.wasm";
/// The version of the runtime, recorded by the image build: querying it would slow down each start.
const VERSION_FILE: &str = "/wasmedge.version";
const PROGRAM: &str = "/usr/bin/wasmedge";
const COMPILE_VARIABLE: &str = "WASMBENCH_ENGINE_COMPILE";

/// What the process becomes: the runtime's arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Serve(Vec<OsString>);

impl Serve {
    /// Uses the arguments after `serve-wasmedge`, and the environment.
    pub fn new(
        arguments: impl Iterator<Item = OsString>,
        environment: impl Iterator<Item = (OsString, OsString)>,
        version: &str,
    ) -> Result<Self, String> {
        let environment: Vec<_> = environment.collect();
        let requested = environment
            .iter()
            .find(|(name, _)| name == COMPILE_VARIABLE)
            .map_or(Some(Compile::Aot), |(_, mode)| {
                Compile::from_name(&mode.to_string_lossy())
            });
        let possible = requested.filter(|mode| Runtime::Wasmedge.can(*mode));
        let mode =
            possible.ok_or_else(|| format!("{COMPILE_VARIABLE} is not Aot or Interpreter"))?;
        let host_facts = [
            ("WASM_HOST_ENGINE", "wasmedge"),
            ("WASM_HOST_VERSION", version.trim()),
            ("WASM_HOST_COMPILE_MODE", mode.name()),
        ];
        let host_facts = host_facts.map(|(name, value)| (name.into(), value.into()));
        let mut command: Vec<OsString> = vec![];
        // If two variables have the same name, a guest sees the first.
        for (name, value) in host_facts.into_iter().chain(environment) {
            command.push("--env".into());
            command.push([&*name, OsStr::new("="), &value].into_iter().collect());
        }
        if mode == Compile::Interpreter {
            command.push("--force-interpreter".into());
            command.push(PLAIN.into());
        } else {
            command.push(COMPILED.into());
        }
        command.extend(arguments);
        Ok(Self(command))
    }

    /// Replaces this process. Returns only if something is wrong.
    pub fn of_process() -> String {
        let version = match std::fs::read_to_string(VERSION_FILE) {
            Ok(version) => version,
            Err(error) => return format!("{VERSION_FILE}: {error}"),
        };
        // After the program and `serve-wasmedge`.
        let arguments = std::env::args_os().skip(2);
        match Self::new(arguments, std::env::vars_os(), &version) {
            Err(message) => message,
            Ok(serve) => {
                let error = Command::new(PROGRAM).args(serve.0).exec();
                format!("{PROGRAM}: {error}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(environment: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let environment = environment.iter().map(|(a, b)| (a.into(), b.into()));
        let arguments = ["--idle-timeout-ms".into(), "5".into()];
        let serve = Serve::new(arguments.into_iter(), environment, "0.14.1\n")?;
        let text = |word: OsString| word.into_string().unwrap();
        Ok(serve.0.into_iter().map(text).collect())
    }

    #[test]
    fn the_guest_gets_the_containers_environment_arguments_and_host() {
        let words = serve(&[("WASMBENCH_UPSTREAM", "10.0.0.1:80")]).unwrap();
        assert_eq!(
            words,
            [
                "--env",
                "WASM_HOST_ENGINE=wasmedge",
                "--env",
                "WASM_HOST_VERSION=0.14.1",
                "--env",
                "WASM_HOST_COMPILE_MODE=Aot",
                "--env",
                "WASMBENCH_UPSTREAM=10.0.0.1:80",
                "/server-aot.wasm",
                "--idle-timeout-ms",
                "5",
            ]
        );
    }

    #[test]
    fn an_interpreter_is_requested_by_name_and_gets_the_module_without_code() {
        let words = serve(&[(COMPILE_VARIABLE, "Interpreter")]).unwrap();
        let at = words.iter().position(|word| word == "--force-interpreter");
        assert_eq!(words[at.unwrap() + 1], "/server.wasm");
        assert!(words.contains(&"WASM_HOST_COMPILE_MODE=Interpreter".to_owned()));
        let refused = serve(&[(COMPILE_VARIABLE, "Jit")]).unwrap_err();
        assert!(refused.contains("Aot or Interpreter"), "{refused}");
    }
}
