//! Values that several tests need.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

use wasmbench_model::wire::document::{LOAD_SCHEMA, LoadDocument};

/// Returns a loopback port on which nothing listens yet. It lies below the kernel's ephemeral
/// ports, where a free port may be taken a moment later.
pub fn free_port() -> u16 {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    // The same tests may run twice at the same time.
    let first = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    loop {
        let port = first + GIVEN.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// An empty document, without a failure.
pub fn document() -> LoadDocument {
    LoadDocument {
        schema: LOAD_SCHEMA.to_owned(),
        probe_version: "0".to_owned(),
        fortio_version: "0".to_owned(),
        ..LoadDocument::default()
    }
}
