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

    fn memory(&self, asked: &MemoryType) -> Result<MemoryType, MemoryError> {
        if asked.minimum > self.pages {
            return Err(MemoryError::MinimumMemoryTooLarge {
                min_requested: asked.minimum,
                max_allowed: self.pages,
            });
        }
        let maximum = asked
            .maximum
            .map_or(self.pages, |most| most.min(self.pages));
        Ok(MemoryType::new(asked.minimum, Some(maximum), asked.shared))
    }
}

fn table(asked: &TableType) -> Result<TableType, String> {
    let most = u32::try_from(MAX_TABLE_ELEMENTS).unwrap_or(u32::MAX);
    if asked.minimum > most {
        return Err(format!("a table has at most {most} elements"));
    }
    let maximum = asked.maximum.map_or(most, |maximum| maximum.min(most));
    Ok(TableType {
        maximum: Some(maximum),
        ..*asked
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
        asked: &MemoryType,
        style: &MemoryStyle,
    ) -> Result<VMMemory, MemoryError> {
        self.base.create_host_memory(&self.memory(asked)?, style)
    }

    unsafe fn create_vm_memory(
        &self,
        asked: &MemoryType,
        style: &MemoryStyle,
        place: NonNull<VMMemoryDefinition>,
    ) -> Result<VMMemory, MemoryError> {
        let bounded = self.memory(asked)?;
        // SAFETY: the caller guarantees that the place is valid.
        unsafe { self.base.create_vm_memory(&bounded, style, place) }
    }

    fn create_host_table(&self, asked: &TableType, style: &TableStyle) -> Result<VMTable, String> {
        self.base.create_host_table(&table(asked)?, style)
    }

    unsafe fn create_vm_table(
        &self,
        asked: &TableType,
        style: &TableStyle,
        place: NonNull<VMTableDefinition>,
    ) -> Result<VMTable, String> {
        let bounded = table(asked)?;
        // SAFETY: the caller guarantees that the place is valid.
        unsafe { self.base.create_vm_table(&bounded, style, place) }
    }
}
