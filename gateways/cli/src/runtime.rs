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
    /// V8, by Node.js: a script of ours calls its WASI.
    V8,
    /// Wasmer: a command line of ours over its library.
    Wasmer,
}

/// How a runtime executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compile {
    /// Native code that was made when the image was built.
    Aot,
    /// Instruction by instruction.
    Interpreter,
    /// Native code that each process makes.
    Jit,
}

/// How a Wasm module begins, and no code that wasmtime or Wasmer made of one.
const WASM: &[u8] = b"\0asm";
/// What stands for the command line that Node.js has not: runs a WASI command, or calls a function.
const SCRIPT_OF_V8: &str = "/wasi.cjs";

impl Runtime {
    const ALL: [Self; 4] = [Self::Wasmtime, Self::Wasmedge, Self::V8, Self::Wasmer];

    /// As it is written in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wasmtime => "wasmtime",
            Self::Wasmedge => "wasmedge",
            Self::V8 => "v8",
            Self::Wasmer => "wasmer",
        }
    }

    /// Where its image has its program.
    pub fn usual_program(self) -> PathBuf {
        match self {
            Self::Wasmtime => "/usr/bin/wasmtime",
            Self::Wasmedge => "/usr/bin/wasmedge",
            Self::V8 => "/usr/bin/node",
            Self::Wasmer => "/usr/bin/wasmer",
        }
        .into()
    }

    /// What it is asked for its version.
    pub fn version(self) -> &'static [&'static str] {
        match self {
            Self::Wasmtime | Self::Wasmedge | Self::Wasmer => &["--version"],
            Self::V8 => &["--print", "process.versions.v8"],
        }
    }

    /// How it executes, where nobody says.
    pub fn usual_compile(self) -> Compile {
        match self {
            Self::Wasmtime | Self::Wasmedge | Self::Wasmer => Compile::Aot,
            Self::V8 => Compile::Jit,
        }
    }

    /// The reverse of [`Runtime::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|runtime| runtime.name() == name)
    }

    /// Whether it can execute in this way.
    pub fn can(self, compile: Compile) -> bool {
        match self {
            Self::Wasmtime => compile == Compile::Aot,
            Self::Wasmedge => compile != Compile::Jit,
            Self::V8 => compile == Compile::Jit,
            Self::Wasmer => compile != Compile::Interpreter,
        }
    }

    /// Whether it executes a file with these bytes in this way. Where the file decides, and no option does, a wrong
    /// one would be compiled for each answer, or not at all. What `WasmEdge` does with a file only its speed shows.
    pub fn fits(self, compile: Compile, file: &[u8]) -> bool {
        match self {
            Self::Wasmedge | Self::V8 => true,
            Self::Wasmtime | Self::Wasmer => file.starts_with(WASM) == (compile == Compile::Jit),
        }
    }

    /// Where an image has a module that is prepared for this.
    pub fn usual_file(self, compile: Compile, stem: &str) -> PathBuf {
        let ending = match (self, compile) {
            (Self::Wasmtime, _) => ".cwasm",
            (Self::Wasmedge, Compile::Aot) => "-aot.wasm",
            (Self::Wasmer, Compile::Aot) => ".wasmu",
            (Self::Wasmedge | Self::Wasmer, Compile::Interpreter | Compile::Jit)
            | (Self::V8, _) => ".wasm",
        };
        format!("/{stem}{ending}").into()
    }

    /// Runs a WASI command.
    pub fn command(self, module: &Path) -> Vec<OsString> {
        let module = module.into();
        match self {
            Self::Wasmtime => vec!["run".into(), "--allow-precompiled".into(), module],
            Self::Wasmedge => vec![module],
            Self::Wasmer => vec!["run".into(), module],
            Self::V8 => vec!["--no-warnings".into(), SCRIPT_OF_V8.into(), module],
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
            Self::Wasmer => vec![
                "run".into(),
                "--invoke".into(),
                function.into(),
                module,
                number,
            ],
            Self::V8 => vec![
                "--no-warnings".into(),
                SCRIPT_OF_V8.into(),
                module,
                function.into(),
                number,
            ],
        }
    }
}

impl Compile {
    /// As it is written in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aot => "Aot",
            Self::Interpreter => "Interpreter",
            Self::Jit => "Jit",
        }
    }

    /// The reverse of [`Compile::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Aot, Self::Interpreter, Self::Jit]
            .into_iter()
            .find(|compile| compile.name() == name)
    }
}
