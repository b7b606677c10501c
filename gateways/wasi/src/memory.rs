//! The guest's memory. Every access is checked, because the guest chooses the addresses.

/// `errno` values of WASI.
pub mod errno {
    /// Success.
    pub const SUCCESS: i32 = 0;
    /// No such descriptor.
    pub const BADF: i32 = 8;
    /// An address outside of the guest's memory.
    pub const FAULT: i32 = 21;
    /// Not supported by this host.
    pub const INVAL: i32 = 28;
    /// Reading or writing failed.
    pub const IO: i32 = 29;
    /// The output is full.
    pub const NOSPC: i32 = 51;
}

/// The outcome of a function that returns an `errno`.
pub type Outcome = Result<(), i32>;

/// Calls `each` with every buffer of a list of (address, length), until one is not fully used, and
/// writes to `total` how many bytes were used. Returns an `errno`, which `each` may give, too.
pub fn transfer(
    memory: &mut [u8],
    list: i32,
    count: i32,
    total: i32,
    each: impl FnMut(&mut [u8]) -> Result<usize, i32>,
) -> i32 {
    let moved = moved(memory, list, count, each);
    errno_of(moved.and_then(|moved| put(memory, address(total), &moved.to_le_bytes())))
}

fn moved(
    memory: &mut [u8],
    list: i32,
    count: i32,
    mut each: impl FnMut(&mut [u8]) -> Result<usize, i32>,
) -> Result<u32, i32> {
    let mut moved = 0;
    for index in 0..address(count) {
        let entry = index
            .checked_mul(8)
            .and_then(|at| address(list).checked_add(at));
        let entry = entry.ok_or(errno::FAULT)?;
        let start = word(memory, entry)?;
        let end = start
            .checked_add(word(memory, entry + 4)?)
            .ok_or(errno::FAULT)?;
        let buffer = memory.get_mut(start..end).ok_or(errno::FAULT)?;
        let size = buffer.len();
        let count = each(buffer)?;
        moved += count;
        if count < size {
            break;
        }
    }
    u32::try_from(moved).map_err(|_| errno::FAULT)
}

fn word(memory: &[u8], at: usize) -> Result<usize, i32> {
    let value = u32::from_le_bytes(take(memory, at)?);
    usize::try_from(value).map_err(|_| errno::FAULT)
}

/// The bytes at an address.
pub fn take<const N: usize>(memory: &[u8], at: usize) -> Result<[u8; N], i32> {
    let end = at.checked_add(N).ok_or(errno::FAULT)?;
    let bytes = memory.get(at..end).ok_or(errno::FAULT)?;
    bytes.try_into().map_err(|_| errno::FAULT)
}

/// Writes bytes to an address.
pub fn put(memory: &mut [u8], at: usize, bytes: &[u8]) -> Outcome {
    let end = at.checked_add(bytes.len()).ok_or(errno::FAULT)?;
    memory
        .get_mut(at..end)
        .ok_or(errno::FAULT)?
        .copy_from_slice(bytes);
    Ok(())
}

/// What the guest gets.
pub fn errno_of(outcome: Outcome) -> i32 {
    outcome.err().unwrap_or(errno::SUCCESS)
}

/// Addresses and lengths are unsigned, although they are passed as `i32`.
pub fn address(value: i32) -> usize {
    usize::try_from(value.cast_unsigned()).unwrap_or(usize::MAX)
}
