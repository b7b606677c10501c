//! A process that hosts functions: settings from the environment, a listener, and a signal that
//! stops it.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::executor::{Executor, Limits};
use crate::server::routes;
use crate::settings::setting;

/// How long a function may run, as on the platform.
const USUAL_SECONDS: u64 = 60;
/// How much memory a function may use, as on the platform.
const MEMORY_BYTES: usize = 256 * 1024 * 1024;
/// Concurrent calls; each blocks a thread of its own.
const MOST_CALLS: usize = 128;
/// Threads that handle requests, which is little work.
const WORKERS: usize = 1;

/// Serves until a signal stops it.
///
/// | variable | meaning |
/// |---|---|
/// | `WASMBENCH_LISTEN` | address and port (all addresses, port 8080) |
/// | `WASMBENCH_ACTION_TIMEOUT_SECONDS` | seconds after which a call is stopped (60) |
pub fn main<E: Executor>(executor: Result<E, String>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(MOST_CALLS)
        .enable_all()
        .build();
    let served = runtime.map_err(|error| format!("cannot start a thread: {error}"));
    let served = served.and_then(|runtime| {
        let served = runtime.block_on(serve(executor?));
        // Calls that are still running must not delay the exit.
        runtime.shutdown_background();
        served
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "wasmbench: {}: {why}", E::PRESET);
            ExitCode::FAILURE
        }
    }
}

async fn serve<E: Executor>(executor: E) -> Result<(), String> {
    let io_message = |error: std::io::Error| error.to_string();
    let usual = listen_address::everywhere(8080).to_string();
    let address: SocketAddr = setting("LISTEN", &usual)
        .parse()
        .map_err(|_| "WASMBENCH_LISTEN is no address with a port")?;
    let seconds = setting("ACTION_TIMEOUT_SECONDS", &USUAL_SECONDS.to_string());
    let seconds: u64 =
        seconds.parse().ok().filter(|seconds| *seconds > 0).ok_or(
            "WASMBENCH_ACTION_TIMEOUT_SECONDS is no number of seconds: set it to 1 or more",
        )?;
    let limits = Limits {
        time: Duration::from_secs(seconds),
        memory_bytes: MEMORY_BYTES,
    };
    let mut terminated = signal(SignalKind::terminate()).map_err(io_message)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(io_message)?;
    let listener = TcpListener::bind(address).await.map_err(io_message)?;
    let address = listener.local_addr().map_err(io_message)?;
    let _ = writeln!(
        std::io::stdout(),
        "wasmbench: {} listening on {address}",
        E::PRESET
    );
    let serving = axum::serve(listener, routes(executor, limits)).into_future();
    tokio::select! {
        ended = serving => ended.map_err(io_message),
        _ = terminated.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    }
}
