//! CPU time and memory, as the kernel counts them.

/// `cpuacct.stat` counts in ticks (`USER_HZ`), 100 a second on every architecture that containers
/// run on.
pub const USER_HZ_NANOSECONDS: u64 = 10_000_000;

/// CPU time so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// In total.
    pub total: u64,
    /// In user mode.
    pub user: Option<u64>,
    /// In kernel mode.
    pub system: Option<u64>,
}

/// Memory at one moment, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Including page cache.
    pub bytes: u64,
    /// File pages that could be reclaimed at once.
    pub inactive_file: Option<u64>,
    /// Pages in use: anonymous, file and kernel pages. Less than `bytes`, because the kernel
    /// charges pages ahead of need, 64 at a time for each CPU.
    pub in_use: Option<u64>,
    /// The largest `bytes` so far.
    pub peak: Option<u64>,
    /// Page faults so far.
    pub faults: Option<u64>,
    /// How often memory reached its limit so far.
    pub limit_hits: Option<u64>,
    /// Processes that were killed at the limit so far.
    pub oom_kills: Option<u64>,
}

impl Memory {
    /// Memory without inactive file pages; `None` if the kernel does not report those.
    pub fn working_set(&self) -> Option<u64> {
        Some(self.bytes.saturating_sub(self.inactive_file?))
    }

    /// What the pod holds: pages in use without inactive file pages; `None` if the kernel does not
    /// report both.
    pub fn held(&self) -> Option<u64> {
        Some(self.in_use?.saturating_sub(self.inactive_file?))
    }
}
