//! What a guest may see and use: its arguments, environment, standard streams, the network of its
//! pod and the files of its image. The container's namespaces and cgroup confine the guest; this
//! adds no further confinement.

use anyhow::{Result, anyhow};
use containerd_shim_wasm::sandbox::context::RuntimeContext;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// The version of wasmtime that this shim is built with; `build.rs` reads it from the lock file.
const ENGINE_VERSION: &str = env!("WASMTIME_VERSION");

/// When the guest was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileMode {
    /// In advance, for the image; containerd kept the result.
    Aot,
    /// At the start of this container.
    Jit,
}

impl CompileMode {
    fn word(self) -> &'static str {
        match self {
            Self::Aot => "Aot",
            Self::Jit => "Jit",
        }
    }
}

/// The data of a component's store.
pub struct Data {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    table: ResourceTable,
}

impl Data {
    /// Creates the data for one component.
    pub fn new(wasi: WasiCtx) -> Self {
        Self {
            wasi,
            http: WasiHttpCtx::new(),
            table: ResourceTable::new(),
        }
    }
}

impl WasiView for Data {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for Data {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            ctx: &mut self.http,
            table: &mut self.table,
            hooks: Default::default(),
        }
    }
}

/// A container's settings: what its pod specifies, and which engine runs it, and how.
pub struct Settings {
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Settings {
    /// The settings of a container.
    pub fn new(context: &impl RuntimeContext, mode: CompileMode) -> Self {
        let host_facts = [
            ("WASM_HOST_ENGINE", "wasmtime"),
            ("WASM_HOST_VERSION", ENGINE_VERSION),
            ("WASM_HOST_COMPILE_MODE", mode.word()),
        ];
        let host_facts = host_facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let own = context.envs().iter().map(|variable| {
            let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
            (name.to_owned(), value.to_owned())
        });
        Self {
            arguments: context.args().to_vec(),
            environment: host_facts.into_iter().chain(own).collect(),
        }
    }

    /// The value of a variable.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let mut all = self.environment.iter().rev();
        all.find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The WASI context of a command, not yet built: building differs for modules and components.
    pub fn of_command(&self) -> Result<WasiCtxBuilder> {
        let mut builder = self.builder();
        builder
            .args(&self.arguments)
            .inherit_network()
            .allow_tcp(true)
            .allow_udp(true)
            .allow_ip_name_lookup(true)
            .preopened_dir("/", "/", FsPerms::ReadWrite)
            .map_err(|error| anyhow!("the container's root folder: {error:?}"))?;
        Ok(builder)
    }

    /// The WASI context for one HTTP request: neither files nor sockets, which its world does not
    /// include.
    pub fn of_request(&self) -> WasiCtx {
        self.builder().build()
    }

    fn builder(&self) -> WasiCtxBuilder {
        let mut builder = WasiCtxBuilder::new();
        builder.inherit_stdio().envs(&self.environment);
        builder
    }
}
