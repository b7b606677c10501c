//! A platform without processes: none is ever started.

use super::ChildCommand;
use crate::net::Poller;
use std::io;

/// A child process that does not exist on this target.
pub(super) enum Process {}

impl Process {
    pub fn start(_: &ChildCommand, _: Vec<u8>, _: &Poller, _: u64) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn advance(&mut self) -> Option<Result<Vec<u8>, String>> {
        match *self {}
    }

    pub fn kill(&mut self) {
        match *self {}
    }
}
