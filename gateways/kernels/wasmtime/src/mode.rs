//! Bounds checks and allocator, in the engine's settings.

use std::sync::Arc;

use kernel_executor::{Allocator, BoundsChecks, Options};
use wasmtime::{Config, PoolingAllocationConfig};

use crate::unchecked::Unchecked;

/// What an address in the guest can reach.
const RESERVED_BYTES: u64 = 1 << 32;
/// What an instruction's constant offset can add to it, with an access of up to 16 bytes. The compiler
/// emits no check, because no sum of the two is beyond both.
const BEHIND_BYTES: u64 = (1 << 32) + (1 << 16);

/// Of how many dropped instances the memory is given back in one call.
const BATCH: u32 = 16;
/// The most CPUs for each of which the engine keeps a batch.
const MAX_CPUS: u32 = 16;

/// How kernels are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// How an access outside of the memory is prevented.
    pub checks: BoundsChecks,
    /// Where an instance gets its memory from.
    pub allocator: Allocator,
}

impl Mode {
    /// The mode of these options; by default the engine's own.
    pub fn new(options: &Options) -> Result<Self, String> {
        let mode = Self {
            checks: options.bounds_checks.unwrap_or(BoundsChecks::Guard),
            allocator: options.allocator.unwrap_or(Allocator::OnDemand),
        };
        match (mode.checks, mode.allocator) {
            (BoundsChecks::Clamp, _) => Err(
                "Wasmtime clamps no addresses: use the bounds checks Guard, Explicit or None"
                    .into(),
            ),
            (BoundsChecks::Guard, _)
            | (BoundsChecks::Explicit | BoundsChecks::None, Allocator::OnDemand) => Ok(mode),
            (BoundsChecks::Explicit | BoundsChecks::None, _) => Err(format!(
                "the allocator {} has guard pages: use the bounds checks Guard, or OnDemand",
                mode.allocator.name()
            )),
        }
    }

    /// Whether a new memory shares the pages of the module's data until it writes to them.
    pub fn copies_on_write(self) -> bool {
        // The engine does that only in memory that it has mapped itself.
        let is_copied = match self.allocator {
            Allocator::OnDemandCopied | Allocator::PoolingCopied => true,
            Allocator::OnDemand | Allocator::Pooling | Allocator::PoolingBatched => false,
        };
        self.checks != BoundsChecks::None && !is_copied
    }

    /// Of how many dropped instances a pool gives back the memory in one call; `None` without a pool.
    fn batch(self) -> Option<u32> {
        match self.allocator {
            Allocator::OnDemand | Allocator::OnDemandCopied => None,
            // Of each at once: the engine's default.
            Allocator::Pooling | Allocator::PoolingCopied => Some(1),
            Allocator::PoolingBatched => Some(BATCH),
        }
    }

    /// The engine's settings, for as many instances at once as there are threads.
    pub fn config(self, threads: u32) -> Config {
        let mut config = Config::new();
        config.memory_init_cow(self.copies_on_write());
        match self.checks {
            // 4 GiB reserved and guard pages behind: the default of 64-bit machines.
            BoundsChecks::Guard | BoundsChecks::Clamp => {}
            BoundsChecks::Explicit => {
                // Without reserved space each access is compared with the memory's length. Without
                // signals the outcome is a branch to a trap; with them, a selected null address.
                config
                    .signals_based_traps(false)
                    .memory_reservation(0)
                    .memory_reservation_for_growth(0)
                    .memory_guard_size(0);
            }
            BoundsChecks::None => {
                config
                    .memory_reservation(RESERVED_BYTES)
                    .memory_guard_size(BEHIND_BYTES)
                    .with_host_memory(Arc::new(Unchecked));
            }
        }
        if let Some(batch) = self.batch() {
            // With copy-on-write and instances linked in advance, all that the engine's guide to
            // fast instantiation recommends.
            let mut pool = PoolingAllocationConfig::new();
            // Those that wait for their batch: of each CPU all but one.
            let slots = threads + MAX_CPUS * (batch - 1);
            pool.total_core_instances(slots)
                .total_memories(slots)
                .total_tables(slots)
                .decommit_batch_size(batch as usize);
            config.allocation_strategy(pool);
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(checks: BoundsChecks, allocator: Option<Allocator>) -> Result<Mode, String> {
        Mode::new(&Options {
            threads: 1,
            bounds_checks: Some(checks),
            allocator,
            folder: "/kernels".into(),
        })
    }

    #[test]
    fn clamped_addresses_are_refused_and_a_pool_without_guard_pages() {
        assert!(mode(BoundsChecks::Clamp, None).is_err());
        for checks in [
            BoundsChecks::Guard,
            BoundsChecks::Explicit,
            BoundsChecks::None,
        ] {
            assert!(mode(checks, None).is_ok(), "{checks:?}");
            for allocator in Allocator::ALL {
                let is_possible = checks == BoundsChecks::Guard || allocator == Allocator::OnDemand;
                let found = mode(checks, Some(allocator));
                assert_eq!(found.is_ok(), is_possible, "{checks:?} {allocator:?}");
            }
        }
    }

    #[test]
    fn an_allocator_says_whether_data_is_copied_and_when_memory_is_given_back() {
        let found = Allocator::ALL.map(|allocator| {
            let mode = mode(BoundsChecks::Guard, Some(allocator)).unwrap();
            (mode.copies_on_write(), mode.batch())
        });
        let expected = [
            (true, None),
            (false, None),
            (true, Some(1)),
            (false, Some(1)),
            (true, Some(16)),
        ];
        assert_eq!(found, expected);
    }
}
