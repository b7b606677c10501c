//! `gateway`: a wasmCloud host that serves one component over HTTP. Input: the component, the
//! address to listen on, the program of a NATS server. Output: the component's responses.
//!
//! A wasmCloud host starts nothing by itself. What `wash` and wadm do on a lattice is done here,
//! over the same control interface and on a lattice of its own: a broker, a host, a component, a
//! link, an HTTP server.

mod broker;
mod lattice;

use anyhow::{Context as _, Result};
use lattice::Lattice;
use std::io::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

const HELP: &str = "\
Usage: gateway
Read from the environment:
  WASMBENCH_LISTEN     address and port (all addresses, port 8080)
  WASMBENCH_COMPONENT  the component (/http.wasm)
  WASMBENCH_BROKER     the NATS server's program (/usr/bin/nats-server)
  WASMBENCH_STORE      where it keeps its streams: on a file system that can be written (/dev/shm/nats)
";
const PORT: u16 = 8080;
/// A server that has not started by then never will.
const START: Duration = Duration::from_secs(60);
/// Pause between two attempts to connect: small compared with a cold start.
pub(crate) const POLL: Duration = Duration::from_millis(1);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if let Some(argument) = arguments.next() {
        let is_help = argument == "--help";
        eprint!("{HELP}");
        return ExitCode::from(if is_help { 0 } else { 2 });
    }
    // One thread, as every gateway has; the broker has its own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let ended = runtime
        .context("cannot start a thread")
        .and_then(|runtime| runtime.block_on(serve()));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasmbench: wasmcloud: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until a signal arrives or the broker ends.
async fn serve() -> Result<()> {
    let listen: SocketAddr = setting("LISTEN", &everywhere().to_string())
        .parse()
        .context("WASMBENCH_LISTEN is no address with a port")?;
    let component = PathBuf::from(setting("COMPONENT", "/http.wasm"));
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let program = setting("BROKER", "/usr/bin/nats-server");
    let mut broker = broker::start(&program, &setting("STORE", "/dev/shm/nats")).await?;
    let url = broker.url();
    let serving = async {
        let lattice = Lattice::start(url).await?;
        lattice.serve(&component, listen).await?;
        answers(listen).await?;
        writeln!(
            std::io::stdout(),
            "wasmbench: wasmcloud listening on {listen}"
        )?;
        // The host lives until the lattice is dropped.
        std::future::pending::<()>().await;
        drop(lattice);
        Ok(())
    };
    tokio::select! {
        ended = serving => ended,
        ended = broker.ended() => Err(ended),
        _ = terminated.recv() => Ok(()),
        _ = interrupted.recv() => Ok(()),
    }
}

/// All addresses, as the other gateways listen on: `[::]` takes IPv4, too, where there is IPv6.
fn everywhere() -> SocketAddr {
    let dual = SocketAddr::from((Ipv6Addr::UNSPECIFIED, PORT));
    match std::fs::read_to_string("/proc/sys/net/ipv6/bindv6only") {
        Ok(only_v6) if only_v6.trim() == "0" => dual,
        _ => SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)),
    }
}

/// Returns once a connection is accepted: the HTTP server acknowledges its start before it listens.
async fn answers(mut address: SocketAddr) -> Result<()> {
    if address.ip().is_unspecified() {
        // Every pod has this one.
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let connected = async {
        while TcpStream::connect(address).await.is_err() {
            sleep(POLL).await;
        }
    };
    timeout(START, connected)
        .await
        .with_context(|| format!("nothing listens on {address} after {START:?}"))
}

fn setting(name: &str, usual: &str) -> String {
    std::env::var(format!("WASMBENCH_{name}")).unwrap_or_else(|_| usual.to_owned())
}
