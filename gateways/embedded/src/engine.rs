//! The engine's mode: where an instance gets its memory from, and when the module is compiled.

use crate::ahead;
use crate::wasi::{MAX_MEMORY_BYTES, MAX_TABLE_ELEMENTS};
use gateway_http::PROFILE;
use wasmtime::{Config, Engine, Module, PoolingAllocationConfig, Result};

/// Memory of a pooled instance that is overwritten instead of returned to the kernel, after which
/// each page would cost a fault. Only what the instance used is overwritten, so a small guest pays
/// for its 64 KiB; the limit is the size to which one body of 256 KiB makes it grow.
const KEPT_MEMORY_BYTES: usize = 2 * 1024 * 1024;
const KEPT_TABLE_BYTES: usize = 4 * 1024;

/// How instances are allocated, in the engine's own terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocator {
    /// Each instance by itself.
    #[default]
    OnDemand,
    /// From a pool that is set up once.
    Pooling,
}

/// How the linear memory of an instance is provided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Pages mapped by the kernel with guard pages behind them, initialised by copy-on-write. An
    /// out-of-bounds access raises a signal.
    Mapped,
    /// A piece of the process's heap. A compiled check catches an out-of-bounds access.
    Heap,
}

/// When the module is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compile {
    /// When the gateway starts, for the processor that it runs on.
    #[default]
    Jit,
    /// Ahead of time, for any processor of the architecture; the gateway only loads it.
    Aot,
}

/// Allocator, memory and compilation together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    allocator: Allocator,
    memory: Memory,
    compile: Compile,
}

impl Allocator {
    /// The name in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "OnDemand",
            Self::Pooling => "Pooling",
        }
    }

    /// The reverse of [`Allocator::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::OnDemand, Self::Pooling]
            .into_iter()
            .find(|allocator| allocator.name() == name)
    }

    /// The cheaper memory for this allocator: mapping pages for each instance costs ten times as
    /// much as clearing a piece of the heap, but a pool maps them in advance.
    pub fn usual_memory(self) -> Memory {
        match self {
            Self::OnDemand => Memory::Heap,
            Self::Pooling => Memory::Mapped,
        }
    }
}

impl Memory {
    /// The name in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mapped => "Mapped",
            Self::Heap => "Heap",
        }
    }

    /// The reverse of [`Memory::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Mapped, Self::Heap]
            .into_iter()
            .find(|memory| memory.name() == name)
    }
}

impl Compile {
    /// The name in options and in `/engine`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jit => "Jit",
            Self::Aot => "Aot",
        }
    }

    /// The reverse of [`Compile::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Jit, Self::Aot]
            .into_iter()
            .find(|compile| compile.name() == name)
    }
}

impl Mode {
    /// Returns `None` if the two exclude each other: a pool is always mapped. The module is
    /// compiled at startup.
    pub fn new(allocator: Allocator, memory: Memory) -> Option<Self> {
        match (allocator, memory) {
            (Allocator::Pooling, Memory::Heap) => None,
            _ => Some(Self {
                allocator,
                memory,
                compile: Compile::default(),
            }),
        }
    }

    /// The same mode, but compiled at another time.
    #[must_use]
    pub fn compiled(self, compile: Compile) -> Self {
        Self { compile, ..self }
    }

    /// Returns what a sandbox of this mode takes: the module itself, or its compiled code.
    pub fn prepare(self, module: &[u8]) -> Result<Vec<u8>> {
        match self.compile {
            Compile::Jit => Ok(module.to_vec()),
            Compile::Aot => ahead::compile(&self.engine()?, module),
        }
    }

    /// An engine in this mode.
    pub(crate) fn engine(self) -> Result<Engine> {
        Engine::new(&self.config()?)
    }

    /// Loads a module from what [`Mode::prepare`] returned.
    pub(crate) fn load(self, engine: &Engine, prepared: &[u8]) -> Result<Module> {
        match self.compile {
            Compile::Jit => Module::new(engine, prepared),
            Compile::Aot => ahead::load(engine, prepared),
        }
    }

    fn config(self) -> Result<Config> {
        let mut config = Config::new();
        if self.compile == Compile::Aot {
            // A named target uses no processor-specific extensions: the code must run on every
            // node.
            config.target(env!("WASMBENCH_TARGET"))?;
        }
        config.epoch_interruption(true);
        if self.allocator == Allocator::Pooling {
            config.allocation_strategy(pool());
        }
        if self.memory == Memory::Heap {
            // The engine takes memory from the heap only if no setting asks for a mapping.
            config
                .signals_based_traps(false)
                .memory_init_cow(false)
                .memory_reservation(0)
                .memory_reservation_for_growth(0)
                .memory_guard_size(0);
        }
        Ok(config)
    }

    /// The members of the JSON object in the response of `/engine`.
    pub(crate) fn members(self) -> String {
        format!(
            r#""engine":"wasmtime","version":"{}","compiler":"cranelift","optimization":"speed","compileMode":"{}","profile":"{}","allocator":"{}","memory":"{}","copyOnWrite":{}"#,
            env!("WASMTIME_VERSION"),
            self.compile.name(),
            PROFILE,
            self.allocator.name(),
            self.memory.name(),
            self.memory == Memory::Mapped,
        )
    }
}

/// One slot of each kind: there is only one request at a time.
fn pool() -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_core_instances(1)
        .total_memories(1)
        .total_tables(1)
        .table_elements(MAX_TABLE_ELEMENTS)
        .max_memory_size(MAX_MEMORY_BYTES)
        .linear_memory_keep_resident(KEPT_MEMORY_BYTES)
        .table_keep_resident(KEPT_TABLE_BYTES);
    pool
}
