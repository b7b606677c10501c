//! Memories without reserved address space behind them: the compiler compares each address with the
//! memory's length, and selects the address 0, which nobody can access, if it is outside.

use std::ptr::NonNull;

use wasmer::sys::vm::{VMMemory, VMMemoryDefinition, VMTable, VMTableDefinition};
use wasmer::sys::{BaseTunables, Tunables};
use wasmer::{MemoryError, MemoryStyle, MemoryType, TableStyle, TableType};

/// Creates such memories; tables are as by default.
pub struct Compared(BaseTunables);

impl Compared {
    /// For an engine.
    pub fn new() -> Self {
        Self(BaseTunables::new())
    }
}

impl Tunables for Compared {
    fn memory_style(&self, _: &MemoryType) -> MemoryStyle {
        MemoryStyle::Dynamic {
            offset_guard_size: 0,
        }
    }

    fn table_style(&self, table: &TableType) -> TableStyle {
        self.0.table_style(table)
    }

    fn create_host_memory(
        &self,
        memory: &MemoryType,
        style: &MemoryStyle,
    ) -> Result<VMMemory, MemoryError> {
        self.0.create_host_memory(memory, style)
    }

    unsafe fn create_vm_memory(
        &self,
        memory: &MemoryType,
        style: &MemoryStyle,
        place: NonNull<VMMemoryDefinition>,
    ) -> Result<VMMemory, MemoryError> {
        // SAFETY: the caller guarantees that the place is valid.
        unsafe { self.0.create_vm_memory(memory, style, place) }
    }

    fn create_host_table(&self, table: &TableType, style: &TableStyle) -> Result<VMTable, String> {
        self.0.create_host_table(table, style)
    }

    unsafe fn create_vm_table(
        &self,
        table: &TableType,
        style: &TableStyle,
        place: NonNull<VMTableDefinition>,
    ) -> Result<VMTable, String> {
        // SAFETY: the caller guarantees that the place is valid.
        unsafe { self.0.create_vm_table(table, style, place) }
    }
}
