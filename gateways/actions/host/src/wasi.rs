//! The part of WASI preview 1 that functions import, for any engine: standard streams in memory, a
//! clock, a timer and randomness. There are no arguments, no environment and no files.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The module name of all these functions.
pub const MODULE: &str = "wasi_snapshot_preview1";
/// Longest output of one call.
const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes kept of standard error.
const MAX_MESSAGE_BYTES: usize = 4096;
/// Most random bytes per call.
const MAX_RANDOM_BYTES: usize = 4096;

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
    /// The output is full.
    pub const NOSPC: i32 = 51;
}

/// The outcome of a function that returns an `errno`.
type Outcome = Result<(), i32>;

/// The host's state for one call.
#[derive(Debug)]
pub struct Guest {
    input: Vec<u8>,
    position: usize,
    /// Standard output.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub message: Vec<u8>,
    /// The code that the guest passed to `proc_exit`.
    pub exit_code: Option<i32>,
    began: Instant,
    deadline: Instant,
}

impl Guest {
    /// Creates a guest that reads `input` and is stopped after `time`.
    pub fn new(input: Vec<u8>, time: Duration) -> Self {
        let began = Instant::now();
        Self {
            input,
            position: 0,
            output: vec![],
            message: vec![],
            exit_code: None,
            began,
            deadline: began + time,
        }
    }

    /// When the guest is stopped.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// `fd_read`: from standard input.
    pub fn fd_read(
        &mut self,
        memory: &mut [u8],
        fd: i32,
        list: i32,
        count: i32,
        total: i32,
    ) -> i32 {
        if fd != 0 {
            return errno::BADF;
        }
        told(transfer(memory, list, count, total, |buffer| {
            let rest = &self.input[self.position..];
            let read = rest.len().min(buffer.len());
            buffer[..read].copy_from_slice(&rest[..read]);
            self.position += read;
            Ok(read)
        }))
    }

    /// `fd_write`: to standard output and standard error.
    pub fn fd_write(
        &mut self,
        memory: &mut [u8],
        fd: i32,
        list: i32,
        count: i32,
        total: i32,
    ) -> i32 {
        told(transfer(memory, list, count, total, |buffer| {
            match fd {
                1 if buffer.len() > MAX_OUTPUT_BYTES - self.output.len() => {
                    return Err(errno::NOSPC);
                }
                1 => self.output.extend_from_slice(buffer),
                2 => {
                    let room = MAX_MESSAGE_BYTES - self.message.len();
                    self.message
                        .extend_from_slice(&buffer[..buffer.len().min(room)]);
                }
                _ => return Err(errno::BADF),
            }
            Ok(buffer.len())
        }))
    }

    /// `clock_time_get`: the wall clock, or, for any other clock, the time since the call began.
    pub fn clock_time_get(&self, memory: &mut [u8], clock: i32, at: i32) -> i32 {
        let time = match clock {
            0 => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
            _ => self.began.elapsed(),
        };
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        told(put(memory, address(at), &nanoseconds.to_le_bytes()))
    }

    /// `poll_oneoff`: waits for a single clock, but not beyond the call's deadline.
    pub fn poll_oneoff(
        &self,
        memory: &mut [u8],
        asked: i32,
        events: i32,
        count: i32,
        total: i32,
    ) -> i32 {
        told(self.poll(
            memory,
            address(asked),
            address(events),
            count,
            address(total),
        ))
    }

