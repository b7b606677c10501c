//! One host, one component and one HTTP server, set up through wasmCloud's control interface.

use crate::START;
use anyhow::{Context as _, Result, anyhow, ensure};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wasmcloud_control_interface::{Client, ClientBuilder, CtlResponse, Link};
use wasmcloud_host::{WasmbusHost, WasmbusHostConfig};

const NAME: &str = "wasmbench";
/// The names of the link's two ends in the control interface.
const COMPONENT: &str = "gateway";
const SERVER: &str = "http-server";
/// The settings of the link: where the HTTP server listens for this component.
const LISTEN: &str = "listen";
/// The HTTP server inside the host, without a separate process or a hop over the broker.
const BUILT_IN_SERVER: &str = "wasmcloud+builtin://http-server";
/// Concurrent requests, as many as `wasmtime serve` handles.
const INSTANCES: u32 = 1000;

/// A host that lives as long as this is held.
pub struct Lattice {
    _host: Arc<WasmbusHost>,
    key: String,
    control: Client,
}

impl Lattice {
    /// Starts a host of its own on an empty lattice.
    pub async fn start(broker: String) -> Result<Self> {
        let key = Arc::new(nkeys::KeyPair::new_server());
        let url = wasmcloud_host::url::Url::parse(&broker)?;
        let config = WasmbusHostConfig {
            ctl_nats_url: url.clone(),
            rpc_nats_url: url,
            lattice: NAME.into(),
            host_key: Some(Arc::clone(&key)),
            allow_file_load: true,
            experimental_features: features(),
            ..WasmbusHostConfig::default()
        };
        // Besides the host, this returns a way to stop it; here the process ends as a whole.
        let (host, _stop) = WasmbusHost::new(config)
            .await
            .context("the host cannot be started")?;
        // The host does not respond while it compiles a component.
        let patient = async_nats::ConnectOptions::new().request_timeout(Some(START));
        let control = patient.connect(broker).await?;
        let control = ClientBuilder::new(control).lattice(NAME).timeout(START);
        Ok(Self {
            _host: host,
            key: key.public_key(),
            control: control.build(),
        })
    }

    /// Serves the component behind an HTTP server on `listen`. The server is started last, so that
    /// whoever connects to its port finds everything ready.
    pub async fn serve(&self, component: &Path, listen: SocketAddr) -> Result<()> {
        let settings = HashMap::from([("address".to_owned(), listen.to_string())]);
        done("settings", self.control.put_config(LISTEN, settings).await)?;
        self.load(component).await?;
        done("link", self.control.put_link(link()?).await)?;
        let server = self
            .control
            .start_provider(&self.key, BUILT_IN_SERVER, SERVER, None, vec![]);
        done("HTTP server", server.await)
    }

    /// Loads the component. Returns once it is compiled.
    async fn load(&self, component: &Path) -> Result<()> {
        let file = format!("file://{}", component.display());
        let scaled = self.control.scale_component(
            &self.key,
            &file,
            COMPONENT,
            INSTANCES,
            None,
            vec![],
            false,
        );
        done("component", scaled.await)?;
        let until = tokio::time::Instant::now() + START;
        while tokio::time::Instant::now() < until {
            let inventory = self.control.get_host_inventory(&self.key).await;
            let inventory = inventory.map_err(|error| anyhow!("the inventory: {error}"))?;
            let host = inventory.into_data().context("the inventory is empty")?;
            if !host.components().is_empty() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Err(anyhow!(
            "the component {} is not loaded after {START:?}",
            component.display()
        ))
    }
}

fn features() -> wasmcloud_host::wasmbus::Features {
    wasmcloud_host::wasmbus::Features::new().enable_builtin_http_server()
}

fn link() -> Result<Link> {
    let link = Link::builder()
        .source_id(SERVER)
        .target(COMPONENT)
        .wit_namespace("wasi")
        .wit_package("http")
        .interfaces(vec!["incoming-handler".into()])
        .source_config(vec![LISTEN.into()])
        .name("default");
    link.build().map_err(|error| anyhow!("the link: {error}"))
}

/// Checks that the lattice accepted a request.
fn done<E: std::fmt::Display>(what: &str, answer: Result<CtlResponse<()>, E>) -> Result<()> {
    let answer = answer.map_err(|error| anyhow!("the {what}: {error}"))?;
    ensure!(answer.succeeded(), "the {what}: {}", answer.message());
    Ok(())
}
