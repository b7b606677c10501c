//! Code that this process compiled, by the digest of its module: what a platform keeps of functions that it has seen. Each
//! function gets a copy of its own, so that its memory is its own.

#![expect(
    unsafe_code,
    reason = "the engine runs such code as it is, without looking at it"
)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, Module, Result};

/// How many modules are kept; the oldest makes room.
const MOST: usize = 8;

type Digest = [u8; 32];

/// What was compiled lately.
#[derive(Default)]
pub struct Compiled {
    kept: Mutex<VecDeque<(Digest, Arc<Vec<u8>>)>>,
}

impl Compiled {
    /// A module of its own, compiled unless this one was seen before.
    pub fn module(&self, engine: &Engine, code: &[u8]) -> Result<Module> {
        let compiled = self.of(Sha256::digest(code).into(), || {
            engine.precompile_module(code)
        })?;
        // SAFETY: this process compiled the bytes, and nobody else can write to them.
        unsafe { Module::deserialize(engine, &*compiled) }
    }

    /// Locked while it compiles: functions with the same module that come at once wait for the first, instead of each
    /// compiling it.
    fn of(
        &self,
        digest: Digest,
        compile: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<Arc<Vec<u8>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiled)) = kept.iter().find(|(known, _)| *known == digest) {
            return Ok(Arc::clone(compiled));
        }
        let compiled = Arc::new(compile()?);
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back((digest, Arc::clone(&compiled)));
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_module_that_many_functions_have_at_once_is_compiled_once() {
        const FUNCTIONS: usize = 8;
        let (compiled, count) = (Compiled::default(), AtomicUsize::new(0));
        let together = Barrier::new(FUNCTIONS);
        std::thread::scope(|scope| {
            for _ in 0..FUNCTIONS {
                scope.spawn(|| {
                    together.wait();
                    let code = compiled.of([7; 32], || {
                        count.fetch_add(1, Ordering::Relaxed);
                        Ok(vec![1])
                    });
                    assert_eq!(*code.unwrap(), [1]);
                });
            }
        });
        assert_eq!(count.into_inner(), 1);
    }

    #[test]
    fn the_oldest_makes_room_and_what_fails_is_not_kept() {
        let compiled = Compiled::default();
        let failed = compiled.of([0; 32], || Err(wasmtime::Error::msg("no")));
        assert!(failed.is_err());
        let count = u8::try_from(MOST).unwrap() + 1;
        for number in 0..count {
            compiled.of([number; 32], || Ok(vec![number])).unwrap();
        }
        let again = |number: u8| *compiled.of([number; 32], || Ok(vec![99])).unwrap() == [99];
        assert!(!again(1));
        assert!(again(0));
    }
}