    fn poll(
        &self,
        memory: &mut [u8],
        asked: usize,
        events: usize,
        count: i32,
        total: usize,
    ) -> Outcome {
        const CLOCK: u8 = 0;
        let tag = *memory.get(asked + 8).ok_or(errno::FAULT)?;
        if count != 1 || tag != CLOCK {
            return Err(errno::INVAL);
        }
        let user_data = take::<8>(memory, asked)?;
        let nanoseconds = u64::from_le_bytes(take(memory, asked + 24)?);
        let is_absolute = u16::from_le_bytes(take(memory, asked + 40)?) & 1 == 1;
        if is_absolute {
            return Err(errno::INVAL);
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        std::thread::sleep(Duration::from_nanos(nanoseconds).min(left));
        put(memory, events, &user_data)?;
        // No error; a clock event.
        put(memory, events + 8, &[0, 0, CLOCK])?;
        put(memory, total, &1u32.to_le_bytes())
    }
}

/// `random_get`.
pub fn random_get(memory: &mut [u8], at: i32, count: i32) -> i32 {
    let (at, count) = (address(at), address(count));
    let buffer = at
        .checked_add(count)
        .and_then(|end| memory.get_mut(at..end));
    match buffer {
        Some(buffer) if count <= MAX_RANDOM_BYTES => match getrandom::fill(buffer) {
            Ok(()) => errno::SUCCESS,
            Err(_) => errno::INVAL,
        },
        Some(_) => errno::INVAL,
        None => errno::FAULT,
    }
}

/// `args_sizes_get` and `environ_sizes_get`: both lists are empty.
pub fn no_strings(memory: &mut [u8], count: i32, size: i32) -> i32 {
    let zero = 0u32.to_le_bytes();
    told(put(memory, address(count), &zero).and_then(|()| put(memory, address(size), &zero)))
}

/// Names of all functions that [`add_to_linker`](crate::add_to_linker) provides.
pub const PROVIDED: [&str; 10] = [
    "fd_read",
    "fd_write",
    "clock_time_get",
    "poll_oneoff",
    "random_get",
    "proc_exit",
    "args_sizes_get",
    "environ_sizes_get",
    "args_get",
    "environ_get",
];

/// Adds these functions to an engine's `linker`. The engines' linkers have the same methods, but
/// their types have nothing in common. `with` calls a function with the caller's memory and guest;
/// `exit` records a guest's exit code and returns the error that unwinds the guest.
#[macro_export]
macro_rules! add_to_linker {
    ($linker:expr, $caller:ty, $with:path, $exit:path) => {{
        use $crate::wasi::{MODULE, errno, no_strings, random_get};
        let linker = $linker;
        linker.func_wrap(
            MODULE,
            "fd_read",
            |mut caller: $caller, fd: i32, list: i32, count: i32, total: i32| {
                $with(&mut caller, |memory, guest| {
                    guest.fd_read(memory, fd, list, count, total)
                })
            },
        )?;
        linker.func_wrap(
            MODULE,
            "fd_write",
            |mut caller: $caller, fd: i32, list: i32, count: i32, total: i32| {
                $with(&mut caller, |memory, guest| {
                    guest.fd_write(memory, fd, list, count, total)
                })
            },
        )?;
        linker.func_wrap(
            MODULE,
            "clock_time_get",
            |mut caller: $caller, clock: i32, _: i64, at: i32| {
                $with(&mut caller, |memory, guest| {
                    guest.clock_time_get(memory, clock, at)
                })
            },
        )?;
        linker.func_wrap(
            MODULE,
            "poll_oneoff",
            |mut caller: $caller, asked: i32, events: i32, count: i32, total: i32| {
                $with(&mut caller, |memory, guest| {
                    guest.poll_oneoff(memory, asked, events, count, total)
                })
            },
        )?;
        linker.func_wrap(
            MODULE,
            "random_get",
            |mut caller: $caller, at: i32, count: i32| {
                $with(&mut caller, |memory, _| random_get(memory, at, count))
            },
        )?;
        linker.func_wrap(MODULE, "proc_exit", $exit)?;
        for name in ["args_sizes_get", "environ_sizes_get"] {
            linker.func_wrap(
                MODULE,
                name,
                |mut caller: $caller, count: i32, size: i32| {
                    $with(&mut caller, |memory, _| no_strings(memory, count, size))
                },
            )?;
        }
        for name in ["args_get", "environ_get"] {
            // Both lists are empty, so nothing is written.
            linker.func_wrap(MODULE, name, |_: $caller, _: i32, _: i32| errno::SUCCESS)?;
        }
    }};
}

/// Calls `each` with every buffer of a list of (address, length), until one is not fully used.
fn transfer(
    memory: &mut [u8],
    list: i32,
    count: i32,
    total: i32,
    mut each: impl FnMut(&mut [u8]) -> Result<usize, i32>,
) -> Outcome {
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
    let moved = u32::try_from(moved).map_err(|_| errno::FAULT)?;
    put(memory, address(total), &moved.to_le_bytes())
}

fn word(memory: &[u8], at: usize) -> Result<usize, i32> {
    let value = u32::from_le_bytes(take(memory, at)?);
    usize::try_from(value).map_err(|_| errno::FAULT)
}

fn take<const N: usize>(memory: &[u8], at: usize) -> Result<[u8; N], i32> {
    let end = at.checked_add(N).ok_or(errno::FAULT)?;
    let bytes = memory.get(at..end).ok_or(errno::FAULT)?;
    bytes.try_into().map_err(|_| errno::FAULT)
}

fn put(memory: &mut [u8], at: usize, bytes: &[u8]) -> Outcome {
    let end = at.checked_add(bytes.len()).ok_or(errno::FAULT)?;
    memory
        .get_mut(at..end)
        .ok_or(errno::FAULT)?
        .copy_from_slice(bytes);
    Ok(())
}

fn told(outcome: Outcome) -> i32 {
    outcome.err().unwrap_or(errno::SUCCESS)
}

/// Addresses and lengths are unsigned, although they are passed as `i32`.
fn address(value: i32) -> usize {
    usize::try_from(value.cast_unsigned()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIME: Duration = Duration::from_secs(5);

    #[test]
    fn input_is_read_into_the_buffers_of_the_list() {
        let mut guest = Guest::new(b"hello".to_vec(), TIME);
        let mut memory = vec![0; 64];
        memory[..16].copy_from_slice(&[32, 0, 0, 0, 3, 0, 0, 0, 40, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(guest.fd_read(&mut memory, 0, 0, 2, 20), errno::SUCCESS);
        assert_eq!(
            (&memory[32..35], &memory[40..42]),
            (&b"hel"[..], &b"lo"[..])
        );
        assert_eq!(memory[20], 5);
        assert_eq!(guest.fd_read(&mut memory, 3, 0, 2, 20), errno::BADF);
    }

    #[test]
    fn output_has_an_end() {
        let mut guest = Guest::new(vec![], TIME);
        let mut memory = vec![0; 1024 * 1024];
        memory[..8].copy_from_slice(&[16, 0, 0, 0, 0, 0, 8, 0]);
        let written = (0..10).map(|_| guest.fd_write(&mut memory, 1, 0, 1, 8));
        let written: Vec<i32> = written.collect();
        assert_eq!(written[..8], [errno::SUCCESS; 8]);
        assert_eq!(written[8], errno::NOSPC);
    }

    #[test]
    fn a_wait_ends_with_the_time_of_the_call() {
        let guest = Guest::new(vec![], Duration::ZERO);
        let mut memory = vec![0; 128];
        memory[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(
            guest.poll_oneoff(&mut memory, 0, 64, 1, 120),
            errno::SUCCESS
        );
        assert_eq!(memory[120], 1);
    }

    proptest! {
        #[test]
        fn no_address_makes_the_host_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..256), a: i32, b: i32, c in -2..40i32, d: i32,
        ) {
            let mut memory = bytes;
            let mut guest = Guest::new(b"input".to_vec(), Duration::ZERO);
            guest.fd_read(&mut memory, 0, a, c, d);
            guest.fd_write(&mut memory, 1, a, c, d);
            guest.clock_time_get(&mut memory, 1, a);
            guest.poll_oneoff(&mut memory, a, b, 1, d);
            random_get(&mut memory, a, b);
            no_strings(&mut memory, a, b);
        }
    }
}
