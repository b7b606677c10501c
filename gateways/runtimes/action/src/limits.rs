//! The limits of an instance, applied where an engine creates memories and tables.

use std::ptr::NonNull;

use action_host::Limits;
use action_host::engine::MAX_TABLE_ELEMENTS;
use wasmer::sys::vm::{VMMemory, VMMemoryDefinition, VMTable, VMTableDefinition};
use wasmer::sys::{BaseTunables, Tunables};
use wasmer::{MemoryError, MemoryStyle, MemoryType, Pages, TableStyle, TableType, WASM_PAGE_SIZE};

/// Creates memories and tables that do not grow beyond limits.
pub struct Bounded {
    pages: Pages,
    base: BaseTunables,
}

impl Bounded {
    /// For one instance.
    pub fn new(limits: Limits) -> Self {
        let pages = u32::try_from(limits.memory_bytes / WASM_PAGE_SIZE).unwrap_or(u32::MAX);
        Self {
            pages: Pages(pages),
            base: BaseTunables::new(),
        }
    }

    fn memory(&self, requested: &MemoryType) -> Result<MemoryType, MemoryError> {
        if requested.minimum > self.pages {
            return Err(MemoryError::MinimumMemoryTooLarge {
                min_requested: requested.minimum,
                max_allowed: self.pages,
            });
        }
        let maximum = requested
            .maximum
            .map_or(self.pages, |most| most.min(self.pages));
        Ok(MemoryType::new(
            requested.minimum,
            Some(maximum),
            requested.shared,
        ))
    }
}

fn table(requested: &TableType) -> Result<TableType, String> {
    let most = u32::try_from(MAX_TABLE_ELEMENTS).unwrap_or(u32::MAX);
    if requested.minimum > most {
        return Err(format!("a table has at most {most} elements"));
    }
    let maximum = requested.maximum.map_or(most, |maximum| maximum.min(most));
    Ok(TableType {
        maximum: Some(maximum),
        ..*requested
    })
}

impl Tunables for Bounded {
    fn memory_style(&self, memory: &MemoryType) -> MemoryStyle {
        self.base.memory_style(memory)
    }

    fn table_style(&self, table: &TableType) -> TableStyle {
        self.base.table_style(table)
    }

    fn create_host_memory(
        &self,
        requested: &MemoryType,
        style: &MemoryStyle,
    ) -> Result<VMMemory, MemoryError> {
        self.base
            .create_host_memory(&self.memory(requested)?, style)
    }

    unsafe fn create_vm_memory(
        &self,
        requested: &MemoryType,
        style: &MemoryStyle,
        place: NonNull<VMMemoryDefinition>,
    ) -> Result<VMMemory, MemoryError> {
        let bounded = self.memory(requested)?;
        // SAFETY: the caller guarantees that the place is valid.
        unsafe { self.base.create_vm_memory(&bounded, style, place) }
    }

    fn create_host_table(
        &self,
        requested: &TableType,
        style: &TableStyle,
    ) -> Result<VMTable, String> {
        self.base.create_host_table(&table(requested)?, style)
    }

    unsafe fn create_vm_table(
        &self,
        requested: &TableType,
        style: &TableStyle,
        place: NonNull<VMTableDefinition>,
    ) -> Result<VMTable, String> {
        let bounded = table(requested)?;
        // SAFETY: the caller guarantees that the place is valid.
        unsafe { self.base.create_vm_table(&bounded, style, place) }
    }
}
