//! A server that misbehaves on purpose: each path has a fault that real services have, so that
//! tests can check what the load generator makes of it.
//!
//! Faults that a service has only under load spare a probe's own requests, and hit an exact share
//! of all others. Reading order: [`behaviour`] (what each path does), [`script`] (the bytes),
//! [`connection`].

mod behaviour;
mod connection;
mod options;
mod script;
mod server;
mod stream;
mod strict;

use std::io::{self, Write as _};
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::Builder;
use std::time::Duration;

use options::{HELP, Options};
use server::Server;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;
use stream::Stream;

/// A connection's thread needs little, and there may be thousands.
const STACK_BYTES: usize = 128 * 1024;
/// Handshakes need more.
const TLS_STACK_BYTES: usize = 1024 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        return exit_code(io::stdout().write_all(HELP.as_bytes()));
    }
    match Options::parse(arguments.into_iter()) {
        Ok(options) => exit_code(listen(options)),
        Err(message) => {
            let _ = writeln!(io::stderr(), "wasmbench: misbehave: {message}");
            ExitCode::from(2)
        }
    }
}

fn exit_code(outcome: io::Result<()>) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    let _ = writeln!(io::stderr(), "wasmbench: misbehave: {error}");
    ExitCode::FAILURE
}

fn listen(options: Options) -> io::Result<()> {
    // Process 1 of a container has no default for these.
    for signal in [SIGTERM, SIGINT] {
        register_conditional_shutdown(signal, 0, Arc::new(AtomicBool::new(true)))?;
    }
    for _ in 0..options.burn {
        Builder::new().spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        })?;
    }
    // Memory that nobody has written to is none.
    let held = vec![1_u8; options.hold << 20];
    std::hint::black_box(&held);
    if let Some((name, time)) = options.late {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname")?;
        if host.trim_end().ends_with(&name) {
            std::thread::sleep(time);
        }
    }
    let listener = TcpListener::bind(options.listen)?;
    let address = listener.local_addr()?;
    let server = Arc::new(Server::new(options.further));
    let tls = options.tls.then(stream::config).transpose()?;
    let stack = if options.tls {
        TLS_STACK_BYTES
    } else {
        STACK_BYTES
    };
    writeln!(io::stdout(), "wasmbench: misbehave listening on {address}")?;
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // Out of descriptors, which connections that end give back.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let server = Arc::clone(&server);
        // A client that goes away is none of this server's business.
        let stream = Stream::new(stream, tls.as_ref())?;
        let serve = move || drop(connection::serve(&server, stream));
        Builder::new().stack_size(stack).spawn(serve)?;
    }
}
