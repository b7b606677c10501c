//! What a guest may see and use: its arguments, environment, standard streams, the network of its
//! pod and the files of its image. The container's namespaces and cgroup hold it; this adds nothing.

use anyhow::{Result, anyhow};
use containerd_shim_wasm::sandbox::context::RuntimeContext;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// The data of a component's store.
pub struct Data {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl Data {
    /// For one component.
    pub fn new(wasi: WasiCtx) -> Self {
        Self {
            wasi,
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

/// A container's settings as WASI has them, not yet built: modules and components differ in that.
pub fn builder(context: &impl RuntimeContext) -> Result<WasiCtxBuilder> {
    let mut builder = WasiCtxBuilder::new();
    builder
        .args(context.args())
        .inherit_stdio()
        .inherit_network()
        .allow_tcp(true)
        .allow_udp(true)
        .allow_ip_name_lookup(true);
    for variable in context.envs() {
        let (name, value) = variable.split_once('=').unwrap_or((variable, ""));
        builder.env(name, value);
    }
    builder
        .preopened_dir("/", "/", FsPerms::ReadWrite)
        .map_err(|error| anyhow!("the container's root folder: {error:?}"))?;
    Ok(builder)
}
