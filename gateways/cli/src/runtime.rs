//! The runtimes and how to call their command lines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A runtime with a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// wasmtime.
    Wasmtime,
    /// WasmEdge.
    Wasmedge,
    /// V8, in Node.js: a script of ours calls its WASI.
    V8,
    /// Wasmer: a command line of ours on top of its library.
    Wasmer,
}

/// How a runtime executes code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compile {
    /// Native code made when the image was built.
    Aot,
    /// Instruction by instruction.
    Interpreter,
    /// Native code that each process compiles.
    Jit,
}

/// The magic number of a Wasm module, which code compiled by wasmtime or Wasmer lacks.
const WASM: &[u8] = b"\0asm";
/// Replaces the command line that Node.js lacks: runs a WASI command, or calls a function.
const SCRIPT_OF_V8: &str = "/wasi.cjs";

impl Runtime {
    const ALL: [Self; 4] = [Self::Wasmtime, Self::Wasmedge, Self::V8, Self::Wasmer];

    /// The name in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wasmtime => "wasmtime",
            Self::Wasmedge => "wasmedge",
            Self::V8 => "v8",
            Self::Wasmer => "wasmer",
        }
    }

    /// The path of its program in its image.
    pub fn usual_program(self) -> PathBuf {
        match self {
            Self::Wasmtime => "/usr/bin/wasmtime",
            Self::Wasmedge => "/usr/bin/wasmedge",
            Self::V8 => "/usr/bin/node",
            Self::Wasmer => "/usr/bin/wasmer",
        }
        .into()
    }

    /// The arguments that print its version.
    pub fn version(self) -> &'static [&'static str] {
        match self {
            Self::Wasmtime | Self::Wasmedge | Self::Wasmer => &["--version"],
            Self::V8 => &["--print", "process.versions.v8"],
        }
    }

    /// How it executes code by default.
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

    /// Whether it can execute code in this way.
    pub fn can(self, compile: Compile) -> bool {
        match self {
            Self::Wasmtime => compile == Compile::Aot,
            Self::Wasmedge => compile != Compile::Jit,
            Self::V8 => compile == Compile::Jit,
            Self::Wasmer => compile != Compile::Interpreter,
        }
    }

    /// Whether it executes a file with these bytes in this way. Where the file decides, and not an
    /// option, a wrong file would be compiled for each response, or not run at all. What `WasmEdge`
    /// does with a file shows only in its speed.
    pub fn fits(self, compile: Compile, file: &[u8]) -> bool {
        match self {
            Self::Wasmedge | Self::V8 => true,
            Self::Wasmtime | Self::Wasmer => file.starts_with(WASM) == (compile == Compile::Jit),
        }
    }

    /// The path, in an image, of the module that is prepared for this runtime and mode.
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

    /// The arguments that run a WASI command.
    pub fn command(self, module: &Path) -> Vec<OsString> {
        let module = module.into();
        match self {
            Self::Wasmtime => vec!["run".into(), "--allow-precompiled".into(), module],
            Self::Wasmedge => vec![module],
            Self::Wasmer => vec!["run".into(), module],
            Self::V8 => vec!["--no-warnings".into(), SCRIPT_OF_V8.into(), module],
        }
    }

    /// The arguments that call a function of a module with one number and print its result.
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
    /// The name in options and in `/engine`.
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
