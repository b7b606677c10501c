//! The runtimes and how their command lines are called.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A runtime with a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// wasmtime.
    Wasmtime,
    /// WasmEdge.
    Wasmedge,
}

/// How a runtime executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compile {
    /// Native code that was made when the image was built.
    Aot,
    /// Instruction by instruction.
    Interpreter,
}

impl Runtime {
    /// As it is written in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wasmtime => "wasmtime",
            Self::Wasmedge => "wasmedge",
        }
    }

    /// The reverse of [`Runtime::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Wasmtime, Self::Wasmedge]
            .into_iter()
            .find(|runtime| runtime.name() == name)
    }

    /// Whether it can execute in this way.
    pub fn can(self, compile: Compile) -> bool {
        match (self, compile) {
            (Self::Wasmtime, Compile::Interpreter) => false,
            (Self::Wasmtime | Self::Wasmedge, Compile::Aot)
            | (Self::Wasmedge, Compile::Interpreter) => true,
        }
    }

    /// Where an image has a module that is prepared for this.
    pub fn usual_file(self, compile: Compile, stem: &str) -> PathBuf {
        let ending = match (self, compile) {
            (Self::Wasmtime, _) => ".cwasm",
            (Self::Wasmedge, Compile::Aot) => "-aot.wasm",
            (Self::Wasmedge, Compile::Interpreter) => ".wasm",
        };
        format!("/{stem}{ending}").into()
    }

    /// Runs a WASI command.
    pub fn command(self, module: &Path) -> Vec<OsString> {
        let module = module.into();
        match self {
            Self::Wasmtime => vec!["run".into(), "--allow-precompiled".into(), module],
            Self::Wasmedge => vec![module],
        }
    }

    /// Calls a function of a module with one number and prints what it gives.
    pub fn invoke(self, module: &Path, function: &str, number: u32) -> Vec<OsString> {
        let (module, number) = (module.into(), number.to_string().into());
        match self {
            Self::Wasmtime => vec![
                "run".into(),
                "--allow-precompiled".into(),
                "--invoke".into(),
                function.into(),
                module,
                number,
            ],
            Self::Wasmedge => vec!["--reactor".into(), module, function.into(), number],
        }
    }
}

impl Compile {
    /// As it is written in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aot => "Aot",
            Self::Interpreter => "Interpreter",
        }
    }

    /// The reverse of [`Compile::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Aot, Self::Interpreter]
            .into_iter()
            .find(|compile| compile.name() == name)
    }
}
