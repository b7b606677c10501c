//! The NATS server of the lattice, as a child process on the loopback interface.

use anyhow::{Context as _, Error, Result, bail};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::sleep;

/// A broker that has not started by then never will.
const START: Duration = Duration::from_secs(30);

/// A broker process that ends when this is dropped.
pub struct Broker {
    child: Child,
    address: SocketAddr,
}

/// Starts the broker and returns once it takes connections. `store` is the folder of its streams,
/// which hold the host's own data.
pub async fn start(program: &str, store: &str) -> Result<Broker> {
    let address = free_address().await?;
    let child = Command::new(program)
        .args(["--addr", &address.ip().to_string()])
        .args(["--port", &address.port().to_string()])
        .args(["--jetstream", "--store_dir", store, "--log", "/dev/null"])
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("the broker {program} cannot be started"))?;
    let mut broker = Broker { child, address };
    let until = tokio::time::Instant::now() + START;
    while TcpStream::connect(address).await.is_err() {
        if broker.child.try_wait()?.is_some() {
            return Err(broker.ended().await);
        }
        if tokio::time::Instant::now() > until {
            bail!("the broker takes no connection after {START:?}");
        }
        sleep(crate::POLL).await;
    }
    Ok(broker)
}

impl Broker {
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// Waits for its end, which is always too early.
    pub async fn ended(&mut self) -> Error {
        match self.child.wait().await {
            Ok(status) => Error::msg(format!("the broker ended: {status}")),
            Err(error) => Error::new(error).context("the broker cannot be waited for"),
        }
    }
}

/// Finds a port that nothing listens on: on the node's network the usual one may be taken.
async fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    Ok(listener.local_addr()?)
}
