//! The engine's configuration, in one place: what is compiled with it must run with it.

use std::num::NonZeroUsize;

use wasmtime::{Config, Enabled, Engine, PoolingAllocationConfig, Result};

/// Concurrent requests that a component can handle: the most connections that a load opens.
const INSTANCES: u32 = 2000;
/// A Rust component has three core instances with two tables.
const CORE_INSTANCES: u32 = 4 * INSTANCES;
/// Memory of a slot that stays mapped for the next request, in bytes: that of a typical component.
const KEPT_MEMORY: usize = 2 << 20;
const KEPT_TABLE: usize = 64 << 10;

/// Returns an engine as the precompiler and containers with one instance use it: Cranelift, memory
/// on demand.
pub fn engine() -> Result<Engine> {
    Engine::new(&config())
}

/// Returns an engine for one instance per request: the same code, in slots reserved in advance.
pub fn engine_of_requests() -> Result<Engine> {
    let mut slots = PoolingAllocationConfig::new();
    slots
        .total_component_instances(INSTANCES)
        .total_core_instances(CORE_INSTANCES)
        .total_memories(INSTANCES)
        .total_tables(CORE_INSTANCES)
        .total_stacks(INSTANCES)
        .linear_memory_keep_resident(KEPT_MEMORY)
        .table_keep_resident(KEPT_TABLE)
        // Of the kept pages, only those that were written are cleared, where the kernel reports
        // them.
        .pagemap_scan(Enabled::Auto);
    let mut config = config();
    config.allocation_strategy(slots);
    Engine::new(&config)
}

fn config() -> Config {
    let mut config = Config::new();
    config.wasm_backtrace_max_frames(NonZeroUsize::new(16));
    // Compiled in for the command line in this crate. A guest of WASI 0.2 has no use for it, and
    // each call would pay for it.
    config.concurrency_support(false);
    config
}
