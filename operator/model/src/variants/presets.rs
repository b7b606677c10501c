//! What a preset is, by its row in the catalogue. Everything else about it follows from there: its
//! pod, the claims about its engine (`engine.rs`), the settings that it takes, and what it cannot do
//! (`not_applicable.rs`).

use serde::Deserialize;
use wasmbench_api::run::{Allocator, BoundsChecks, Compile, Engine, Preset};

use crate::wire::action::Instances;

/// Compiled code takes at most this many times as long as native code for the same work, checks of
/// time limits included. An interpreter, which runs several of its own instructions for one of the
/// processor's, takes longer.
pub const SLOWEST_COMPILED: f64 = 5.0;
/// Port on which the presets listen.
pub const GATEWAY_PORT: u16 = 8080;
/// What every gateway prints once it listens: `wasmbench: native listening on [::]:8080`.
pub const GATEWAY_LINE: &str = " listening on ";

/// What a preset is.
#[derive(Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Definition {
    /// Its name in a spec.
    pub name: Preset,
    /// Its image, by its name in the catalogue.
    pub image: String,
    /// The image that takes its place where Wasm is interpreted, if that is another one.
    pub interpreter_image: Option<String>,
    /// Arguments of the entrypoint.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The shim whose `RuntimeClass` its pod has; `None`: the node's default runtime.
    pub runtime_class: Option<Shim>,
    /// Whether the pod is on the node's network.
    #[serde(default)]
    pub host_network: bool,
    /// Prefix that it puts before every body: the whole effect on an answer of the module through
    /// which some presets pass it.
    #[serde(default)]
    pub body_prefix: String,
    /// Part of the log line that announces that it listens.
    #[serde(default = "gateway_line")]
    pub listening_line: String,
    /// What each further function is, if it is called through the action protocol.
    pub actions: Option<Instances>,
    /// What executes Wasm, as `/engine` names it: `none` for native code. `None` if the process
    /// cannot know.
    pub engine: Option<String>,
    /// What answers requests.
    #[serde(default)]
    pub front: Front,
    /// How Wasm is executed.
    #[serde(default)]
    pub mode: Mode,
    /// How many times as long as native code its compiled code may take for the same work. More for
    /// V8, where most of the work may be done before the second compiler has taken over: the first
    /// one does not optimise. V8's interpreter takes far longer. Less for the fastest interpreters,
    /// which take little more than four times as long on some processors.
    #[serde(default = "slowest_compiled")]
    pub slowest: f64,
    /// Whether the spec may set `engine.allocator`.
    #[serde(default)]
    pub has_allocator: bool,
    /// What `engine.boundsChecks` may be, the default first; empty for presets without such a choice.
    #[serde(default)]
    pub bounds_checks: Vec<BoundsChecks>,
    /// Whether the spec may set `engine.threads`.
    #[serde(default)]
    pub threads: bool,
    /// Which paths it answers.
    #[serde(default)]
    pub serves: Serves,
    /// What it cannot do.
    #[serde(default)]
    pub cannot: Vec<Cannot>,
}

/// A shim of containerd that executes a pod's image as Wasm.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Shim {
    /// That of Wasmtime.
    Wasmtime,
    /// That of WasmEdge.
    Wasmedge,
}

/// What answers requests.
#[derive(Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Front {
    /// A native process, which executes Wasm itself, if any.
    #[default]
    Process,
    /// A native process that starts another one for each answer.
    CommandLine,
    /// Code in Wasm.
    Guest,
}

/// How a preset executes Wasm.
#[derive(Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Not at all, or nothing states how.
    #[default]
    Unstated,
    /// Always like this.
    Always(Compile),
    /// As set in `engine.compile`: the first of these unless it is set.
    Choice([Compile; 2]),
    /// Compiled by a shim, which may keep the result for later starts.
    CompiledByShim,
}

/// Which paths a preset answers.
#[derive(Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Serves {
    /// Those of the gateway.
    #[default]
    Gateway,
    /// `/kernel`, `/health` and `/engine`.
    Kernels,
}

/// What a service may be unable to do.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Cannot {
    /// Remember anything from one request to the next.
    KeepState,
    /// Send requests.
    AskUpstream,
}

fn gateway_line() -> String {
    GATEWAY_LINE.into()
}

const fn slowest_compiled() -> f64 {
    SLOWEST_COMPILED
}

impl Definition {
    /// The name of its image where Wasm is executed like this.
    pub fn image(&self, mode: Option<Compile>) -> &str {
        let interprets = mode == Some(Compile::Interpreter);
        let other = self.interpreter_image.as_ref().filter(|_| interprets);
        other.unwrap_or(&self.image)
    }

    /// The names of all its images.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        let other = self.interpreter_image.as_deref();
        other.into_iter().chain([&*self.image])
    }

    /// How it executes Wasm with these settings; `None` where nothing states it.
    pub fn mode(&self, settings: Engine) -> Option<Compile> {
        match self.mode {
            Mode::Unstated | Mode::CompiledByShim => None,
            Mode::Always(mode) => Some(mode),
            Mode::Choice([default, _]) => Some(settings.compile.unwrap_or(default)),
        }
    }

    /// How it keeps a module within its memory with these settings; `None` where that is no choice.
    pub fn bounds_checks(&self, settings: Engine) -> Option<BoundsChecks> {
        let default = self.bounds_checks.first().copied()?;
        Some(settings.bounds_checks.unwrap_or(default))
    }

    /// How many calls it executes at once with these settings; `None` where that is no choice.
    pub fn threads(&self, settings: Engine) -> Option<u32> {
        self.threads.then(|| settings.threads.unwrap_or(1))
    }

    /// Whether these settings are choices that it has.
    pub fn takes(&self, settings: Engine) -> bool {
        let Engine {
            allocator,
            compile,
            bounds_checks,
            threads,
        } = settings;
        let modes: &[Compile] = match &self.mode {
            Mode::Choice(modes) => modes,
            Mode::Unstated | Mode::Always(_) | Mode::CompiledByShim => &[],
        };
        let has_choice = !modes.is_empty() || self.has_allocator || self.threads;
        // Servers of kernels take apart what makes instances cheap.
        let is_offered = self.serves == Serves::Kernels || allocator == Allocator::Pooling;
        // A pool's slots end in guard pages.
        let checks = self.bounds_checks(settings);
        let is_guarded = checks.is_none_or(|checks| checks == BoundsChecks::Guard);
        has_choice
            && (allocator == Allocator::OnDemand
                || (self.has_allocator && is_guarded && is_offered))
            && compile.is_none_or(|mode| modes.contains(&mode))
            && bounds_checks.is_none_or(|checks| self.bounds_checks.contains(&checks))
            && (threads.is_none() || self.threads)
    }
}
