//! The presets, a row each. Everything else about a preset follows from its row: its pod, the claims
//! about its engine (`engine.rs`), the settings that it takes, and what it cannot do
//! (`not_applicable.rs`).

use wasmbench_api::run::{Allocator, Compile, Engine, Preset, Variant};

use crate::images::{Images, RuntimeClasses};
use crate::wire::action::Instances;

/// Compiled code takes at most this many times as long as native code for the same work, checks of
/// time limits included. An interpreter, which runs several of its own instructions for one of the
/// processor's, takes longer.
pub const SLOWEST_COMPILED: f64 = 5.0;
/// The same for V8, where most of the work may be done before the second compiler has taken over:
/// the first one does not optimise. V8's interpreter takes far longer.
const SLOWEST_OF_V8: f64 = 15.0;
/// The whole effect on an answer of the module through which some presets pass it.
const BODY_PREFIX: &str = "wasm:";
/// Port on which the presets listen.
pub const GATEWAY_PORT: u16 = 8080;
/// What every gateway prints once it listens: `wasmbench: native listening on [::]:8080`.
pub const GATEWAY_LINE: &str = " listening on ";
/// What wasmtime's own server prints once it listens.
const SERVE_LINE: &str = "Serving HTTP on ";
/// With this argument, the image's program becomes `wasmedge` with the gateway as its guest.
const SERVE_WASMEDGE: &str = "serve-wasmedge";
/// Picks one of the images; the mode matters only where each mode has an image of its own.
type Image = fn(&Images, Option<Compile>) -> &String;

/// What a preset is.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its image.
    pub image: Image,
    /// Arguments of the entrypoint.
    pub arguments: &'static [&'static str],
    /// `RuntimeClass` of the pod; `None`: the node's default runtime.
    pub runtime_class: Option<fn(&RuntimeClasses) -> &String>,
    /// Whether the pod is on the node's network.
    pub host_network: bool,
    /// Prefix that it puts before every body.
    pub body_prefix: &'static str,
    /// Part of the log line that announces that it listens.
    pub listening_line: &'static str,
    /// What each further function is, if it is called through the action protocol.
    pub actions: Option<Instances>,
    /// What executes Wasm, as `/engine` names it: `"none"` for native code. `None` if the process
    /// cannot know.
    pub engine: Option<&'static str>,
    /// What answers requests.
    pub front: Front,
    /// How Wasm is executed.
    pub mode: Mode,
    /// How many times as long as native code its compiled code may take for the same work.
    pub slowest: f64,
    /// Whether the spec may set `engine.allocator`.
    pub has_allocator: bool,
    /// What it cannot do.
    pub cannot: &'static [Cannot],
}

/// What answers requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// A native process, which executes Wasm itself, if any.
    Process,
    /// A native process that starts another one for each answer.
    CommandLine,
    /// Code in Wasm.
    Guest,
}

/// How a preset executes Wasm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Not at all, or nothing states how.
    Unstated,
    /// Always like this.
    Always(Compile),
    /// As `engine.compile` says: the first of these unless it is set.
    Choice([Compile; 2]),
    /// Compiled by a shim, which may keep the result for later starts.
    CompiledByShim,
}

/// What a service may be unable to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cannot {
    /// Remember anything from one request to the next.
    KeepState,
    /// Send requests.
    AskUpstream,
}

