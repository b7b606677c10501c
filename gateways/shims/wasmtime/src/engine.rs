//! The engine's configuration, in one place: what is compiled under it must run under it.

use std::num::NonZeroUsize;

use wasmtime::{Config, Enabled, Engine, PoolingAllocationConfig, Result};

/// Requests at once that a component can answer: the most connections that a load opens.
const INSTANCES: u32 = 2000;
/// A component of Rust's is three core instances with two tables.
const CORE_INSTANCES: u32 = 4 * INSTANCES;
/// Memory of a slot that stays mapped for the next request, in bytes: that of a usual component.
const KEPT_MEMORY: usize = 2 << 20;
const KEPT_TABLE: usize = 64 << 10;

/// An engine as the precompiler and containers with one instance use it: Cranelift, memory on demand.
pub fn engine() -> Result<Engine> {
    Engine::new(&config())
}

/// An engine for an instance per request: the same code, in slots that are reserved before.
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
        // Of what is kept only pages that were written are cleared, where the kernel tells them.
        .pagemap_scan(Enabled::Auto);
    let mut config = config();
    config.allocation_strategy(slots);
    Engine::new(&config)
}

fn config() -> Config {
    let mut config = Config::new();
    config.wasm_backtrace_max_frames(NonZeroUsize::new(16));
    // Compiled in for the command line beside this. A guest of WASI 0.2 has no use for it, and each call would
    // pay for it.
    config.concurrency_support(false);
    config
}
