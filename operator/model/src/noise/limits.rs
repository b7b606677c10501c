//! From where on a window, or a sample of a start, counts as noisy.

/// Share of the node's CPUs that others may use in a trial. On a node with two CPUs that also runs
/// a control plane, quiet trials show 4 to 9 %; at 18 % a service already lost a fifth of its rate.
pub const OTHERS_CPU_LIMIT: f64 = 0.15;
/// Number of CPUs that others may use in a trial, whatever share of the node's CPUs that is: a CPU
/// that others keep busy is lost to the subject and its load, even if it is one of many.
pub const OTHERS_CPUS_LIMIT: f64 = 0.9;
/// Share of the node's CPUs that the hypervisor may withhold: stolen time is not spread evenly over
/// the window, so a little of it is enough to move a p99.
pub const STEAL_LIMIT: f64 = 0.05;
/// Share of a window in which a task outside the subject's pod may wait for memory: whatever makes
/// other tasks wait also slows the subject's allocations. On nodes with memory to spare, hardly any
/// task ever waits.
pub const MEMORY_WAIT_LIMIT: f64 = 0.01;
/// The shortest window that is judged. The kernel counts the node's CPU time in hundredths of a
/// second: in a shorter window, the share of a single tick would already be noise.
pub(super) const COARSE_NANOSECONDS: u64 = 500_000_000;
