//! Memory in which no access can fail: all addresses that a guest can form are mapped. A guest reads
//! and writes whatever is behind the end of its memory, which is nothing but its own.

#![expect(
    unsafe_code,
    reason = "the engine's code accesses this memory without a check"
)]

use std::ptr::{null_mut, with_exposed_provenance_mut};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use wasmtime::{Error, LinearMemory, MemoryCreator, MemoryType, Result};

/// Creates such memories.
pub struct Unchecked;

/// A mapping for one memory.
struct Mapped {
    /// Its exposed address.
    address: usize,
    /// Bytes that are mapped.
    length: usize,
    /// Bytes to which the memory may grow.
    capacity: usize,
    /// Bytes that the guest was given.
    size: usize,
}

// SAFETY: each memory is a mapping of its own, zeroed by the kernel, which stays where it is as long
// as the memory exists, and nothing else has its address. The engine expects inaccessible pages where
// this mapping has accessible ones: it emits the same code, which then reaches nobody else's memory.
unsafe impl MemoryCreator for Unchecked {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        _: Option<usize>,
        reserved: Option<usize>,
        behind: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let capacity = reserved.filter(|reserved| minimum <= *reserved);
        let capacity = capacity.ok_or("the memory is larger than what is reserved")?;
        let mapped = capacity + behind;
        // Most of it is never touched, so it must not count as promised memory.
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses an address where nothing is mapped.
        let mapping = unsafe {
            mmap_anonymous(
                null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        };
        let mapping = mapping.map_err(|error| format!("could not map {mapped} bytes: {error}"))?;
        Ok(Box::new(Mapped {
            address: mapping.expose_provenance(),
            length: mapped,
            capacity,
            size: minimum,
        }))
    }
}

// SAFETY: all bytes up to the capacity are accessible, and the address never changes.
unsafe impl LinearMemory for Mapped {
    fn byte_size(&self) -> usize {
        self.size
    }

    fn byte_capacity(&self) -> usize {
        self.capacity
    }

    fn grow_to(&mut self, new_size: usize) -> Result<()> {
        if new_size > self.capacity {
            return Err(Error::msg("the memory is larger than what is reserved"));
        }
        self.size = new_size;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        with_exposed_provenance_mut(self.address)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: it is this memory's own mapping, which the engine no longer uses. The kernel
        // refuses only what is no mapping.
        let _ = unsafe { munmap(with_exposed_provenance_mut(self.address), self.length) };
    }
}
