//! Code that this process compiled, by the digest of its module, as a platform keeps it for
//! functions that it has seen.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// The number of modules kept; a new one evicts the oldest.
const MOST: usize = 8;

type Digest = [u8; 32];

/// Recently compiled modules.
#[derive(Default)]
pub struct Compiled {
    kept: Mutex<VecDeque<(Digest, Arc<Vec<u8>>)>>,
}

impl Compiled {
    /// Returns the compiled form of a module, which `compile` makes unless it was made before. The
    /// lock is held during compilation: concurrent calls with the same module wait for the first
    /// instead of each compiling it.
    pub fn get_or_compile<E>(
        &self,
        module: &[u8],
        compile: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
    ) -> Result<Arc<Vec<u8>>, E> {
        let digest: Digest = Sha256::digest(module).into();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiled)) = kept.iter().find(|(known, _)| *known == digest) {
            return Ok(Arc::clone(compiled));
        }
        let compiled = Arc::new(compile(module)?);
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
    fn a_module_shared_by_many_functions_is_compiled_once() {
        const FUNCTIONS: usize = 8;
        let (compiled, count) = (Compiled::default(), AtomicUsize::new(0));
        let together = Barrier::new(FUNCTIONS);
        std::thread::scope(|scope| {
            for _ in 0..FUNCTIONS {
                scope.spawn(|| {
                    together.wait();
                    let code = compiled.get_or_compile(b"module", |_| {
                        count.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, ()>(vec![1])
                    });
                    assert_eq!(*code.unwrap(), [1]);
                });
            }
        });
        assert_eq!(count.into_inner(), 1);
    }

    #[test]
    fn the_oldest_module_is_evicted_and_failures_are_not_kept() {
        let compiled = Compiled::default();
        let failed = compiled.get_or_compile(&[0], |_| Err("no"));
        assert!(failed.is_err());
        let count = u8::try_from(MOST).unwrap() + 1;
        for number in 0..count {
            compiled
                .get_or_compile(&[number], |module| Ok::<_, ()>(module.to_vec()))
                .unwrap();
        }
        let again = |number: u8| {
            *compiled
                .get_or_compile(&[number], |_| Ok::<_, ()>(vec![99]))
                .unwrap()
                == [99]
        };
        assert!(!again(1));
        assert!(again(0));
    }
}
