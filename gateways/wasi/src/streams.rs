//! Standard streams in memory: three vectors, which are kept from call to call.

use crate::memory::{address, errno, errno_of, put, transfer};

/// Standard input, output and error of a guest.
#[derive(Debug, Default)]
pub struct Streams {
    input: Vec<u8>,
    /// How much of the input has been read.
    position: usize,
    /// Standard output.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub message: Vec<u8>,
    /// The code that the guest passed to `proc_exit`.
    pub exit_code: Option<i32>,
    most_output: usize,
    most_message: usize,
}

impl Streams {
    /// Streams of a guest that may write at most `most_output` bytes, and of whose standard error at
    /// most `most_message` bytes are kept.
    pub fn new(most_output: usize, most_message: usize) -> Self {
        Self {
            most_output,
            most_message,
            ..Self::default()
        }
    }

    /// Resets the streams for the next guest, which reads `input`. The vectors keep their memory, so
    /// nothing is allocated; `input` gets the vector of the previous one.
    pub fn begin(&mut self, input: &mut Vec<u8>) {
        std::mem::swap(&mut self.input, input);
        self.position = 0;
        self.output.clear();
        self.message.clear();
        self.exit_code = None;
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
        transfer(memory, list, count, total, |buffer| {
            let rest = &self.input[self.position..];
            let read = rest.len().min(buffer.len());
            buffer[..read].copy_from_slice(&rest[..read]);
            self.position += read;
            Ok(read)
        })
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
        transfer(memory, list, count, total, |buffer| {
            match fd {
                1 if buffer.len() > self.most_output - self.output.len() => {
                    return Err(errno::NOSPC);
                }
                1 => self.output.extend_from_slice(buffer),
                2 => {
                    let room = self.most_message - self.message.len();
                    self.message
                        .extend_from_slice(&buffer[..buffer.len().min(room)]);
                }
                _ => return Err(errno::BADF),
            }
            Ok(buffer.len())
        })
    }
}

impl AsMut<Streams> for Streams {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

/// `args_sizes_get` and `environ_sizes_get`: both lists are empty.
pub fn no_strings(memory: &mut [u8], count: i32, size: i32) -> i32 {
    let zero = 0u32.to_le_bytes();
    errno_of(put(memory, address(count), &zero).and_then(|()| put(memory, address(size), &zero)))
}

/// Adds the functions that a filter imports to an engine's `linker`. The engines' linkers have the
/// same methods, but their types have nothing in common. `with` calls a function with the caller's
/// memory and the state that holds its [`Streams`]; `exit` records a guest's exit code and returns
/// the error that unwinds the guest.
#[macro_export]
macro_rules! add_streams_to_linker {
    ($linker:expr, $caller:ty, $with:path, $exit:path) => {{
        use $crate::{MODULE, Streams, errno, no_strings};
        let linker = $linker;
        linker.func_wrap(
            MODULE,
            "fd_read",
            |mut caller: $caller, fd: i32, list: i32, count: i32, total: i32| {
                $with(&mut caller, |memory, state| {
                    AsMut::<Streams>::as_mut(state).fd_read(memory, fd, list, count, total)
                })
            },
        )?;
        linker.func_wrap(
            MODULE,
            "fd_write",
            |mut caller: $caller, fd: i32, list: i32, count: i32, total: i32| {
                $with(&mut caller, |memory, state| {
                    AsMut::<Streams>::as_mut(state).fd_write(memory, fd, list, count, total)
                })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(input: &[u8]) -> Streams {
        let mut streams = Streams::new(4 * 1024 * 1024, 16);
        streams.begin(&mut input.to_vec());
        streams
    }

    #[test]
    fn input_is_read_into_the_buffers_of_the_list() {
        let mut streams = streams(b"hello");
        let mut memory = vec![0; 64];
        memory[..16].copy_from_slice(&[32, 0, 0, 0, 3, 0, 0, 0, 40, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(streams.fd_read(&mut memory, 0, 0, 2, 20), errno::SUCCESS);
        assert_eq!(
            (&memory[32..35], &memory[40..42]),
            (&b"hel"[..], &b"lo"[..])
        );
        assert_eq!(memory[20], 5);
        assert_eq!(streams.fd_read(&mut memory, 3, 0, 2, 20), errno::BADF);
    }

    #[test]
    fn output_is_limited() {
        let mut streams = streams(b"");
        let mut memory = vec![0; 1024 * 1024];
        memory[..8].copy_from_slice(&[16, 0, 0, 0, 0, 0, 8, 0]);
        let written = (0..10).map(|_| streams.fd_write(&mut memory, 1, 0, 1, 8));
        let written: Vec<i32> = written.collect();
        assert_eq!(written[..8], [errno::SUCCESS; 8]);
        assert_eq!(written[8], errno::NOSPC);
        assert_eq!(streams.fd_write(&mut memory, 3, 0, 1, 8), errno::BADF);
    }
}
