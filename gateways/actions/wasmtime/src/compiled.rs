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
        let digest: Digest = Sha256::digest(code).into();
        let known = self.find(digest);
        let compiled = match known {
            Some(compiled) => compiled,
            None => self.keep(digest, engine.precompile_module(code)?),
        };
        // SAFETY: this process compiled the bytes, and nobody else can write to them.
        unsafe { Module::deserialize(engine, &*compiled) }
    }

    fn find(&self, digest: Digest) -> Option<Arc<Vec<u8>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = kept.iter();
        kept.find(|(known, _)| *known == digest)
            .map(|(_, compiled)| Arc::clone(compiled))
    }

    fn keep(&self, digest: Digest, compiled: Vec<u8>) -> Arc<Vec<u8>> {
        let compiled = Arc::new(compiled);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MOST {
            kept.pop_front();
        }
        kept.push_back((digest, Arc::clone(&compiled)));
        compiled
    }
}