/// The row of a preset.
pub fn definition(preset: Preset) -> Definition {
    match preset {
        // A static binary under the node's default runtime: the price of a plain container.
        Preset::Native => native(|images, _| &images.native),
        // What it saves compared with `native` is the price of a pod's own network.
        Preset::NativeHostNetwork => Definition {
            host_network: true,
            ..native(|images, _| &images.native)
        },
        // Each answer passes through a module in the gateway's process: the price of Wasm without
        // that of a process. A process that has compiled keeps the compiler's heap, 5 MiB and more,
        // which it does not need for serving: so it does not compile unless the spec says so.
        Preset::WasmtimeEmbedded => Definition {
            body_prefix: BODY_PREFIX,
            engine: Some("wasmtime"),
            mode: Mode::Choice([Compile::Aot, Compile::Jit]),
            has_allocator: true,
            ..native(|images, _| &images.embedded)
        },
        // With code compiled when the image was built: the price of a process for each request.
        Preset::WasmtimeCli => Definition {
            mode: Mode::Always(Compile::Aot),
            ..command_line("wasmtime", |images, _| &images.wasmtime_cli)
        },
        Preset::WasmedgeCli => Definition {
            mode: Mode::Choice([Compile::Aot, Compile::Interpreter]),
            ..command_line("wasmedge", |images, _| &images.wasmedge_cli)
        },
        // Wasmer's library behind our own command line.
        Preset::WasmerCli => Definition {
            mode: Mode::Choice([Compile::Aot, Compile::Jit]),
            ..command_line("wasmer", |images, _| &images.wasmer_cli)
        },
        // A Node.js process, whose V8 compiles the module each time.
        Preset::V8 => Definition {
            mode: Mode::Always(Compile::Jit),
            slowest: SLOWEST_OF_V8,
            ..command_line("v8", |images, _| &images.v8)
        },
        // The gateway's own source as a WASI 0.2 component: the price of Wasm in place of a
        // container.
        Preset::WasmtimeShim => Definition {
            runtime_class: Some(|classes| &classes.wasmtime),
            engine: Some("wasmtime"),
            mode: Mode::CompiledByShim,
            ..guest(|images, _| &images.server)
        },
        // A `wasi:http` component: the shim reads requests and sends answers itself, and creates an
        // instance for each request.
        Preset::WasmtimeShimHttp => Definition {
            runtime_class: Some(|classes| &classes.wasmtime),
            engine: Some("wasmtime"),
            mode: Mode::CompiledByShim,
            cannot: &[Cannot::KeepState],
            ..guest(|images, _| &images.http)
        },
        // The same component under the server in wasmtime's own command line, in an ordinary pod.
        Preset::WasmtimeServe => Definition {
            listening_line: SERVE_LINE,
            engine: Some("wasmtime"),
            mode: Mode::Choice([Compile::Jit, Compile::Aot]),
            cannot: &[Cannot::KeepState],
            ..guest(|images, _| &images.wasmtime_serve)
        },
        // The same component on a wasmCloud host, with its HTTP server and a NATS server of its own,
        // in an ordinary pod. It is linked to nothing but the HTTP server.
        Preset::Wasmcloud => Definition {
            cannot: &[Cannot::AskUpstream, Cannot::KeepState],
            ..guest(|images, _| &images.wasmcloud)
        },
        // The gateway's own source as a WASI 0.1 module with WasmEdge's sockets. The shim interprets
        // a plain module, and runs WasmEdge's compiled code in a module that contains it.
        Preset::WasmedgeShim => Definition {
            runtime_class: Some(|classes| &classes.wasmedge),
            engine: Some("wasmedge"),
            mode: Mode::Choice([Compile::Aot, Compile::Interpreter]),
            ..guest(|images, mode| match mode {
                Some(Compile::Interpreter) => &images.server_wasmedge,
                Some(Compile::Aot | Compile::Jit) | None => &images.server_wasmedge_aot,
            })
        },
        // The module of `wasmedge-shim` in a `wasmedge` process, in an ordinary pod. It differs from
        // the shim in the path from containerd to the runtime.
        Preset::WasmedgeServer => Definition {
            arguments: &[SERVE_WASMEDGE],
            engine: Some("wasmedge"),
            mode: Mode::Choice([Compile::Aot, Compile::Interpreter]),
            ..guest(|images, _| &images.wasmedge_cli)
        },
        // A function has a pod of its own, whose proxy starts the function's program for each call.
        Preset::ActionNative => Definition {
            actions: Some(Instances::Pods),
            ..native(|images, _| &images.action_native)
        },
        // A function is a module, one of many in a long-lived process. Ahead of time means compiled
        // once, before the starts that count.
        Preset::ActionWasmtime => Definition {
            mode: Mode::Choice([Compile::Aot, Compile::Jit]),
            ..executor("wasmtime", |images, _| &images.action_wasmtime)
        },
        Preset::ActionWasmer => Definition {
            mode: Mode::Choice([Compile::Aot, Compile::Jit]),
            ..executor("wasmer", |images, _| &images.action_wasmer)
        },
        Preset::ActionWasmi => Definition {
            mode: Mode::Always(Compile::Interpreter),
            ..executor("wasmi", |images, _| &images.action_wasmi)
        },
    }
}

/// The gateway, or another server of ours, in native code.
fn native(image: Image) -> Definition {
    Definition {
        image,
        arguments: &[],
        runtime_class: None,
        host_network: false,
        body_prefix: "",
        listening_line: GATEWAY_LINE,
        actions: None,
        engine: Some("none"),
        front: Front::Process,
        mode: Mode::Unstated,
        slowest: SLOWEST_COMPILED,
        has_allocator: false,
        cannot: &[],
    }
}

/// The gateway, with each answer passed through a module by a process of its own.
fn command_line(engine: &'static str, image: Image) -> Definition {
    Definition {
        body_prefix: BODY_PREFIX,
        engine: Some(engine),
        front: Front::CommandLine,
        ..native(image)
    }
}

/// A service in Wasm.
fn guest(image: Image) -> Definition {
    Definition {
        engine: None,
        front: Front::Guest,
        ..native(image)
    }
}

/// A process that holds functions as modules.
fn executor(engine: &'static str, image: Image) -> Definition {
    Definition {
        engine: Some(engine),
        actions: Some(Instances::Modules),
        ..native(image)
    }
}

/// The row of a variant's preset; `None` for the user's own container.
pub fn of_variant(variant: &Variant) -> Option<Definition> {
    variant.preset.map(definition)
}

impl Definition {
    /// How it executes Wasm with these settings; `None` where nothing states it.
    pub fn mode(&self, settings: Engine) -> Option<Compile> {
        match self.mode {
            Mode::Unstated | Mode::CompiledByShim => None,
            Mode::Always(mode) => Some(mode),
            Mode::Choice([default, _]) => Some(settings.compile.unwrap_or(default)),
        }
    }

    /// Whether these settings are choices that it has.
    pub fn takes(&self, settings: Engine) -> bool {
        let Mode::Choice(modes) = self.mode else {
            return false;
        };
        let has_allocator = self.has_allocator || settings.allocator == Allocator::OnDemand;
        has_allocator && settings.compile.is_none_or(|mode| modes.contains(&mode))
    }
}
