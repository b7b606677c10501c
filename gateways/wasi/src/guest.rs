//! What functions import in addition to standard streams: a clock, a timer and randomness.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::memory::{Outcome, address, errno, errno_of, put, take};
use crate::streams::Streams;

/// Longest output of one call.
const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;
/// Bytes kept of standard error.
const MAX_MESSAGE_BYTES: usize = 4096;
/// Most random bytes per call.
const MAX_RANDOM_BYTES: usize = 4096;

/// The host's state for one call.
#[derive(Debug)]
pub struct Guest {
    /// Its standard streams.
    pub streams: Streams,
    began: Instant,
    deadline: Instant,
}

impl Guest {
    /// Creates a guest that reads `input` and is stopped after `time`.
    pub fn new(mut input: Vec<u8>, time: Duration) -> Self {
        let mut streams = Streams::new(MAX_OUTPUT_BYTES, MAX_MESSAGE_BYTES);
        streams.begin(&mut input);
        let began = Instant::now();
        Self {
            streams,
            began,
            deadline: began + time,
        }
    }

    /// When the guest is stopped.
    pub fn deadline(&self) -> Instant {
        self.deadline
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
        errno_of(put(memory, address(at), &nanoseconds.to_le_bytes()))
    }

    /// `poll_oneoff`: waits for a single clock, but not beyond the call's deadline.
    pub fn poll_oneoff(
        &self,
        memory: &mut [u8],
        subscription: i32,
        events: i32,
        count: i32,
        total: i32,
    ) -> i32 {
        errno_of(self.poll(
            memory,
            address(subscription),
            address(events),
            count,
            address(total),
        ))
    }

    fn poll(
        &self,
        memory: &mut [u8],
        subscription: usize,
        events: usize,
        count: i32,
        total: usize,
    ) -> Outcome {
        const CLOCK: u8 = 0;
        let tag = *memory.get(subscription + 8).ok_or(errno::FAULT)?;
        if count != 1 || tag != CLOCK {
            return Err(errno::INVAL);
        }
        let user_data = take::<8>(memory, subscription)?;
        let nanoseconds = u64::from_le_bytes(take(memory, subscription + 24)?);
        let is_absolute = u16::from_le_bytes(take(memory, subscription + 40)?) & 1 == 1;
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

impl AsMut<Streams> for Guest {
    fn as_mut(&mut self) -> &mut Streams {
        &mut self.streams
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

/// Adds all functions to an engine's `linker`, as [`add_streams_to_linker`](crate::add_streams_to_linker)
/// does with those of a filter. The state of `with` is a [`Guest`].
#[macro_export]
macro_rules! add_to_linker {
    ($linker:expr, $caller:ty, $with:path, $exit:path) => {{
        use $crate::{MODULE, random_get};
        let linker = $linker;
        $crate::add_streams_to_linker!(&mut *linker, $caller, $with, $exit);
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
            |mut caller: $caller, subscription: i32, events: i32, count: i32, total: i32| {
                $with(&mut caller, |memory, guest| {
                    guest.poll_oneoff(memory, subscription, events, count, total)
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
    }};
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::streams::no_strings;

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
            guest.streams.fd_read(&mut memory, 0, a, c, d);
            guest.streams.fd_write(&mut memory, 1, a, c, d);
            guest.clock_time_get(&mut memory, 1, a);
            guest.poll_oneoff(&mut memory, a, b, 1, d);
            random_get(&mut memory, a, b);
            no_strings(&mut memory, a, b);
        }
    }
}
